// Package mix makes the problems of Karpenter's own scheduling benchmark anew: its pods,
// of which four in five care where others are, its pods with wishes, and its market of
// 400 types. It also draws random problems that nothing was tuned for ([Random]).
package mix
