// Package speed compares how long planners take, how much they allocate and what they
// pay, on the same instances in growing numbers of pods.
package speed
