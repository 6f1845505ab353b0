// Package growth measures how the time of a plan grows with the numbers of pods, of
// classes, of instance types and of pools.
package growth
