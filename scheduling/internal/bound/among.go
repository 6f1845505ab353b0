package bound

// everything returns the choices that may be bought in any number, including dominated ones.
func (m *Market) everything() []Choice {
	if m.Everything == nil {
		return m.Options
	}
	return m.Everything()
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
