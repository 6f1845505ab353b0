package bound

import "slices"

// everything returns the choices that may be bought in any number, including dominated ones.
func (m *Market) everything() []Choice {
	if m.Everything == nil {
		return m.Options
	}
	return m.Everything()
}

// among returns the assignment for a branch with some bounds on counts. A choice that is dominated may be worth
// buying because it counts: a machine must then be dominated by one that counts in every bound of AtLeast form
// that it counts in.
func (a *assignment) among(choices []Choice, counts []countBound) *assignment {
	x := *a
	x.machines = a.market.machinesAmong(choices, counts)
	x.buyable, x.slack, x.classValues = nil, nil, nil
	x.rate()
	return &x
}

// machinesAmong lists the choices that are not dominated in a branch: a choice dominates another only in the
// same domain, and only if it counts in every lower bound on a count that the other one counts in.
func (m *Market) machinesAmong(choices []Choice, counts []countBound) []machine {
	domains := 0
	for i := range choices {
		domains = max(domains, choices[i].Domain+1)
	}
	// Counts start at a price, so the number of lower bounds that a choice counts in says which ones they are.
	band, sizes := make([]int32, len(choices)), make([]int, domains*(len(counts)+1))
	for i := range choices {
		x, of := machine{price: choices[i].Price, domain: choices[i].Domain}, 0
		for _, n := range counts {
			if n.least && n.has(&x) {
				of++
			}
		}
		band[i] = int32(of*domains + x.domain)
		sizes[band[i]]++
	}
	within := spaces(sizes)
	for i, of := range band {
		within[of] = append(within[of], i)
	}
	demand := m.demand()
	var out []machine
	for _, numbers := range within {
		for _, i := range undominatedAmong(choices, numbers) {
			if x, ok := m.machine(&choices[i], -1, demand); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// spaces returns empty lists with the given capacities, cut from one allocation.
func spaces(sizes []int) [][]int {
	all := 0
	for _, n := range sizes {
		all += n
	}
	slab, out := make([]int, all), make([][]int, len(sizes))
	for i, n := range sizes {
		out[i], slab = slab[:0:n], slab[n:]
	}
	return out
}

// found returns the candidates that this assignment has too, with their machine numbers here.
func (a *assignment) found(chosen []candidate) (out []candidate) {
	for _, x := range chosen {
		for i, price := range a.prices {
			if price == x.price && slices.Equal(a.cap(i), x.cap) && slices.Equal(a.machines[i].users, x.users) && a.machines[i].domain == x.domain {
				out = append(out, a.candidate(i))
				break
			}
		}
	}
	return out
}
