package pack

import (
	"container/heap"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// offer is an option with the best pattern found for it so far.
type offer struct {
	at    int // place in the stage
	score float64
	items []model.Item
}

// offers is a heap, best score first; ties go to the earlier option, so that the
// order never depends on how the heap was built.
type offers []*offer

func (h offers) Len() int { return len(h) }
func (h offers) Less(i, j int) bool {
	if h[i].score != h[j].score {
		return h[i].score > h[j].score
	}
	return h[i].at < h[j].at
}
func (h offers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *offers) Push(x any)   { *h = append(*h, x.(*offer)) }
func (h *offers) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// construct buys machines until no class of the stage has pods left that a further
// machine could hold. It lowers remaining and the budget by what it buys. Each
// time it takes the option whose best pattern holds the most worth per price, as
// often as the pods last. Scores are recomputed only when a pattern has become
// impossible, which the fall of worth with fewer pods to choose from justifies.
func (f *filler) construct(s *stage, remaining []int64, values []float64, b *budget) []model.Node {
	h := make(offers, 0, len(s.options))
	for at := range s.options {
		if x := f.offer(s, at, remaining, values, b); x != nil {
			h = append(h, x)
		}
	}
	heap.Init(&h)
	var nodes []model.Node
	for len(h) > 0 {
		x := h[0]
		o := s.options[x.at]
		n := f.affordable(o, x.items, remaining, b)
		if n == 0 {
			fresh := f.offer(s, x.at, remaining, values, b)
			if fresh == nil {
				heap.Pop(&h)
				continue
			}
			h[0] = fresh
			heap.Fix(&h, 0)
			continue
		}
		for _, it := range x.items {
			remaining[it.Class] -= it.N * n
		}
		b.spend(&f.p.Options[o], n)
		nodes = append(nodes, model.Node{Option: o, N: n, Items: x.items})
	}
	return nodes
}

// offer fills the option at a place of the stage, or returns nil where nothing fits
// or the option may not be bought any more.
func (f *filler) offer(s *stage, at int, remaining []int64, values []float64, b *budget) *offer {
	o := s.options[at]
	option := &f.p.Options[o]
	if b.affords(option, 1) == 0 {
		return nil
	}
	items, worth := f.fill(o, s.candidates[at], remaining, values)
	if len(items) == 0 {
		return nil
	}
	return &offer{at: at, score: worth / f.costs[o], items: append([]model.Item(nil), items...)}
}

// affordable is how many machines with this pattern the remaining pods and the
// budget allow.
func (f *filler) affordable(o model.OptionID, items []model.Item, remaining []int64, b *budget) int64 {
	n := int64(1) << 40
	for _, it := range items {
		n = min(n, remaining[it.Class]/it.N)
	}
	if n == 0 {
		return 0
	}
	return b.affords(&f.p.Options[o], n)
}
