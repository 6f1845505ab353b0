package pack

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// correct moves worths towards what each class really cost in an attempt: the price
// of its machines, divided among their pods by worth. Classes that ended up on
// badly filled machines rise, and are picked earlier the next time.
func correct(p *model.Problem, a *attempt, values []float64, step float64) []float64 {
	paid := make([]float64, len(values))
	count := make([]int64, len(values))
	for _, nodes := range a.bought {
		for i := range nodes {
			node := &nodes[i]
			worth := 0.0
			for _, it := range node.Items {
				worth += values[it.Class] * float64(it.N)
			}
			if worth <= 0 {
				continue
			}
			rate := float64(max(p.Options[node.Option].Cost, 1)) / worth
			for _, it := range node.Items {
				paid[it.Class] += values[it.Class] * rate * float64(it.N*node.N)
				count[it.Class] += it.N * node.N
			}
		}
	}
	next := make([]float64, len(values))
	for c := range values {
		next[c] = values[c]
		if count[c] > 0 {
			next[c] = values[c]*(1-step) + paid[c]/float64(count[c])*step
		}
	}
	return next
}
