package fleet

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
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
	ranks     []int32 // of NodePools by weight
	known     map[offers.Purchase]*kind
	given     []machine                    // of the plan
	planned   map[position]int             // how many pods the plan has where
	keys      []string                     // of the labels that topology terms are about, that of hosts aside
	spread    []place                      // where fleets have to have machines
	hosts     []int32                      // by class, how many machines that admit it a fleet has to have
	sales     map[string][]offers.Purchase // what may be bought, by domain; nil before it is asked for
	pods      []int64                      // by class, those that have a place in the plan
	worth     []float64                    // by class, what a pod adds to the price
	load      []int64                      // what these request together
	free      []int64                      // what nodes that are there have left
	courses   []course
	domains   []domain
	anywhere  domain // of no pods and no domain
	late      func() bool
}

// position is a node with pods of a class, by number: those that are there, after these the machines of the plan.
type position struct{ class, node int32 }

// kind is a machine on sale.
type kind struct {
	purchase offers.Purchase
	rank     int32 // of its NodePool's weight, the highest first
	machine  int   // of the scheduler
	cost     int64
	room     []int64
	admits   []bool // by class
}

// machine is a machine of a plan with the pods of each class that are planned there.
type machine struct {
	kind int
	pods []int64
}

// place is a domain of a topology key.
type place struct{ key, value string }

// course is a course of events for the pods that have a place in the plan.
type course struct {
	Course
	queue []int32 // in its order, by class
}

// domain is pods for which machines are bought together: all, or, where pods depend on each
// other, those that the plan puts into one domain.
type domain struct {
	name  string
	bound bool // its machines have to be of the domain
	queue []int32
	kinds []int
	sale  []*kind // what may be bought for it; nil where it has not been asked for
	// boundless is the kind of node that stands for all of its machines; 0 where it has not
	// been made yet.
	boundless int
}

