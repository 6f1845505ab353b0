// Package crosscheck sets prices of one source against those of another, for people to read.
package crosscheck
