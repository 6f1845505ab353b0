// Package consolidation runs Karpenter's consolidation and Plimsoll's disruption planner on
// the same clusters, and compares the savings and the numbers of pods evicted for them.
package consolidation
