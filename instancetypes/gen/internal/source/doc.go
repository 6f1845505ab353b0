// Package source finds the Go modules from which the catalogs are generated in the
// module cache and reads the needed literals of their files into its own types. It does
// not import the modules, because their packages pull in cloud SDKs.
package source
