// Package source finds the Go modules that the catalogs are generated from in the
// module cache and reads what is needed out of their files, as facts of our own
// types. It does not import the modules: their packages pull in cloud SDKs, and what
// is wanted are literals.
package source
