// Package mix reproduces the problems of Karpenter's own scheduling benchmark: its pods,
// four in five of which have affinity or spread constraints, and its market of 400 types. It also draws random problems for which no planner was tuned ([Random]).
package mix
