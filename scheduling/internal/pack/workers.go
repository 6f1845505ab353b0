package pack

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/greedy"
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
	by     operator
	picked []int
	fresh  []model.Node
	gain   bool
	seed   uint64
	work   int64
}

// worker tries changes with scratch memory of its own.
type worker struct {
	*search
	remaining []int64
	source    *rand.PCG
}

// workers are all that try changes of the machines of one pass.
type workers struct {
	workers []worker
	market  *greedy.Market
	values  []float64
	budget  *greedy.Budget
	batch   int // of changes
	changes []change
	work    [operators]int64 // by operator, that it took so far
	gains   [operators]int64 // and how often it was for the better
}

// newWorkers returns workers for so many machines. One change is tried after the other where
// there are few, and where what one buys may be what another one may not.
func (s *search) newWorkers(m *greedy.Market, machines int, values []float64, b *greedy.Budget) *workers {
	x := &workers{market: m, values: values, budget: b, batch: 1}
	hands := 1
	if machines >= manyMachines && !s.p.Limited() {
		x.batch, hands = batchSize, min(runtime.GOMAXPROCS(0), mostHands)
	}
	for i := range hands {
		h := worker{search: s, remaining: make([]int64, len(s.p.Classes)), source: rand.NewPCG(0, 0)}
		if i > 0 {
			h.search = s.twin()
		}
		x.workers = append(x.workers, h)
	}
	return x
}

// twin is a search of the same problem that shares nothing that changes.
func (s *search) twin() *search {
	return &search{
		p: s.p, params: s.params, fill: s.fill.Twin(), levels: s.levels, every: s.every,
		jittered: make([]float64, len(s.p.Classes)), sizes: make([]float64, len(s.sizes)), prices: s.prices, markets: s.markets, deep: s.deep,
	}
}

// usual is how often each operator is chosen at first, and usualWork and usualGains what each is
// taken to have done by then.
const usualWork, usualGains = 200_000, 2

func usual() [operators]float64 {
	return [operators]float64{byFleet: 3, byOne: 1, byWorth: 2, byMixing: 1}
}

// choose draws an operator, those more often that gained more often for their work.
func (x *workers) choose(random *rand.Rand) operator {
	weights, sum := usual(), 0.0
	if !x.workers[0].deep {
		weights[byMixing] = 0
	}
	for by := range weights {
		weights[by] *= float64(usualGains+x.gains[by]) / float64(usualWork+x.work[by])
		sum += weights[by]
	}
	drawn := random.Float64() * sum
	for by, w := range weights {
		if drawn -= w; drawn < 0 {
			return operator(by)
		}
	}
	return byWorth
}

// draw draws a batch of changes.
func (x *workers) draw(nodes []model.Node, random *rand.Rand) {
	s := x.workers[0].search
	x.changes = x.changes[:0]
	for range x.batch {
		x.changes = append(x.changes, change{by: x.choose(random), picked: s.draw(x.market, nodes, random), seed: random.Uint64()})
	}
}

// try tries all changes of a batch.
func (x *workers) try(nodes []model.Node) {
	var next atomic.Int64
	work := func(h *worker) {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(x.changes) {
				return
			}
			c := &x.changes[i]
			h.source.Seed(c.seed, 0x706c696d)
			before := h.fill.Work
			c.fresh, c.gain = h.anew(c.by, x.market, nodes, c.picked, x.values, h.remaining, x.budget, rand.New(h.source))
			c.work, h.fill.Work = h.fill.Work-before, before
		}
	}
	var others sync.WaitGroup
	for i := range x.workers[1:] {
		others.Go(func() { work(&x.workers[i+1]) })
	}
	work(&x.workers[0])
	others.Wait()
}

// make makes the changes of a batch that are for the better and returns how many tries
// were in vain since the last of them, when there were so many before.
func (x *workers) make(r *ranking, vain int) int {
	var picked []int
	var fresh []model.Node
	for i := range x.changes {
		c := &x.changes[i]
		x.workers[0].fill.Work += c.work
		x.work[c.by] += c.work
		if c.gain {
			x.gains[c.by]++
		}
		switch {
		case slices.ContainsFunc(c.picked, func(at int) bool { return slices.Contains(picked, at) }):
		case c.fresh == nil:
			vain++
		default:
			if vain++; c.gain {
				vain = 0
			}
			picked, fresh = append(picked, c.picked...), append(fresh, c.fresh...)
		}
	}
	if len(picked) > 0 {
		slices.Sort(picked)
		x.workers[0].fill.Work += int64(len(r.nodes))
		r.exchange(picked, model.Unbundle(fresh))
	}
	return vain
}
