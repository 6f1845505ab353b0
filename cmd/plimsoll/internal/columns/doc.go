// Package columns fits tables into the width of a terminal.
package columns
