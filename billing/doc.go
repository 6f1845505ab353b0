// Package billing states the bill of a set of nodes under commitments: savings plans of AWS and Azure,
// committed-use discounts of Google Cloud, reserved instances and reservations.
//
// A commitment is paid whether nodes use it or not, and covers a finite amount of usage per hour. The
// bill is therefore the price of the commitments, which no plan changes, plus the list price of the
// usage that no commitment covers. [Settle] computes it.
//
// Capacity reservations are charged like nodes on demand, used or not. Their unused nodes are usages like all others, which
// commitments cover.
//
// # Coverage
//
// Commitments apply in the order of the clouds: reserved instances first, those of one zone before those
// of a region; then committed vCPUs and memory; then savings plans, those of some families before those
// of all. Among the nodes that a commitment covers, those whose list price per unit of the commitment is
// highest come first, which for savings plans is the order of the savings percentage. The last node may be covered in
// part. For one commitment this order gives the lowest bill, as in the fractional knapsack problem; for
// several it is the clouds' order that counts, and another might be cheaper.
//
// # Units
//
// The amount of a commitment is in units of its [Kind], exact to nine decimals. Prices are list prices per
// hour ([offerings.Price]). A share of a node is rounded by less than one nano-USD.
package billing
