package bound

import (
	"cmp"
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
	x := *a
	x.machines = a.market.machinesAmong(choices, counts)
	x.sellers, x.slack, x.said = nil, nil, nil
	x.rate()
	return &x
}

// machinesAmong lists the choices that the proof has to look at: those make others pointless
// only that are in the same domain and of those counts that there are at least so many of.
func (m *Market) machinesAmong(choices []Choice, counts []count) []machine {
	type band struct{ domain, counts int }
	within, bands := map[band][]Choice{}, []band{}
	for _, c := range choices {
		x, of := machine{price: c.Price, domain: c.Domain}, band{domain: c.Domain}
		for _, n := range counts {
			if n.least && n.has(&x) {
				of.counts++ // they are counted from a price on
			}
		}
		if _, known := within[of]; !known {
			bands = append(bands, of)
		}
		within[of] = append(within[of], c)
	}
	demand := m.demand()
	var out []machine
	slices.SortFunc(bands, func(x, y band) int { return cmp.Or(cmp.Compare(x.counts, y.counts), cmp.Compare(x.domain, y.domain)) })
	for _, of := range bands {
		for _, k := range undominated(within[of]) {
			if x, ok := m.machine(&within[of][k], -1, demand); ok {
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
			if price == x.price && slices.Equal(a.cap(i), x.cap) && slices.Equal(a.machines[i].users, x.users) && a.machines[i].domain == x.domain {
				out = append(out, a.candidate(i))
				break
			}
		}
	}
	return out
}
