package fleet

import (
	"maps"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
)

// leftMarkup is how much dearer pods are that have to be planned again: their machines are
// few, and come a round later.
const leftMarkup = 1.25

// outcome is what came of a fleet in a course of events.
type outcome struct {
	run  *binding.Run
	to   []int32 // by place in the queue of the course, the node, -1 for none
	left int
	// joined are the machines that have come, by their place in the list of all, as nodes are numbered
	// after those that were there before.
	joined []int
}

// bind lets the machines of a fleet join and the pods be bound. What is there already takes
// pods before the first machine comes.
func (p *problem) bind(machines []int32, w *course) outcome {
	r := p.scheduler.Begin(w.Seed)
	r.Late = p.late
	x := outcome{run: r, to: make([]int32, len(w.queue)), left: len(w.queue)}
	for i := range x.to {
		x.to[i] = -1
	}
	if p.scheduler.Model.Existing() > 0 {
		x.left = r.Bind(w.queue, x.to, nil)
	}
	for batch := range w.Joins(len(machines)) {
		if x.left == 0 || p.late() {
			break
		}
		for _, i := range batch {
			r.Join(p.kinds[machines[i]].machine)
		}
		x.joined = append(x.joined, batch...)
		x.left = r.Bind(w.queue, x.to, nil)
	}
	return x
}

// list is the machines of a fleet one by one.
func (f fleet) list() (out []int32) {
	for k, n := range f {
		for range n {
			out = append(out, int32(k))
		}
	}
	return out
}

// cost is what the search minimises of machines.
func (p *problem) cost(machines []int32) (sum float64) {
	for _, k := range machines {
		sum += float64(p.kinds[k].cost)
	}
	return sum
}

// estimate is what a fleet comes to on the average of the courses of events. Where pods depend on each other
// machines are bought for those that are left over, whom others may keep off them; else these are
// taken at what they are worth. Where that is not below most, the answer may be less, but is not
// below most either.
func (p *problem) estimate(f fleet, most float64) float64 {
	machines := f.list()
	price := p.cost(machines) + p.shortage(f)
	if price >= most {
		return price
	}
	outcomes := p.play(machines)
	for i := range outcomes {
		sum := 0.0
		w, x := &p.courses[i], &outcomes[i]
		if p.c.Tied() {
			sum += p.cost(p.finish(f, w, x))
		}
		for at, to := range x.to {
			if to < 0 {
				sum += leftMarkup * p.worth[w.queue[at]]
			}
		}
		if price += sum / float64(len(outcomes)); price >= most {
			break
		}
	}
	return price
}

// play binds the pods in all courses of events.
func (p *problem) play(machines []int32) []outcome {
	outcomes := make([]outcome, len(p.courses))
	var all sync.WaitGroup
	for i := range p.courses {
		all.Go(func() { outcomes[i] = p.bind(machines, &p.courses[i]) })
	}
	all.Wait()
	return outcomes
}

const (
	// spare is how much more than the pods request together a fleet has to have for all of them
	// to find places on it by some order.
	spare = 1.002
	// shortageMarkup is how much dearer it is to buy later what is missing at first.
	shortageMarkup = 2
)

// shortage is what a fleet has too little of to hold all pods, at what pods are worth.
func (p *problem) shortage(f fleet) float64 {
	missing, all := 0.0, 0.0
	for d, n := range p.load {
		have := float64(p.free[d])
		for k, m := range f {
			have += float64(m) * float64(p.kinds[k].room[d])
		}
		if n > 0 {
			missing = max(missing, 1-have/(spare*float64(n)))
		}
	}
	for c, n := range p.pods {
		all += p.worth[c] * float64(n)
	}
	return shortageMarkup * missing * all
}

// mostPlayed is how often nodes may be looked at for pods that depend on each other in a plan that
// is played through.
const mostPlayed = 20_000_000

// Playable reports whether a plan can be played through in time, however many pods depend on each
// other.
func Playable(c *compile.Compiler, plan *scheduling.Plan) bool {
	return !c.Tied() || looks(c, plan) <= mostPlayed
}

// mostReplans is how often machines are bought for pods that are left over.
const mostReplans = 10

// finish buys machines, beside those of a fleet, for pods that are left over until all are bound or no
// more can be. It returns what it has bought: machines to which no pod is bound are not, as for pods that
// no machine helps.
func (p *problem) finish(f fleet, w *course, x *outcome) (bought []int32) {
	if x.left == 0 {
		return nil
	}
	f = slices.Clone(f)
	kinds := map[int32]int32{} // by node
	for round := 0; x.left > 0 && round < mostReplans && !p.late(); round++ {
		more := p.extra(w, x).list()
		f = p.grown(f)
		for _, k := range more {
			f[k]++
		}
		if len(more) == 0 || !p.affords(f) {
			break // pods that no machine that may be bought holds as things stand
		}
		for _, k := range more {
			kinds[int32(x.run.Join(p.kinds[k].machine))] = k //nolint:gosec // nodes are few
		}
		before := x.left
		if x.left = x.run.Bind(w.queue, x.to, nil); x.left == before {
			break
		}
	}
	for _, to := range slices.Compact(slices.Sorted(slices.Values(x.to))) {
		if k, ok := kinds[to]; ok {
			bought = append(bought, k)
		}
	}
	return bought
}

// Realised is what comes of a plan in a course of events.
type Realised struct {
	Batches   int             // in which machines came
	Later     offerings.Price // expected price of the machines that are bought for pods that are left over
	Elsewhere int             // pods that are not where the plan has them, equal pods standing for each other
	Pending   map[int32]int   // by class, pods to which no machine that may be bought is of help; nil past a deadline
}

// Realise plays a plan through in all courses of events. The answer is nil where the plan buys what is
// not on sale or names pods or nodes that are not there, where too many pods depend on each other, and where time
// is up before it is known.
func Realise(c *compile.Compiler, plan *scheduling.Plan, params Params) []Realised {
	if !Playable(c, plan) || params.Late != nil && params.Late() {
		return nil
	}
	p := newProblem(c, plan, params)
	if p == nil {
		return nil
	}
	machines, f := make([]int32, len(p.given)), p.newFleet()
	for i, m := range p.given {
		machines[i] = int32(m.kind) //nolint:gosec // a number of kinds
		f[m.kind]++
	}
	out := make([]Realised, len(p.courses))
	for i, x := range p.play(machines) {
		w := &p.courses[i]
		out[i] = Realised{Batches: w.Batches, Elsewhere: p.elsewhere(w, &x)}
		for _, k := range p.finish(f, w, &x) {
			o := &p.c.Offers.Offers[p.kinds[k].purchase.Offer]
			out[i].Later = offerings.Sum(out[i].Later, p.c.Solver.ExpectedPrice(o.InstanceType, o.Offering))
		}
		if x.left > 0 && !p.late() {
			out[i].Pending = map[int32]int{}
			for at, to := range x.to {
				if to < 0 {
					out[i].Pending[w.queue[at]]++
				}
			}
		}
	}
	if p.late() {
		return nil
	}
	return out
}

// elsewhere counts the pods that are not where the plan has them.
func (p *problem) elsewhere(w *course, x *outcome) (n int) {
	planned, there := maps.Clone(p.planned), p.scheduler.Model.Existing()
	for i, to := range x.to {
		if int(to) >= there {
			to = int32(there + x.joined[int(to)-there]) //nolint:gosec // a number of nodes
		}
		if at := (position{w.queue[i], to}); planned[at] > 0 {
			planned[at]--
		} else {
			n++
		}
	}
	return n
}
