package pack

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// correctValues moves class values towards the real costs of an attempt: the price of each machine, divided
// among its pods by value. Classes on badly filled machines rise, and are placed earlier the next time. step is
// from 0 to 1.
func correctValues(p *model.Problem, a *attempt, values []float64, step float64) []float64 {
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
