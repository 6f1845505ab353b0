// Package search runs a search for as long as it may, and shows on a terminal how it goes.
package search
