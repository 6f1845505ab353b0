// Package race says whether a program was built with Go's race detector, under which tests
// take some ten times as long and so look at fewer random problems.
package race
