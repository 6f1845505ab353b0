// Package pricing tells the prices of nodes, launches and their options, in USD per hour, and the disruption costs of pods
// and nodes.
//
// It owns the way from a node's labels or a launch's option to an offering of the catalog, the expected price by a policy
// ([scheduling.Policy.ExpectedPrice]), and how a saving compares with its disruption cost. It does not know which nodes
// there are, nor how much a move must save.
package pricing
