package greedy

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// pricedOption is an option with the best pattern found for it so far. It holds no pointer, so that moving it
// in the heap is cheap.
type pricedOption struct {
	at    int     // place of the option in the market
	score float64 // value of the pattern per cost
	// The pattern is the n items at from in constructionSpace.patterns, where there is space for room items.
	from, n, room int32
}

// offers is a heap, best score first. Equal scores are in order of places, so that the order never depends on
// how the heap was built.
type offers []pricedOption

func (h offers) before(i, j int) bool {
	if h[i].score != h[j].score {
		return h[i].score > h[j].score
	}
	return h[i].at < h[j].at
}

// order makes a heap of entries in any order.
func (h offers) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// sink moves the entry at i down to its position.
func (h offers) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h.before(next+1, next) {
			next++
		}
		if !h.before(next, i) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// second returns the second best score, 0 if there is none.
func (h offers) second() float64 {
	score := 0.0
	for _, x := range h[min(1, len(h)):min(3, len(h))] {
		score = max(score, x.score)
	}
	return score
}

// dropEvery is the number of machines after which empty classes are removed from the index.
const dropEvery = 64

// construction buys machines for the remaining pods of the index.
type construction struct {
	f         *Filler
	s         *classIndex
	space     *constructionSpace
	remaining []int64
	values    []float64
	budget    *Budget
	offers    offers
	waiting   []int   // places whose options the pacing rules out for now
	eager     bool    // options are filled before they could come first; see Filler.Eager
	pods      float64 // remaining pods of the index
	value     float64 // of these pods
	nodes     []model.Node
	droppedAt int64 // work at the last removal of empty classes
}

// constructionSpace is memory that constructions reuse.
type constructionSpace struct {
	offers   offers
	waiting  []int
	patterns []model.Item // of the offers of the present construction
	kept     []model.Item // of bought machines; never overwritten
}

// Buy buys machines for the remaining pods of some classes at some places of a market, until no further machine
// could hold one. It lowers remaining and the budget. It sorts classes.
func (f *Filler) Buy(m *Market, places []int, classes []model.ClassID, remaining []int64, values []float64, b *Budget) []model.Node {
	f.Index(m, places, classes, values)
	return f.construct(remaining, values, b)
}

// construct buys machines until no class of the index has remaining pods that a further machine could hold, and
// lowers remaining and the budget. It always takes the option whose best pattern has the most value per cost,
// as often as the pods last. A score is recomputed only when its pattern is no longer possible, because with
// fewer pods to choose from it can only fall, and it is computed at all only when the value of all remaining
// pods would make the option the best.
func (f *Filler) construct(remaining []int64, values []float64, b *Budget) []model.Node {
	s := &f.index
	x := construction{
		f: f, s: s, remaining: remaining, values: values, budget: b, droppedAt: f.Work,
		space: &f.space, offers: f.space.offers[:0], waiting: append(f.space.waiting[:0], s.places...), eager: f.Eager,
	}
	f.space.patterns = f.space.patterns[:0]
	defer func() { f.space.offers, f.space.waiting = x.offers, x.waiting }()
	f.pace.slack = 1
	f.setPace(remaining, values)
	x.tally()
	x.admit()
	for {
		bought := len(x.nodes)
		for len(x.offers) > 0 && x.pods > 0.5 {
			x.step()
		}
		if len(x.waiting) == 0 || len(x.offers) > 0 || x.pods < 0.5 {
			return x.nodes
		}
		if len(x.nodes) == bought {
			f.pace.slack *= 2
		}
		f.setPace(remaining, values)
		x.admit()
	}
}

// tally sums up the remaining pods and their value.
func (x *construction) tally() {
	x.pods, x.value = 0, 0
	for _, lists := range x.s.lists {
		for i := range lists {
			for _, c := range lists[i].classes {
				part := float64(x.remaining[c]) / float64(x.s.rowsOf[c])
				x.pods += part
				x.value += part * x.values[c]
			}
		}
	}
}

// most returns an upper bound of an option's score: one machine with all remaining pods.
func (x *construction) most(offer *pricedOption) float64 {
	return 1.000001 * max(x.value, 0) / x.f.Costs[x.s.m.Options[offer.at]]
}

// admit moves waiting options to the heap that the pacing no longer rules out.
func (x *construction) admit() {
	kept := x.waiting[:0]
	for _, at := range x.waiting {
		offer := pricedOption{at: at}
		switch {
		case !x.affords(at):
		case x.overCap(at):
			kept = append(kept, at)
		case !x.eager && len(x.s.lists[x.s.m.Row[at]]) > 0:
			offer.score = x.most(&offer)
			x.offers = append(x.offers, offer)
		case x.eager && x.renew(&offer):
			x.offers = append(x.offers, offer)
		case len(x.f.pace.seeds[x.s.m.Row[at]]) > 0:
			kept = append(kept, at)
		}
	}
	x.waiting = kept
	x.offers.order()
}

