// Package document puts generated text between marker lines of a file.
package document
