// Package interior solves assignment problems of many classes of pods and a few machines, in
// floating point: what it says is a suggestion for those who prove something.
package interior
