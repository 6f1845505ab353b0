// Package covering proves what machines cost at least that have together what all pods request,
// whichever pods may use which of them.
//
// # The resource bound
//
// Give every base unit of every resource a worth y ≥ 0, such that no machine on
// sale holds more worth than it costs: y·cap ≤ price for every option. Then the
// pods of any plan are worth no more than what the plan pays, because each pod
// sits on a machine, and each machine was paid for. The worth of all pods, y·D, is
// therefore a lower bound on the price of every plan that places them, however it
// packs them.
//
// Capacity that is limited in number is worth taking off: a bin that costs
// nothing can hold y·cap of worth for free, and a machine of a reservation that
// costs less than it holds can hold the difference for free. So the bound is
//
//	max  y·D − Σ count·max(0, y·cap − price)   over y ≥ 0 with y·cap ≤ price for every option.
//
// This is a linear program in few variables (one for each resource) and thousands
// of constraints. [Resource] solves its dual, a covering problem, by the simplex
// method in floating point. What comes out is only a suggestion: the worths are
// computed again from the final basis in exact arithmetic, rounded down to whole
// 2^-[fixed.Scale] nano-USD, and checked against every option in integers. The reported
// bound is proven even if the floating-point part went astray.
//
// Resources need not be what pods request by name. Whatever no machine can hold more of
// than it has will do: places for pods that keep their kind off a host, of which every
// machine has one, or whole steps of CPU. The caller adds them as further resources.
//
// # The cover bound
//
// Where a few large machines hold everything it counts that machines are whole. [Cover]
// looks for the cheapest machines that have together what all pods request, so many of
// one, so many of another. The worths of the resource bound tell which choices lead
// nowhere: what is still to be covered costs at least what it is worth.
//
// Prices are whole nano-USD, so a plan's price is too, and the bound may be rounded
// up to the next integer.
package covering
