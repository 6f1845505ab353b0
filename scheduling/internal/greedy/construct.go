package greedy

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// offer is an option with the best pattern found for it so far. It points to nothing,
// so that the heap is cheap to move about in.
type offer struct {
	at    int // place in the market
	score float64
	// The pattern is n items of the filler's patterns, which has room for so many there.
	from, n, room int32
}

// offers is a heap, best score first; ties go to the earlier option, so that the
// order never depends on how the heap was built.
type offers []offer

func (h offers) before(i, j int) bool {
	if h[i].score != h[j].score {
		return h[i].score > h[j].score
	}
	return h[i].at < h[j].at
}

// order makes a heap of what may be in any order.
func (h offers) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// sink moves the offer at i down to where it belongs.
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

// second is the best score but for the first.
func (h offers) second() float64 {
	score := 0.0
	for _, x := range h[min(1, len(h)):min(3, len(h))] {
		score = max(score, x.score)
	}
	return score
}

// tidyEvery is after how many purchases shelves are cleared of empty classes.
const tidyEvery = 64

// construction is a purchase of machines for all that remains.
type construction struct {
	*Filler
	s         *stage
	remaining []int64
	values    []float64
	budget    *Budget
	offers    offers
	waiting   []int   // places in the market that the pace holds back
	eager     bool    // offers are filled before they could come first
	pods      float64 // that remain of the classes of the stage
	worth     float64 // of these
	nodes     []model.Node
	tidied    int64 // the work that was done by then
}

// Buy is construct for some classes at some places of a market.
func (f *Filler) Buy(m *Market, places []int, classes []model.ClassID, remaining []int64, values []float64, b *Budget) []model.Node {
	f.Index(m, places, classes, values)
	return f.construct(remaining, values, b)
}

// construct buys machines until no class of the stage has pods left that a further
// machine could hold. It lowers remaining and the budget by what it buys. Each
// time it takes the option whose best pattern holds the most worth per price, as
// often as the pods last. Scores are recomputed only when a pattern has become
// impossible, which the fall of worth with fewer pods to choose from justifies, and
// computed at all only once the worth of all that remains would be enough to be first.
func (f *Filler) construct(remaining []int64, values []float64, b *Budget) []model.Node {
	s := &f.stage
	x := construction{
		Filler: f, s: s, remaining: remaining, values: values, budget: b, tidied: f.Work,
		offers: f.offers[:0], waiting: append(f.waiting[:0], s.places...), eager: f.Eager,
	}
	f.patterns = f.patterns[:0]
	defer func() { f.offers, f.waiting = x.offers, x.waiting }()
	f.pace.slack = 1
	f.measure(remaining, values)
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
		f.measure(remaining, values)
		x.admit()
	}
}

// tally counts the pods that remain.
func (x *construction) tally() {
	x.pods, x.worth = 0, 0
	for _, shelves := range x.s.shelves {
		for i := range shelves {
			for _, c := range shelves[i].classes {
				part := float64(x.remaining[c]) / float64(x.rowsOf[c])
				x.pods += part
				x.worth += part * x.values[c]
			}
		}
	}
}

// most is more than what an offer's machine could score now: that of a machine with
// everything that remains.
func (x *construction) most(offer *offer) float64 {
	return 1.000001 * max(x.worth, 0) / x.Costs[x.s.Options[offer.at]]
}

// admit makes offers of the options that wait no longer.
func (x *construction) admit() {
	kept := x.waiting[:0]
	for _, at := range x.waiting {
		offer := offer{at: at}
		switch {
		case !x.affords(at):
		case x.overCap(at):
			kept = append(kept, at)
		case !x.eager && len(x.s.shelves[x.s.Row[at]]) > 0:
			offer.score = x.most(&offer)
			x.offers = append(x.offers, offer)
		case x.eager && x.renew(&offer):
			x.offers = append(x.offers, offer)
		case len(x.pace.seeds[x.s.Row[at]]) > 0:
			kept = append(kept, at)
		}
	}
	x.waiting = kept
	x.offers.order()
}

// affords reports whether the budget allows one more of the option at a place; once it
// does not, it never will.
func (x *construction) affords(at int) bool {
	return x.budget.Affords(&x.p.Options[x.s.Options[at]], 1) > 0
}

// overCap reports whether the pacing rules the option at a place out for now.
func (x *construction) overCap(at int) bool {
	return x.Costs[x.s.Options[at]] > x.pace.most[x.s.Row[at]]
}

// step buys the first offer, or brings it up to date.
func (x *construction) step() {
	first := &x.offers[0]
	row := x.s.Row[first.at]
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
			if len(x.pace.seeds[row]) > 0 && x.affords(first.at) {
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
	if len(x.pace.seeds[row]) > 0 {
		n = min(n, 1+int64(x.pace.slots[row]/16))
	}
	o := x.s.Options[first.at]
	node := model.Node{Option: o, N: n, Items: x.keep(x.pattern(first))}
	for _, it := range node.Items {
		x.pods -= float64(it.N * n)
		x.worth -= float64(it.N*n) * x.values[it.Class]
	}
	x.budget.buy(&x.p.Options[o], &node, x.remaining)
	x.nodes = append(x.nodes, node)
	first.n = 0
	// Looking at every shelf must not take longer than what it is to save.
	if len(x.nodes)%tidyEvery == 0 && x.Work-x.tidied >= int64(len(x.s.all)) {
		x.s.tidy(x.remaining)
		x.tally()
		x.measure(x.remaining, x.values)
		x.admit()
		x.tidied = x.Work
	}
}

// drop takes the first offer away.
func (x *construction) drop() {
	last := len(x.offers) - 1
	x.offers[0] = x.offers[last]
	x.offers = x.offers[:last]
	x.offers.sink(0)
}

// renew fills the option of an offer anew. It reports false where nothing fits or the
// option may not be bought any more.
func (x *construction) renew(offer *offer) bool {
	row := x.s.Row[offer.at]
	if len(x.s.shelves[row]) == 0 || !x.affords(offer.at) {
		return false
	}
	items, worth := x.Fill(offer.at, x.pace.seeds[row], x.remaining, x.values)
	if offer.n = int32(len(items)); offer.n > offer.room {
		offer.from, offer.room = int32(len(x.patterns)), offer.n
		x.patterns = append(x.patterns, items...)
	} else {
		copy(x.patterns[offer.from:], items)
	}
	offer.score = worth / x.Costs[x.s.Options[offer.at]]
	return offer.n > 0
}

// pattern is what a machine of an offer would hold.
func (f *Filler) pattern(offer *offer) []model.Item {
	return f.patterns[offer.from:][:offer.n]
}

// keptTogether is how many items are made room for at a time.
const keptTogether = 1024

// keep copies items to where nothing else will write, beside others that are kept.
func (f *Filler) keep(items []model.Item) []model.Item {
	if cap(f.kept)-len(f.kept) < len(items) {
		f.kept = make([]model.Item, 0, max(keptTogether, len(items)))
	}
	from := len(f.kept)
	f.kept = append(f.kept, items...)
	return f.kept[from:len(f.kept):len(f.kept)]
}

// affordable is how many machines with the pattern of an offer the remaining pods and
// the budget allow.
func (x *construction) affordable(offer *offer) int64 {
	if offer.n == 0 {
		return 0
	}
	return x.budget.times(&x.p.Options[x.s.Options[offer.at]], x.pattern(offer), model.Unbounded, x.remaining)
}
