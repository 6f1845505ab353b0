// Package compare says in dollars how two plans differ.
package compare
