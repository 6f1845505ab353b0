package fleet

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// problem is what may be bought for which pods, for as long as a search takes.
type problem struct {
	c         *compile.Compiler
	scheduler *binding.Scheduler
	kinds     []kind
	kindOf    map[offers.Purchase]int
	known     map[offers.Purchase]*kind
	pods      []int64   // by class, those that have a place in the solution
	worth     []float64 // by class, what a pod adds to the price
	load      []int64   // what these request together
	free      []int64   // what nodes that are there have left
	ways      []way
	wards     []ward
	late      func() bool
}

// kind is a machine on sale.
type kind struct {
	purchase offers.Purchase
	machine  int // of the scheduler
	cost     int64
	room     []int64
	admits   []bool // by class
}

// way is a course of events: an order of the pods, and in how many batches the nodes come.
type way struct {
	queue   []int32 // by class
	batches int
	seed    uint64
}

// domain is where a machine stands, as far as topology terms may tell.
type domain struct {
	zone     string
	capacity offerings.CapacityType
}

// ward is pods for which machines are bought together: all, or, where pods depend on each
// other, those that the solution puts into one domain.
type ward struct {
	domain
	bound bool // its machines have to be of the domain
	queue []int32
	kinds []int
}

// inBatches is in how many batches nodes come where they do not come at once: a provider that
// is asked for dozens of machines takes some minutes to deliver them all.
const inBatches = 6

// newProblem states the problem of a solution.
func newProblem(base, c *compile.Compiler, s *model.Solution, params Params) *problem {
	p := &problem{c: base, scheduler: binding.New(base), kindOf: map[offers.Purchase]int{}, known: map[offers.Purchase]*kind{}, late: params.Late}
	if p.late == nil {
		p.late = func() bool { return false }
	}
	p.pods = c.Placed(*s)
	p.load, p.free = make([]int64, base.Model.Dims), make([]int64, base.Model.Dims)
	for i, class := range base.Planned {
		for d, q := range class.Requests {
			p.load[d] += q * p.pods[i]
		}
	}
	for i := range base.Model.Bins {
		for d, q := range base.Model.Bins[i].Room {
			p.free[d] += q
		}
	}
	var queue []int32
	left := slices.Clone(p.pods)
	for _, pod := range p.scheduler.Queue() {
		if left[pod.Class] > 0 {
			left[pod.Class]--
			queue = append(queue, pod.Class)
		}
	}
	other := func(seed uint64) []int32 { return p.shuffled(queue, seed, params.Brief) }
	p.ways = []way{
		{queue: queue, batches: 1},
		{queue: other(1), batches: 1, seed: 1},
		{queue: other(2), batches: inBatches, seed: 2},
	}
	if !params.Brief {
		p.ways = append(p.ways, way{queue: other(3), batches: inBatches, seed: 3})
	}
	p.value(c, s)
	p.divide(c, s)
	return p
}

// shuffled is the queue in another order, the more urgent pods still first; with brief, equal
// pods that stand together stay together.
func (p *problem) shuffled(queue []int32, seed uint64, brief bool) []int32 {
	dice := rand.New(rand.NewPCG(seed, 0x71756575)) //nolint:gosec // an example of an order, not a secret
	var runs [][]int32
	for from := 0; from < len(queue); {
		to := from + 1
		for brief && to < len(queue) && queue[to] == queue[from] {
			to++
		}
		runs = append(runs, queue[from:to])
		from = to
	}
	dice.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	slices.SortStableFunc(runs, func(a, b []int32) int {
		return cmp.Compare(p.c.Planned[b[0]].Priority, p.c.Planned[a[0]].Priority)
	})
	return slices.Concat(runs...)
}

// kind is the number of what a purchase buys.
func (p *problem) kind(at offers.Purchase) int {
	if n, ok := p.kindOf[at]; ok {
		return n
	}
	k := *p.sold(at)
	k.machine = p.scheduler.Machine(at)
	p.kindOf[at] = len(p.kinds)
	p.kinds = append(p.kinds, k)
	return p.kindOf[at]
}

