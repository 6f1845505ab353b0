package bound

import (
	"cmp"
	"maps"
	"slices"
)

// bestOfPrice leaves out what is no better than something else of the same price, since that is
// counted whenever the other one is. What it returns is in the order of prices.
func bestOfPrice(choices []Choice) (out []Choice) {
	slices.SortStableFunc(choices, func(a, b Choice) int { return cmp.Compare(a.Price, b.Price) })
	for from, to := 0, 0; from < len(choices); from = to {
		for to < len(choices) && choices[to].Price == choices[from].Price {
			to++
		}
		for _, i := range undominated(choices[from:to]) {
			out = append(out, choices[from+i])
		}
	}
	return out
}

// everywhere is the assignment with everything on sale that could matter to any case, and that as
// far as the pods could use it, in the order of prices.
func (a *assignment) everywhere() (x *assignment, choices []Choice) {
	demand := a.market.demand()
	for _, c := range a.market.everything() {
		if m, ok := a.market.machine(&c, -1, demand); ok {
			choices = append(choices, Choice{Cap: m.cap, Price: m.price, Users: m.users})
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

// only is the assignment with some of its machines.
func (a *assignment) only(numbers []int) *assignment {
	machines := make([]machine, len(numbers))
	for k, i := range numbers {
		machines[k] = a.machines[i]
	}
	return a.with(machines)
}

// amongRows lists those that matter where there are counts, of choices in the order of prices. A
// machine of a price that is counted at least so often is worth buying for the sake of the count.
// So a machine makes others pointless only that are dearer by no more than up to the next of such
// prices.
func amongRows(choices []Choice, counts []count) (out []int) {
	bounds := []int{0, len(choices)}
	for _, c := range counts {
		if c.least {
			at, _ := slices.BinarySearchFunc(choices, c.from, func(x Choice, from int64) int { return cmp.Compare(x.Price, from) })
			bounds = append(bounds, at)
		}
	}
	slices.Sort(bounds)
	for i, from := range bounds[:len(bounds)-1] {
		for _, k := range undominated(choices[from:bounds[i+1]]) {
			out = append(out, from+k)
		}
	}
	return out
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
