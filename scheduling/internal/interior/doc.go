// Package interior solves linear assignment problems of many classes of pods and a few machines by an
// interior-point method, in floating point. Its duals are suggestions: package bound makes them feasible and
// proves them.
package interior
