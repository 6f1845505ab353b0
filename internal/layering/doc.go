// Package layering keeps the house in order. It holds tests only, which read the
// source of the whole repository: which package may import which, what the root
// module may require, what no file may contain, and how far one type may reach. The
// rules stand in rules_test.go, the ceilings of types in walls_table_test.go.
package layering
