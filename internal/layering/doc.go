// Package layering holds tests of the repository's structure. They read all source
// files and check the imports of packages, the requirements of the root module, text
// that no file may contain, how many declarations a type uses and offers, and which
// words names use. The rules stand in rules_test.go, the ceilings in walls_table_test.go.
package layering
