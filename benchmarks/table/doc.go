// Command table reads the output of the benchmarks on its standard input and puts it,
// as a table, into the file that is its argument, between two marker lines:
//
//	go test ./benchmarks -run '^$' -bench . -benchtime 5x | go run ./benchmarks/table benchmarks/library.md
//
// A file without these lines is an error, and stays as it is.
package main
