package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// ranking is machines bought once each, those that hold least worth for their price
// first.
type ranking struct {
	p      *model.Problem
	values []float64
	nodes  []model.Node
	rates  []float64 // worth per price, by place in nodes
	// spareNodes and spareRates are what the next exchange is written into: the lists of the
	// one before the last.
	spareNodes []model.Node
	spareRates []float64
}

func newRanking(p *model.Problem, nodes []model.Node, values []float64) *ranking {
	r := &ranking{p: p, values: values, nodes: []model.Node{}, spareNodes: make([]model.Node, 0, len(nodes))}
	r.exchange(nil, nodes)
	return r
}

// rate is the worth that a machine holds per price.
func (r *ranking) rate(n *model.Node) float64 {
	worth := 0.0
	for _, it := range n.Items {
		worth += r.values[it.Class] * float64(it.N)
	}
	return worth / float64(max(r.p.Options[n.Option].Cost, 1))
}

// exchange takes the machines at some places, ascending, out and puts others in.
// Among equals, those that were there stay first. Lists of nodes that were there before the
// last exchange are written over.
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
