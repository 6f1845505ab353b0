// Package pricing tells the prices of nodes, launches and their options, in USD per hour.
//
// It owns the way from a node's labels or a launch's option to an offering of the catalog, and the expected price by a
// policy ([scheduling.Policy.ExpectedPrice]), and how a saving compares with its disruption cost. It does not know which
// nodes there are, nor how much a move must save.
package pricing
