// Package consolidation lets Karpenter's own consolidation and Plimsoll's planner loose on
// the same clusters, and compares what each saves, and how many pods it moves for that.
package consolidation
