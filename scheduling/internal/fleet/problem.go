package fleet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// problem is the machines on sale and the pods of a plan, for one search.
type problem struct {
	c         *instance.Instance
	scheduler *binding.Scheduler
	kinds     *kindTable
	launched  []machine           // of the plan
	planned   map[podPosition]int // pods by planned position
	spread    []spreadDomain      // domains in which a fleet must have a machine
	hosts     []int32             // by class: number of admitting machines that a fleet must have
	pods      []int64             // by class, those that have a place in the plan
	podValue  []float64           // by class: cost of one pod
	load      []int64             // total request of the pods
	free      []int64             // total free room of existing nodes
	courses   []course
	domains   []domain
	anywhere  domain // for pods without a domain
	late      func() bool
}

// podPosition is a class on a node. Existing nodes come first, then the machines of the plan.
type podPosition struct{ class, node int32 }

// machine is a machine of the plan, with its planned pods by class.
type machine struct {
	kind int
	pods []int64
}

// spreadDomain is a value of a topology key.
type spreadDomain struct{ key, value string }

// course is a [Course] for the pods that have a place in the plan.
type course struct {
	Course
	queue []int32 // in its order, by class
}

// domain is pods whose machines are bought together: all pods, or, where pods have topology terms, the pods
// that the plan puts into one domain.
type domain struct {
	name  string
	bound bool // its machines must be of the domain
	queue []int32
	kinds []int
	sale  []*kind // kinds for sale; nil until needed
	// unbounded is the node that stands for all machines of the domain; 0 until it is made.
	unbounded int
}

// newProblem returns the problem of a plan; nil where the plan buys an offering that is not for sale or names
// unknown pods or nodes.
func newProblem(c *instance.Instance, plan *scheduling.Plan, params Params) *problem {
	scheduler := binding.New(c)
	p := &problem{c: c, scheduler: scheduler, kinds: newKindTable(c, scheduler), pods: make([]int64, len(c.Planned)), late: params.Late}
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

// read reads the machines and positions of a plan, and reports whether it knows all of them.
func (p *problem) read(plan *scheduling.Plan) bool {
	classOf, launches := p.c.ClassByPod(), instance.NewLaunches(p.c)
	known := true
	p.planned = map[podPosition]int{}
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
			p.planned[podPosition{int32(c), int32(node)}]++
		}
		return out
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		at, ok := launches.OfferOf(l)
		if !ok || p.kinds.of(at).room == nil {
			return false
		}
		p.launched = append(p.launched, machine{p.kinds.number(at), count(l.Pods, p.scheduler.Model.Existing()+i)})
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

// value computes the values of pods: their shares of the cost of the machines that they are planned on, or of
// the cheapest machine if they are planned on none.
func (p *problem) value() {
	classes := p.c.Planned
	sum, pods := make([]float64, len(classes)), make([]float64, len(classes))
	for _, m := range p.launched {
		k := &p.kinds.list[m.kind]
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
	p.podValue = make([]float64, len(classes))
	for i, class := range classes {
		if pods[i] > 0 {
			p.podValue[i] = sum[i] / pods[i]
			continue
		}
		for _, o := range p.c.Unsited().Model.Options {
			if o.Admits.Has(class.Group) && model.Fits(o.Room, class.Requests) {
				if v := float64(o.Cost) * share(class.Requests, o.Room); p.podValue[i] == 0 || v < p.podValue[i] {
					p.podValue[i] = v
				}
			}
		}
	}
}

// share returns the part of a room that a request takes, averaged over the requested resources.
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

// divide divides the planned pods into domains, in the order of a shuffled queue.
func (p *problem) divide() {
	left := map[string][]int64{}
	var order []string
	for _, m := range p.launched {
		d := p.kinds.domainName(p.kinds.list[m.kind].offer)
		if left[d] == nil {
			left[d] = make([]int64, len(p.c.Planned))
			order = append(order, d)
		}
		for c, n := range m.pods {
			left[d][c] += n
		}
	}
	for _, d := range order {
		p.domains = append(p.domains, domain{name: d, bound: p.c.HasTopologyTerms()})
	}
	for i, class := range p.courses[1].queue {
		for at := range order {
			w := (i + at) % len(order) // in turns, so that the pods of all domains have the same order
			if n := left[order[w]]; n[class] > 0 {
				n[class]--
				p.domains[w].queue = append(p.domains[w].queue, class)
				break
			}
		}
	}
}

// readSpread notes the domains with pods that have required spread constraints. Plans count each domain in
// which pods could be, kube-scheduler only domains with nodes: if a fleet had none in one of them,
// kube-scheduler would put all pods into the others. Each host is a domain, so for hosts the number of machines
// counts.
func (p *problem) readSpread() {
	p.hosts = make([]int32, len(p.pods))
	for _, m := range p.launched {
		for c, n := range m.pods {
			if n == 0 {
				continue
			}
			for _, key := range p.c.TopologyTerms.List[p.c.Planned[c].TopologyTerms].SpreadKeys(true) {
				key = requirements.NormalizeKey(key)
				at := spreadDomain{key, p.kinds.label(p.kinds.list[m.kind].offer, key)}
				if key == corev1.LabelHostname {
					p.hosts[c]++
				} else if !slices.Contains(p.spread, at) {
					p.spread = append(p.spread, at)
				}
			}
		}
	}
}

// spreads reports whether a fleet has machines in all domains that it needs.
func (p *problem) spreads(f fleet) bool {
	for c, hosts := range p.hosts {
		for k := 0; hosts > 0 && k < len(f); k++ {
			if p.kinds.list[k].admits[c] {
				hosts -= f[k]
			}
		}
		if hosts > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(p.spread, func(at spreadDomain) bool {
		for k, n := range f {
			if n > 0 && p.kinds.label(p.kinds.list[k].offer, at.key) == at.value {
				return false
			}
		}
		return true
	})
}
