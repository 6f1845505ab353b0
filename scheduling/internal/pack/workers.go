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

// With at least manyMachines, batches of batchSize changes are tried in parallel. The changes and the choice of
// those that are made do not depend on the number of goroutines: a batch is drawn at once, each change is tried
// on the machines before the batch, and changes are made in the order of drawing, except those whose machines
// an earlier change of the batch has taken.
const manyMachines, batchSize = 64, 8

// mostWorkers bounds the goroutines that try changes.
const mostWorkers = 4

// change is machines to take apart and the machines in their place; fresh is nil where these are no better.
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
	lns       *lns
	remaining []int64
	source    *rand.PCG
}

// workers try changes of the machines of one pass.
type workers struct {
	workers []worker
	market  *greedy.Market
	values  []float64
	budget  *greedy.Budget
	batch   int // of changes
	changes []change
	work    [operators]int64 // by operator: work so far
	gains   [operators]int64 // by operator: number of gains so far
}

// newWorkers returns the workers for a number of machines. Changes are tried one at a time where there are few
// machines, and where limits apply, because then one change may take from another.
func newWorkers(s *search, m *greedy.Market, machines int, values []float64, b *greedy.Budget) *workers {
	x := &workers{market: m, values: values, budget: b, batch: 1}
	n := 1
	if machines >= manyMachines && !s.p.Limited() {
		x.batch, n = batchSize, min(runtime.GOMAXPROCS(0), mostWorkers)
	}
	for i := range n {
		h := worker{lns: s.lns, remaining: make([]int64, len(s.p.Classes)), source: rand.NewPCG(0, 0)}
		if i > 0 {
			h.lns = s.lns.clone(func() bool { return s.params.Late != nil && s.params.Late() })
		}
		x.workers = append(x.workers, h)
	}
	return x
}

// initialWork and initialGains are the work and gains of each operator that are assumed before the first try.
const initialWork, initialGains = 200_000, 2

// initialWeights returns the weights of operators in the first draw.
func initialWeights() [operators]float64 {
	return [operators]float64{bySetCover: 3, bySingleNode: 1, byGreedy: 2, byColumns: 1}
}

// choose draws an operator by its gains per work so far.
func (x *workers) choose(random *rand.Rand) operator {
	weights, sum := initialWeights(), 0.0
	if !x.workers[0].lns.deep {
		weights[byColumns] = 0
	}
	for by := range weights {
		weights[by] *= float64(initialGains+x.gains[by]) / float64(initialWork+x.work[by])
		sum += weights[by]
	}
	drawn := random.Float64() * sum
	for by, w := range weights {
		if drawn -= w; drawn < 0 {
			return operator(by)
		}
	}
	return byGreedy
}

// draw draws a batch of changes.
func (x *workers) draw(nodes []model.Node, random *rand.Rand) {
	l := x.workers[0].lns
	x.changes = x.changes[:0]
	for range x.batch {
		x.changes = append(x.changes, change{by: x.choose(random), picked: l.draw(x.market, nodes, random), seed: random.Uint64()})
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
			before := h.lns.fill.Work
			c.fresh, c.gain = h.lns.repack(c.by, x.market, nodes, c.picked, x.values, h.remaining, x.budget, rand.New(h.source))
			c.work, h.lns.fill.Work = h.lns.fill.Work-before, before
		}
	}
	var others sync.WaitGroup
	for i := range x.workers[1:] {
		others.Go(func() { work(&x.workers[i+1]) })
	}
	work(&x.workers[0])
	others.Wait()
}

// make makes the better changes of a batch and returns the number of failures in a row, of which there were
// failures before.
func (x *workers) make(r *ranking, failures int) int {
	var picked []int
	var fresh []model.Node
	for i := range x.changes {
		c := &x.changes[i]
		x.workers[0].lns.fill.Work += c.work
		x.work[c.by] += c.work
		if c.gain {
			x.gains[c.by]++
		}
		switch {
		case slices.ContainsFunc(c.picked, func(at int) bool { return slices.Contains(picked, at) }):
		case c.fresh == nil:
			failures++
		default:
			if failures++; c.gain {
				failures = 0
			}
			picked, fresh = append(picked, c.picked...), append(fresh, c.fresh...)
		}
	}
	if len(picked) > 0 {
		slices.Sort(picked)
		x.workers[0].lns.fill.Work += int64(len(r.nodes))
		r.exchange(picked, model.Unbundle(fresh))
	}
	return failures
}
