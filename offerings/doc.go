// Package offerings describes offerings of nodes: the zone, the
// capacity type, the price, the nodes left in a reservation and how often spot nodes are
// interrupted. It also orders offerings by a strategy, adjusts their prices and remembers failures.
// It knows nothing about the size of nodes and nothing about pods.
//
// # Prices
//
// A [Price] is an integer number of nano-USD per hour. Providers publish prices
// with up to eight decimals, so that sums and comparisons are exact and do not
// depend on the order of addition. Text and JSON show USD per hour as decimals.
//
// # Strategies
//
// A [Ranking] is a total order of [Candidate] values. Every strategy ends in the same ties: the
// order of capacity types (reserved, spot, on-demand unless told otherwise), then instance type,
// zone and reservation id by name. The strategies compare, in this order:
//
//	lowest-price              price
//	price-capacity-optimized  price × (1 + rate)
//	capacity-optimized        price × (1 + 10 × rate)
//	fewest-interruptions      price + 1,000 USD per hour × rate
//	diversified               price, then dealt out over spot pools (see [Ranking.Sort])
//	prioritized               capacity type, then the caller's priority, then price
//
// where rate is [Offering.InterruptionRate], the share of these spot nodes that are interrupted
// in a month; [Offering.InterruptionCost] turns it into a price. [Ranking.ExpectedPrice] is the
// figure that a strategy compares; a planner adds it up over nodes, because it is a price itself.
//
// # Failures
//
// [Unavailable] records offerings that a provider turned down. It reads no clock:
// the caller passes the time, and may keep the record as JSON between runs.
package offerings