// newProblem states the problem of a plan. It is nil where the plan buys what is not on sale
// or names pods or nodes that are not there.
func newProblem(c *compile.Compiler, plan *scheduling.Plan, params Params) *problem {
	p := &problem{
		c: c, scheduler: binding.New(c), kindOf: map[offers.Purchase]int{}, ranks: c.WeightRank(), known: map[offers.Purchase]*kind{}, late: params.Late,
		keys: slices.Sorted(maps.Keys(c.TiedKeys(nil, false))), pods: make([]int64, len(c.Planned)),
	}
	if p.late == nil {
		p.late = func() bool { return false }
	}
	if !p.read(plan) {
		return nil
	}
	p.load, p.free = make([]int64, c.Dims()), make([]int64, c.Dims())
	for i, class := range c.Planned {
		for d, q := range class.Requests {
			p.load[d] += q * p.pods[i]
		}
	}
	for i := range c.Bins {
		for d, q := range c.Bins[i].Room {
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
	if slices.ContainsFunc(left, func(n int64) bool { return n > 0 }) {
		return nil
	}
	for _, x := range Courses(c, queue, params.Brief) {
		w := course{x, make([]int32, len(queue))}
		for i, at := range x.Order {
			w.queue[i] = queue[at]
		}
		p.courses = append(p.courses, w)
	}
	p.value()
	p.divide()
	p.readSpread()
	return p
}

// read reads which machines a plan buys, and where it puts pods.
func (p *problem) read(plan *scheduling.Plan) bool {
	classOf, launches := p.c.ClassByPod(), compile.NewLaunches(p.c)
	known := true
	p.planned = map[position]int{}
	count := func(pods []string, node int) []int64 {
		out := make([]int64, len(p.c.Planned))
		for _, name := range pods {
			c, ok := classOf[name]
			if !ok {
				known = false
				continue
			}
			out[c]++
			p.pods[c]++
			p.planned[position{int32(c), int32(node)}]++
		}
		return out
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		at, ok := launches.Purchase(l)
		if !ok || p.sold(at).room == nil {
			return false
		}
		p.given = append(p.given, machine{p.kind(at), count(l.Pods, p.scheduler.Model.Existing()+i)})
	}
	for _, x := range plan.Existing {
		n, ok := p.scheduler.Model.Node(x.Node)
		if !ok {
			return false
		}
		count(x.Pods, int(n))
	}
	return known
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
	k := &kind{
		purchase: at, rank: p.ranks[p.c.Templates[at.Template].Number], cost: p.c.Offers.Offers[at.Offer].Cost,
		admits: make([]bool, len(p.c.Planned)),
	}
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

// value works out what pods are worth: their shares of the machines that they are planned on,
// and of the cheapest machine that holds them where they are on none.
func (p *problem) value() {
	classes := p.c.Planned
	sum, pods := make([]float64, len(classes)), make([]float64, len(classes))
	for _, m := range p.given {
		k := &p.kinds[m.kind]
		total := 0.0
		for c, n := range m.pods {
			total += share(classes[c].Requests, k.room) * float64(n)
		}
		for c, n := range m.pods {
			if total > 0 && n > 0 {
				sum[c] += float64(n*k.cost) * share(classes[c].Requests, k.room) / total
				pods[c] += float64(n)
			}
		}
	}
	p.worth = make([]float64, len(classes))
	for i, class := range classes {
		if pods[i] > 0 {
			p.worth[i] = sum[i] / pods[i]
			continue
		}
		for _, o := range p.c.Unsited().Model.Options {
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

// divide puts the pods that are planned on machines into domains, in the order of a shuffled queue.
func (p *problem) divide() {
	left := map[string][]int64{}
	var order []string
	for _, m := range p.given {
		d := p.domainName(p.kinds[m.kind].purchase)
		if left[d] == nil {
			left[d] = make([]int64, len(p.c.Planned))
			order = append(order, d)
		}
		for c, n := range m.pods {
			left[d][c] += n
		}
	}
	for _, d := range order {
		p.domains = append(p.domains, domain{name: d, bound: p.c.Tied()})
	}
	for i, class := range p.courses[1].queue {
		for at := range order {
			w := (i + at) % len(order) // in turns, so that each domain's pods come in the same order
			if n := left[order[w]]; n[class] > 0 {
				n[class]--
				p.domains[w].queue = append(p.domains[w].queue, class)
				break
			}
		}
	}
}

// readSpread notes where the plan has pods whose spread has to hold. Plans count each domain in which pods
// could be, kube-scheduler those that have nodes: where a fleet had none in some, it would put all pods into the others.
// Of hosts there are as many domains as there are machines.
func (p *problem) readSpread() {
	p.hosts = make([]int32, len(p.pods))
	for _, m := range p.given {
		for c, n := range m.pods {
			if n == 0 {
				continue
			}
			for _, key := range p.c.TopologyTerms.List[p.c.Planned[c].TopologyTerms].SpreadKeys(true) {
				key = requirements.NormalizeKey(key)
				at := place{key, p.label(p.kinds[m.kind].purchase, key)}
				if key == corev1.LabelHostname {
					p.hosts[c]++
				} else if !slices.Contains(p.spread, at) {
					p.spread = append(p.spread, at)
				}
			}
		}
	}
}

// spreads reports whether a fleet has machines wherever it has to.
func (p *problem) spreads(f fleet) bool {
	for c, hosts := range p.hosts {
		for k := 0; hosts > 0 && k < len(f); k++ {
			if p.kinds[k].admits[c] {
				hosts -= f[k]
			}
		}
		if hosts > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(p.spread, func(at place) bool {
		for k, n := range f {
			if n > 0 && p.label(p.kinds[k].purchase, at.key) == at.value {
				return false
			}
		}
		return true
	})
}

// readSales lists what may be bought by where it stands.
func (p *problem) readSales() {
	p.sales = map[string][]offers.Purchase{}
	for ti := range p.c.Offered {
		for _, o := range p.c.Offered[ti].List {
			if at := (offers.Purchase{Template: ti, Offer: o.Offer}); p.c.Offers.Offers[o.Offer].Launchable {
				d := p.domainName(at)
				p.sales[d] = append(p.sales[d], at)
			}
		}
	}
}

// label is the value of a topology key on machines of a purchase.
func (p *problem) label(at offers.Purchase, key string) string {
	value, _ := p.c.Offers.LabelOf(p.c.Templates[at.Template], at.Offer, key)
	return value
}

// domainName is where a machine of a purchase stands, as far as topology terms may tell.
func (p *problem) domainName(at offers.Purchase) string {
	var out strings.Builder
	for _, key := range p.keys {
		out.WriteString(p.label(at, key) + "\x00")
	}
	return out.String()
}
