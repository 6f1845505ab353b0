package fleet

import (
	"maps"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// leftMarkup is the cost of pods that must be planned again, in multiples of their value: their machines are
// few and start later.
const leftMarkup = 1.25

// bindResult is the result of binding in one course.
type bindResult struct {
	run  *binding.Run
	to   []int32 // by index in the queue of the course: the node, −1 for none
	left int
	// joined are the indexes of the machines in the order in which they joined. Their nodes are numbered after
	// the existing ones.
	joined []int
}

// bind lets the machines join and binds the pods. Existing nodes take pods before the first machine joins.
func (p *problem) bind(machines []int32, w *course) bindResult {
	r := p.scheduler.Begin(w.Seed)
	r.Late = p.late
	x := bindResult{run: r, to: make([]int32, len(w.queue)), left: len(w.queue)}
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
			r.Join(p.kinds.list[machines[i]].machine)
		}
		x.joined = append(x.joined, batch...)
		x.left = r.Bind(w.queue, x.to, nil)
	}
	return x
}

// list returns the machines of a fleet one by one, as kinds.
func (f fleet) list() (out []int32) {
	for k, n := range f {
		for range n {
			out = append(out, int32(k))
		}
	}
	return out
}

// estimate returns the average cost of a fleet over all courses, with machines or values of the pods that are
// left over. Machines are bought for these where pods have topology terms, because other pods may exclude them
// from domains; otherwise they count with their values. If the result is not below most, it need not be exact.
func (p *problem) estimate(f fleet, most float64) float64 {
	machines := f.list()
	price := p.kinds.cost(machines) + p.shortagePenalty(f)
	if price >= most {
		return price
	}
	outcomes := p.simulate(machines)
	for i := range outcomes {
		sum := 0.0
		w, x := &p.courses[i], &outcomes[i]
		if p.c.HasTopologyTerms() {
			sum += p.kinds.cost(p.buyForLeft(f, w, x))
		}
		for at, to := range x.to {
			if to < 0 {
				sum += leftMarkup * p.podValue[w.queue[at]]
			}
		}
		if price += sum / float64(len(outcomes)); price >= most {
			break
		}
	}
	return price
}

// simulate binds the pods in all courses.
func (p *problem) simulate(machines []int32) []bindResult {
	outcomes := make([]bindResult, len(p.courses))
	var all sync.WaitGroup
	for i := range p.courses {
		all.Go(func() { outcomes[i] = p.bind(machines, &p.courses[i]) })
	}
	all.Wait()
	return outcomes
}

const (
	// spare is the least room of a fleet, in multiples of the total request, at which some order may bind all
	// pods.
	spare = 1.002
	// shortageMarkup is the cost of missing room, in multiples of the pods' value.
	shortageMarkup = 2
)

// shortagePenalty returns the cost of the room that a fleet lacks to hold all pods.
func (p *problem) shortagePenalty(f fleet) float64 {
	missing, all := 0.0, 0.0
	for d, n := range p.load {
		have := float64(p.free[d])
		for k, m := range f {
			have += float64(m) * float64(p.kinds.list[k].room[d])
		}
		if n > 0 {
			missing = max(missing, 1-have/(spare*float64(n)))
		}
	}
	for c, n := range p.pods {
		all += p.podValue[c] * float64(n)
	}
	return shortageMarkup * missing * all
}

// mostPlayed bounds the nodes examined in the simulation of a plan whose pods have topology terms.
const mostPlayed = 20_000_000

// Playable reports whether a plan can be simulated in time.
func Playable(c *instance.Instance, plan *scheduling.Plan) bool {
	return !c.HasTopologyTerms() || looks(c, plan) <= mostPlayed
}

// mostReplans bounds the rounds in which machines are bought for pods that are left over.
const mostReplans = 10

// buyForLeft buys machines for the pods that are left over, until all are bound or no machine helps. It returns
// the machines to which some pod is bound.
func (p *problem) buyForLeft(f fleet, w *course, x *bindResult) (bought []int32) {
	if x.left == 0 {
		return nil
	}
	f = slices.Clone(f)
	kinds := map[int32]int32{} // by node
	for round := 0; x.left > 0 && round < mostReplans && !p.late(); round++ {
		more := p.extraMachines(w, x).list()
		f = p.kinds.extended(f)
		for _, k := range more {
			f[k]++
		}
		if len(more) == 0 || !p.affords(f) {
			break // no machine for sale holds the rest
		}
		for _, k := range more {
			kinds[int32(x.run.Join(p.kinds.list[k].machine))] = k //nolint:gosec // nodes are few
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

// Realised is the result of a plan in one course.
type Realised struct {
	Batches   int             // in which machines joined
	Later     offerings.Price // expected price of the machines bought for pods that were left over
	Elsewhere int             // pods on another node than planned, where equal pods are interchangeable
	Pending   map[int32]int   // by class: pods that no machine for sale helps; nil past a deadline
}

// Realise simulates a plan in all courses. It returns nil where the plan buys an offering that is not for sale
// or names unknown pods or nodes, where the simulation would take too long, and past the deadline.
func Realise(c *instance.Instance, plan *scheduling.Plan, params Params) []Realised {
	if !Playable(c, plan) || params.Late != nil && params.Late() {
		return nil
	}
	p := newProblem(c, plan, params)
	if p == nil {
		return nil
	}
	machines, f := make([]int32, len(p.launched)), p.kinds.newFleet()
	for i, m := range p.launched {
		machines[i] = int32(m.kind) //nolint:gosec // a number of kinds
		f[m.kind]++
	}
	out := make([]Realised, len(p.courses))
	for i, x := range p.simulate(machines) {
		w := &p.courses[i]
		out[i] = Realised{Batches: w.Batches, Elsewhere: p.movedPods(w, &x)}
		for _, k := range p.buyForLeft(f, w, &x) {
			o := &p.c.Offers.Offers[p.kinds.list[k].offer.Offer]
			out[i].Later = offerings.Sum(out[i].Later, p.c.Facts.Solver.ExpectedPrice(o.InstanceType, o.Offering))
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

// movedPods counts the pods that are on another node than planned.
func (p *problem) movedPods(w *course, x *bindResult) (n int) {
	planned, there := maps.Clone(p.planned), p.scheduler.Model.Existing()
	for i, to := range x.to {
		if int(to) >= there {
			to = int32(there + x.joined[int(to)-there]) //nolint:gosec // a number of nodes
		}
		if at := (podPosition{w.queue[i], to}); planned[at] > 0 {
			planned[at]--
		} else {
			n++
		}
	}
	return n
}
