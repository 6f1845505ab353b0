// Package chart draws the comparison: time against the number of pods, and price over
// the lower bound.
package chart
