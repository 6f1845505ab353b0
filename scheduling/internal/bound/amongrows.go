package bound

import (
	"cmp"
	"maps"
	"slices"
)

// bestOfPrice leaves out what is no better than something else of the same price, since that is
// counted whenever the other one is.
func bestOfPrice(choices []Choice) (out []Choice) {
	order := make([]int, len(choices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(choices[a].Price, choices[b].Price) })
	for from := 0; from < len(order); {
		var same []Choice
		for to := from; to < len(order) && choices[order[to]].Price == choices[order[from]].Price; to++ {
			same = append(same, choices[order[to]])
		}
		for _, i := range undominated(same) {
			out = append(out, same[i])
		}
		from += len(same)
	}
	return out
}

// everywhere is the assignment with everything on sale that could matter to any case.
func (a *assignment) everywhere() (x *assignment, choices []Choice) {
	demand := a.market.demand()
	var machines []machine
	for _, c := range bestOfPrice(a.market.everything()) {
		if m, ok := a.market.machine(&c, -1, demand); ok {
			machines, choices = append(machines, m), append(choices, c)
		}
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

// amongRows lists the choices that matter where there are counts. A machine of a price that is
// counted at least so often is worth buying for the sake of the count. So a machine makes
// others pointless only that are dearer by no more than up to the next of such prices.
func amongRows(choices []Choice, counts []count) (out []int) {
	from := []int64{0}
	for _, c := range counts {
		if c.least {
			from = append(from, c.from)
		}
	}
	slices.Sort(from)
	from = slices.Compact(from)
	for i, low := range from {
		var within []Choice
		var numbers []int
		for k, c := range choices {
			if low <= c.Price && (i+1 == len(from) || c.Price < from[i+1]) {
				within, numbers = append(within, c), append(numbers, k)
			}
		}
		for _, k := range undominated(within) {
			out = append(out, numbers[k])
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
