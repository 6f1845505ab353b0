// Package skipped reports the documents and objects of an input that --skip-invalid leaves out.
package skipped
