package pack

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where there are manyMachines, changes are tried side by side, batchSize at a time. Which
// these are, and which of them are made, does not depend on how many try: they are drawn
// together, each is tried on the machines as they stand, and they are made in the order in
// which they were drawn, but for those whose machines another one has just taken.
const manyMachines, batchSize = 64, 8

// mostHands is how many goroutines try changes at most.
const mostHands = 4

// change is machines to take apart, and what was bought in their place; nil where that is
// no better.
type change struct {
	picked []int
	fresh  []model.Node
	seed   uint64
	work   int64
}

// hand tries changes with scratch memory of its own.
type hand struct {
	*search
	remaining []int64
	source    *rand.PCG
}

// crew is all hands that try changes of the machines of one pass.
type crew struct {
	hands   []hand
	market  *market
	values  []float64
	budget  *budget
	changes []change
}

// newCrew returns a crew for so many machines, nil where one change is tried after the
// other: where there are few, and where what one buys may be what another one may not.
func (s *search) newCrew(m *market, machines int, values []float64, b *budget) *crew {
	if machines < manyMachines || s.limited() {
		return nil
	}
	x := &crew{market: m, values: values, budget: b}
	for i := range min(runtime.GOMAXPROCS(0), mostHands) {
		h := hand{search: s, remaining: make([]int64, len(s.p.Classes)), source: rand.NewPCG(0, 0)}
		if i > 0 {
			h.search = s.twin()
		}
		x.hands = append(x.hands, h)
	}
	return x
}

// twin is a search of the same problem that shares nothing that changes.
func (s *search) twin() *search {
	t := &search{
		p: s.p, params: s.params, fill: newFiller(s.p), levels: s.levels, every: s.every,
		jittered: make([]float64, len(s.p.Classes)), prices: s.prices, crowded: s.crowded, markets: s.markets,
	}
	t.fill.eager, t.fill.pace.on = s.fill.eager, s.fill.pace.on
	return t
}

// draw draws a batch of changes.
func (x *crew) draw(nodes []model.Node, random *rand.Rand) {
	s := x.hands[0].search
	x.changes = x.changes[:0]
	for range batchSize {
		x.changes = append(x.changes, change{picked: s.pickNear(x.market, nodes, random), seed: random.Uint64()})
	}
}

// try tries all changes of a batch.
func (x *crew) try(nodes []model.Node) {
	var next atomic.Int64
	work := func(h *hand) {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(x.changes) {
				return
			}
			c := &x.changes[i]
			h.source.Seed(c.seed, 0x706c696d)
			before := h.fill.work
			c.fresh = h.anew(x.market, nodes, c.picked, x.values, h.remaining, x.budget, rand.New(h.source))
			c.work, h.fill.work = h.fill.work-before, before
		}
	}
	var others sync.WaitGroup
	for i := range x.hands[1:] {
		others.Go(func() { work(&x.hands[i+1]) })
	}
	work(&x.hands[0])
	others.Wait()
}

// make makes the changes of a batch that are for the better and returns how many tries
// were in vain since the last of them, when there were so many before.
func (x *crew) make(r *ranking, vain int) int {
	var picked []int
	var fresh []model.Node
	for i := range x.changes {
		c := &x.changes[i]
		x.hands[0].fill.work += c.work
		switch {
		case slices.ContainsFunc(c.picked, func(at int) bool { return slices.Contains(picked, at) }):
		case c.fresh == nil:
			vain++
		default:
			vain = 0
			picked, fresh = append(picked, c.picked...), append(fresh, c.fresh...)
		}
	}
	if len(picked) > 0 {
		slices.Sort(picked)
		r.exchange(picked, unbundle(fresh))
	}
	return vain
}
