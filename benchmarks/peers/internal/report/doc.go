// Package report writes the results of planners on instances as Markdown tables, and lists the
// promises of the library that the figures break.
package report
