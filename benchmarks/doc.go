// Package benchmarks measures how fast package scheduling plans and how good its
// plans are, on corpora that do not depend on the machine. Its code is in its tests and in
// internal packages; README.md shows the figures and the commands that make them.
package benchmarks
