// Package layering keeps the house in order. It holds tests only, which read the
// source of the whole repository: which package may import which, what the root
// module may require, and what no file may contain. The rules stand in rules_test.go.
package layering
