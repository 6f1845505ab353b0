package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// ranking is machines bought once each, in order of value per price, the least first.
type ranking struct {
	p      *model.Problem
	values []float64
	nodes  []model.Node
	rates  []float64 // value per price, by index in nodes
	// spareNodes and spareRates are the lists before the last exchange, which the next one overwrites.
	spareNodes []model.Node
	spareRates []float64
}

func newRanking(p *model.Problem, nodes []model.Node, values []float64) *ranking {
	r := &ranking{p: p, values: values, nodes: []model.Node{}, spareNodes: make([]model.Node, 0, len(nodes))}
	r.exchange(nil, nodes)
	return r
}

// rate returns the value of a machine's pods per unit of price.
func (r *ranking) rate(n *model.Node) float64 {
	worth := 0.0
	for _, it := range n.Items {
		worth += r.values[it.Class] * float64(it.N)
	}
	return worth / float64(max(r.p.Options[n.Option].Cost, 1))
}

// exchange removes the machines at the ascending indexes out and inserts others. Among equals, the present ones
// stay first. It overwrites the list of nodes before the last exchange.
func (r *ranking) exchange(out []int, in []model.Node) {
	rates := make([]float64, len(in))
	order := make([]int, len(in))
	for i := range in {
		rates[i], order[i] = r.rate(&in[i]), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rates[a], rates[b]) })
	nodes, all := r.spareNodes[:0], r.spareRates[:0]
	for at := range r.nodes {
		if len(out) > 0 && out[0] == at {
			out = out[1:]
			continue
		}
		for len(order) > 0 && rates[order[0]] < r.rates[at] {
			nodes, all = append(nodes, in[order[0]]), append(all, rates[order[0]])
			order = order[1:]
		}
		nodes, all = append(nodes, r.nodes[at]), append(all, r.rates[at])
	}
	for _, i := range order {
		nodes, all = append(nodes, in[i]), append(all, rates[i])
	}
	r.nodes, r.rates, r.spareNodes, r.spareRates = nodes, all, r.nodes, r.rates
}
