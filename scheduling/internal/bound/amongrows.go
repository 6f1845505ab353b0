package bound

import (
	"cmp"
	"maps"
	"slices"
)

// bestOfPrice leaves out what is no better than something else of the same price, since that is
// counted whenever the other one is. What it returns is in the order of prices, and stands where
// the choices did.
func bestOfPrice(choices []Choice) []Choice {
	if cheaper := func(a, b Choice) int { return cmp.Compare(a.Price, b.Price) }; !slices.IsSortedFunc(choices, cheaper) {
		slices.SortStableFunc(choices, cheaper)
	}
	out := choices[:0]
	var best []Choice
	for from, to := 0, 0; from < len(choices); from = to {
		for to < len(choices) && choices[to].Price == choices[from].Price {
			to++
		}
		if to == from+1 {
			out = append(out, choices[from])
			continue
		}
		best = best[:0]
		for _, i := range undominated(choices[from:to]) {
			best = append(best, choices[from+i])
		}
		out = append(out, best...)
	}
	return out
}

// everywhere is the assignment with everything on sale that could matter to any case, and that as
// far as the pods could use it, in the order of prices.
func (a *assignment) everywhere() (x *assignment, choices []Choice) {
	demand := a.market.demand()
	type kind struct {
		room  *int64
		users *uint64
	}
	known := map[kind]Choice{} // most are on sale at many prices
	every := a.market.everything()
	choices = make([]Choice, 0, len(every))
	for _, c := range every {
		of := kind{&c.Cap[0], &c.Users[0]}
		x, again := known[of]
		if !again {
			if m, ok := a.market.machine(&c, -1, demand); ok {
				x = Choice{Cap: m.cap, Users: m.users}
			}
			known[of] = x
		}
		if x.Cap != nil {
			x.Price = c.Price
			choices = append(choices, x)
		}
	}
	choices = bestOfPrice(choices)
	machines := make([]machine, len(choices))
	for i, c := range choices {
		machines[i] = machine{cap: c.Cap, price: c.Price, users: c.Users, supply: -1}
	}
	return a.with(machines), choices
}

// with is the assignment with other machines.
func (a *assignment) with(machines []machine) *assignment {
	x := *a
	x.machines, x.best = machines, nil
	x.sellers, x.slack, x.said = nil, nil, nil
	x.rate()
	return &x
}

// amongRows lists those that matter where there are counts, of choices in the order of prices. A
// machine of a price that is counted at least so often is worth buying for the sake of the count.
// So a machine makes others pointless only that are dearer by no more than up to the next of such
// prices.
func (d *parting) amongRows(counts []count) (out []int) {
	bounds := []int{0, len(d.choices)}
	for _, c := range counts {
		if c.least {
			at, _ := slices.BinarySearchFunc(d.choices, c.from, func(x Choice, from int64) int { return cmp.Compare(x.Price, from) })
			bounds = append(bounds, at)
		}
	}
	slices.Sort(bounds)
	for i, from := range bounds[:len(bounds)-1] {
		kept := d.keptFrom(from)
		to, _ := slices.BinarySearch(kept, bounds[i+1])
		out = append(out, kept[:to]...)
	}
	return out
}

// keptFrom lists which of the choices from one on are not pointless. As they are in the order of
// prices, and at one price in that of room, they are ascending, and those up to a price are so
// whatever comes after.
func (d *parting) keptFrom(from int) []int {
	if kept, known := d.kept[from]; known {
		return kept
	}
	kept := undominated(d.choices[from:])
	for k := range kept {
		kept[k] += from
	}
	if d.kept == nil {
		d.kept = map[int][]int{}
	}
	d.kept[from] = kept
	return kept
}

// partedBy is how many machines a solved problem has from each price on.
func (a *assignment) partedBy(p *interior, few []candidate) map[int64]float64 {
	out := map[int64]float64{}
	for o := range few {
		out[a.machines[few[o].machine].price] += p.m[p.budget+o]
	}
	sumFrom(out)
	return out
}

// sumFrom turns numbers of machines by price into numbers from each price on.
func sumFrom(numbers map[int64]float64) {
	sum := 0.0
	for _, price := range slices.Backward(slices.Sorted(maps.Keys(numbers))) {
		sum += numbers[price]
		numbers[price] = sum
	}
}
