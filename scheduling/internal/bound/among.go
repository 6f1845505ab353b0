package bound

import "slices"

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
	x := *a
	x.machines = a.market.machinesAmong(choices, counts)
	x.sellers, x.slack, x.said = nil, nil, nil
	x.rate()
	return &x
}

// machinesAmong lists the choices that the proof has to look at: those make others pointless
// only that are in the same domain and of those counts that there are at least so many of.
func (m *Market) machinesAmong(choices []Choice, counts []count) []machine {
	domains := 0
	for i := range choices {
		domains = max(domains, choices[i].Domain+1)
	}
	// They are counted from a price on, so that how many counts one is of tells which.
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

// spaces are empty lists with room for so many numbers each, side by side.
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

// found are candidates with the numbers that they have among these machines.
func (a *assignment) found(few []candidate) (out []candidate) {
	for _, x := range few {
		for i, price := range a.prices {
			if price == x.price && slices.Equal(a.cap(i), x.cap) && slices.Equal(a.machines[i].users, x.users) && a.machines[i].domain == x.domain {
				out = append(out, a.candidate(i))
				break
			}
		}
	}
	return out
}
