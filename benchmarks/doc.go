// Package benchmarks measures how fast package scheduling plans and how good its
// plans are, on corpora that do not depend on the machine. It has no code beside its
// tests; README.md shows the figures and the commands that make them.
package benchmarks
