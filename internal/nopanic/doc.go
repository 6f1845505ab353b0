// Package nopanic holds the tests that no exported function or method of the public packages
// panics, whatever it is given: zero values, values drawn by chance, and valid input of which
// one thing is spoiled.
//
// Not passed are a nil context, reader or writer, and a nil receiver, as Go's own library
// takes none of these either.
package nopanic