// sold is what a purchase buys.
func (p *problem) sold(at offers.Purchase) *kind {
	if k, ok := p.known[at]; ok {
		return k
	}
	k := &kind{purchase: at, cost: p.c.Offers.Offers[at.Offer].Cost, admits: make([]bool, len(p.c.Planned))}
	x := &p.c.Offered[at.Template]
	if i := slices.IndexFunc(x.List, func(o offers.TemplateOffer) bool { return o.Offer == at.Offer }); i >= 0 {
		k.room = p.c.Rooms.Rooms[x.List[i].Room]
	}
	for i, class := range p.c.Planned {
		row := x.Rows[class.Group]
		k.admits[i] = row != nil && row.Has(at.Offer)
	}
	p.known[at] = k
	return k
}

// each calls f with the machines of a solution, and the number of pods of each class there.
func each(c *compile.Compiler, s *model.Solution, f func(at offers.Purchase, n int64, pods []compile.Portion)) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		var pods []compile.Portion
		for _, it := range n.Items {
			for _, portion := range c.Parts[it.Class].Portions {
				pods = append(pods, compile.Portion{Class: portion.Class, N: it.N * portion.N})
			}
		}
		f(c.Bought[n.Option], n.N, pods)
	}
}

// value works out what pods are worth: their shares of the machines that they are on in a
// solution, and of the cheapest machine that holds them where they are on none.
func (p *problem) value(c *compile.Compiler, s *model.Solution) {
	classes := p.c.Planned
	sum, pods := make([]float64, len(classes)), make([]float64, len(classes))
	each(c, s, func(at offers.Purchase, n int64, items []compile.Portion) {
		k := &p.kinds[p.kind(at)]
		total := 0.0
		for _, it := range items {
			total += share(classes[it.Class].Requests, k.room) * float64(it.N)
		}
		for _, it := range items {
			if total > 0 {
				sum[it.Class] += float64(n*it.N*k.cost) * share(classes[it.Class].Requests, k.room) / total
				pods[it.Class] += float64(n * it.N)
			}
		}
	})
	p.worth = make([]float64, len(classes))
	for i, class := range classes {
		if pods[i] > 0 {
			p.worth[i] = sum[i] / pods[i]
			continue
		}
		for _, o := range p.c.Model.Options {
			if o.Admits.Has(class.Group) && model.Fits(o.Room, class.Requests) {
				if v := float64(o.Cost) * share(class.Requests, o.Room); p.worth[i] == 0 || v < p.worth[i] {
					p.worth[i] = v
				}
			}
		}
	}
}

// share is the part of a room that a request takes, on the average of the resources that it
// takes any of.
func share(request, room []int64) float64 {
	sum, n := 0.0, 0
	for d, q := range request {
		if q > 0 && room[d] > 0 {
			sum += float64(q) / float64(room[d])
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// divide puts the pods that a solution has on machines into wards, in the order of a shuffled queue.
func (p *problem) divide(c *compile.Compiler, s *model.Solution) {
	tied := p.c.Tied()
	left := map[domain][]int64{}
	var order []domain
	each(c, s, func(at offers.Purchase, n int64, items []compile.Portion) {
		d := domain{}
		if tied {
			d = p.domain(at)
		}
		if left[d] == nil {
			left[d] = make([]int64, len(p.c.Planned))
			order = append(order, d)
		}
		for _, it := range items {
			left[d][it.Class] += n * it.N
		}
	})
	for _, d := range order {
		p.wards = append(p.wards, ward{domain: d, bound: tied})
	}
	for i, class := range p.ways[1].queue {
		for at := range order {
			w := (i + at) % len(order) // in turns, so that each ward's pods come in the same order
			if n := left[order[w]]; n[class] > 0 {
				n[class]--
				p.wards[w].queue = append(p.wards[w].queue, class)
				break
			}
		}
	}
}

// domain is where a machine of a purchase stands.
func (p *problem) domain(at offers.Purchase) domain {
	o := p.c.Offers.Offers[at.Offer].Offering
	return domain{zone: o.Zone, capacity: o.CapacityType}
}
