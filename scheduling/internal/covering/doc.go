// Package covering proves lower bounds on the price of machines with enough room in total for all pods,
// whichever machines each pod may use.
//
// It owns resource duals: [Resource] finds and proves them, [Cover] uses them. It knows totals only: class
// compatibility and the packing of single machines belong to package bound, which starts from these duals.
//
// # The resource bound
//
// Give every base unit of every resource a dual value y ≥ 0, such that no machine on sale is worth more than
// its price: y·cap ≤ price for every option. Then the total value of the pods, y·D for their total request D,
// is at most the price of any plan that places them, however it packs them, because each pod is on a machine
// and each machine is paid for.
//
// Capacity of limited number is subtracted, because it may be cheaper than its value: a bin of price 0 holds
// the value y·cap for free, and a machine of a reservation that costs less holds the difference for free. So
// the bound is
//
//	max  y·D − Σ count·max(0, y·cap − price)   over y ≥ 0 with y·cap ≤ price for every option.
//
// This is a linear program in few variables (one for each resource) and thousands of constraints. [Resource]
// solves its dual, a covering problem, by the simplex method in floating point. The solution is only a
// suggestion: the duals are computed again from the final basis in exact arithmetic, rounded down to whole
// 2^-[fixed.Scale] nano-USD, and checked against every option in integers. So the reported bound is proven even
// if the floating-point part went wrong.
//
// A resource need not be one that pods request by name. Any quantity will do of which no machine can hold more
// than it has, e.g. slots for pods that exclude their kind from a host, of which every machine has one, or
// whole steps of CPU. The caller adds them as further resources.
//
// # The cover bound
//
// Where a few large machines hold everything, it matters that machines are whole. [Cover] searches for the
// cheapest numbers of machines whose total room suffices. The duals of the resource bound prune the search: the
// rest of the demand costs at least its value.
//
// Prices are whole nano-USD, so the price of a plan is too, and the bound may be rounded up to the next
// integer.
package covering
