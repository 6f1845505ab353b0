// Package dice draws numbers and choices from a seeded stream, for generators of test problems. It does not know what is
// drawn.
package dice