// affords reports whether the budget allows one more machine of the option at a place. Once it does not, it
// never will.
func (x *construction) affords(at int) bool {
	return x.budget.Affords(&x.f.sizes.p.Options[x.s.m.Options[at]], 1) > 0
}

// overCap reports whether the pacing rules the option at a place out for now.
func (x *construction) overCap(at int) bool {
	return x.f.Costs[x.s.m.Options[at]] > x.f.pace.maxCost[x.s.m.Row[at]]
}

// step buys the best option, or recomputes its score.
func (x *construction) step() {
	first := &x.offers[0]
	row := x.s.m.Row[first.at]
	if x.overCap(first.at) {
		x.waiting = append(x.waiting, first.at)
		x.drop()
		return
	}
	n := x.affordable(first)
	if n == 0 {
		if most := x.most(first); !x.eager && most < x.offers.second() {
			first.score, first.n = most, 0
			x.offers.sink(0)
			return
		}
		if !x.renew(first) {
			if len(x.f.pace.seeds[row]) > 0 && x.affords(first.at) {
				x.waiting = append(x.waiting, first.at)
			}
			x.drop()
			return
		}
		if first.score < x.offers.second() {
			x.offers.sink(0)
			return
		}
		n = x.affordable(first)
	}
	if len(x.f.pace.seeds[row]) > 0 {
		n = min(n, 1+int64(x.f.pace.slots[row]/16))
	}
	o := x.s.m.Options[first.at]
	node := model.Node{Option: o, N: n, Items: x.space.keep(x.space.pattern(first))}
	for _, it := range node.Items {
		x.pods -= float64(it.N * n)
		x.value -= float64(it.N*n) * x.values[it.Class]
	}
	x.budget.buy(&x.f.sizes.p.Options[o], &node, x.remaining)
	x.nodes = append(x.nodes, node)
	first.n = 0
	// Only after enough work, because removal looks at all lists.
	if len(x.nodes)%dropEvery == 0 && x.f.Work-x.droppedAt >= int64(len(x.s.all)) {
		x.s.dropEmpty(x.remaining)
		x.tally()
		x.f.setPace(x.remaining, x.values)
		x.admit()
		x.droppedAt = x.f.Work
	}
}

// drop removes the best option from the heap.
func (x *construction) drop() {
	last := len(x.offers) - 1
	x.offers[0] = x.offers[last]
	x.offers = x.offers[:last]
	x.offers.sink(0)
}

// renew fills the option again. It reports false where no pod fits or the budget does not allow the option.
func (x *construction) renew(offer *pricedOption) bool {
	row := x.s.m.Row[offer.at]
	if len(x.s.lists[row]) == 0 || !x.affords(offer.at) {
		return false
	}
	items, value := x.f.Fill(offer.at, x.f.pace.seeds[row], x.remaining, x.values)
	if offer.n = int32(len(items)); offer.n > offer.room {
		offer.from, offer.room = int32(len(x.space.patterns)), offer.n
		x.space.patterns = append(x.space.patterns, items...)
	} else {
		copy(x.space.patterns[offer.from:], items)
	}
	offer.score = value / x.f.Costs[x.s.m.Options[offer.at]]
	return offer.n > 0
}

// keptTogether is the number of items that are allocated at a time.
const keptTogether = 1024

// pattern returns the pods on a machine of the option. It is valid until the option is filled again.
func (k *constructionSpace) pattern(offer *pricedOption) []model.Item {
	return k.patterns[offer.from:][:offer.n]
}

// keep copies items to memory that is never overwritten.
func (k *constructionSpace) keep(items []model.Item) []model.Item {
	if cap(k.kept)-len(k.kept) < len(items) {
		k.kept = make([]model.Item, 0, max(keptTogether, len(items)))
	}
	from := len(k.kept)
	k.kept = append(k.kept, items...)
	return k.kept[from:len(k.kept):len(k.kept)]
}

// affordable returns the number of machines with the option's pattern that the remaining pods and the budget
// allow.
func (x *construction) affordable(offer *pricedOption) int64 {
	if offer.n == 0 {
		return 0
	}
	return x.budget.times(&x.f.sizes.p.Options[x.s.m.Options[offer.at]], x.space.pattern(offer), model.Unbounded, x.remaining)
}
