// Package bill judges stated bills of nodes under commitments. It shares no code with [billing.Settle], which computes bills: it
// tests the conditions that hold for the bill alone, from the nodes and the commitments, in numbers without a size limit.
//
// A bill is right if
//
//   - its sums are those of the nodes and of the commitments' parts;
//   - each commitment applies to nodes that it covers, to each once, and takes no more of it than is left;
//   - the amount that a node takes is worth the covered part of the node's price, to the rounding of one unit or nano-USD;
//   - no price is covered twice, and no vCPU or GiB by two commitments of this resource;
//   - a node that a commitment could cover further has no more price for each unit of the commitment than those that it covers, and
//     nothing of the commitment is left for it.
package bill

// A map of this package's files.
//
//	bill    the sums, and the commitments in their order
//	apply   what a commitment covers
//	demand  the amount of a commitment that a node takes
