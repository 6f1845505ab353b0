package bound

import (
	"math"
	"slices"
)

// everything is all that is on sale.
func (m *Market) everything() []Choice {
	if m.Everything == nil {
		return m.Options
	}
	return m.Everything()
}

// among is the assignment with those machines on sale that matter where there are counts. A
// machine of a price that is counted at least so often is worth buying for the sake of the
// count. So what makes it pointless has to be counted as well.
func (a *assignment) among(choices []Choice, counts []count) *assignment {
	var from []int64
	for _, c := range counts {
		if c.least {
			from = append(from, c.from)
		}
	}
	x := *a
	x.machines = a.market.machinesAmong(choices, from)
	x.sellers, x.slack, x.said = nil, nil, nil
	x.rate()
	return &x
}

// machinesAmong lists the choices that the proof has to look at where a machine makes those
// pointless only that are dearer by no more than up to the next of some prices.
func (m *Market) machinesAmong(choices []Choice, from []int64) []machine {
	from = append([]int64{0}, from...)
	slices.Sort(from)
	from = slices.Compact(from)
	demand := m.demand()
	var out []machine
	for i, low := range from {
		high := int64(math.MaxInt64)
		if i+1 < len(from) {
			high = from[i+1]
		}
		var within []Choice
		for _, c := range choices {
			if low <= c.Price && (c.Price < high || high == math.MaxInt64) {
				within = append(within, c)
			}
		}
		for _, k := range undominated(within) {
			if x, ok := m.machine(&within[k], -1, demand); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// found are candidates with the numbers that they have among these machines.
func (a *assignment) found(few []candidate) (out []candidate) {
	for _, x := range few {
		for i, price := range a.prices {
			if price == x.price && slices.Equal(a.cap(i), x.cap) && slices.Equal(a.machines[i].users, x.users) {
				out = append(out, a.candidate(i))
				break
			}
		}
	}
	return out
}
