package disruption

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// state is the cluster as it stands once some steps are done, with what a plan has to keep to: who
// may go, how many at once, and what that costs. Once it is open, two sessions hold it as well, for
// what-ifs that may buy and for those that may not.
type state struct {
	planner  Planner
	cluster  *Cluster
	problem  *scheduling.Problem
	now      time.Time
	nodeCost float64
	pools    map[string]*poolState
	ordered  []*poolState // by name
	// nodes are those of the cluster by name, then launches of steps; those that are gone as well.
	nodes []*candidate
	at    map[string]*candidate
	// pods are those that run, and those that wait and will go to a node, by name; whereabouts is, by
	// pod, where it is if not where its specification says: a step has moved it, or it waits, and runs
	// until then on a node that is going or nowhere.
	pods        map[string]*corev1.Pod
	whereabouts map[string]string
	podBudgets  *eviction.Budgets
	replicas    map[string]int // by controller, its pods that run
	// loose are the nodes that might be disrupted before the first step.
	loose map[string]bool

	// market may buy, free has no pools. Both hold the same otherwise, but that free does
	// not hold the pods that wait. In both, nodes that may receive nobody are closed: they keep
	// their pods, labels and capacity, and have no room.
	market, free *provisioning.Session
	// held are changes that the sessions have not been told yet; nil while they are told at once.
	held *scheduling.Delta
	// waits are the pods that wait for a machine that somebody else has to buy, by name.
	waits map[string]*corev1.Pod
	// pending is what becomes of the cluster's pods that have no node.
	pending  *Pending
	capacity *capacity
	// landing is the cluster as kube-scheduler's filters and scores see it; nil until the state is open.
	landing *landing.Landing
	// pinned says that evicted pods land where a step says. Otherwise kube-scheduler binds them, as landing simulates.
	pinned bool
	// lifted are pods without a node, ready to be placed, by name. Copies share it.
	lifted map[string]*corev1.Pod
	// bought counts the launches, by pool: their names go on from there. used are names of
	// machines of plans before that are gone.
	bought map[string]int
	used   map[string]bool
	// stock is what is on sale now: reservations have lost what steps bought from them.
	stock stock.Stock

	// over reports whether there is no more time.
	over func() bool
	// searching says that moves are looked for that are made in parts later: more nodes go together than budgets of
	// pools allow, if they allow any; the order in which pods leave is not looked at; and nodes that steps have
	// bought or moved pods to have been left alone for as long as they have to be, unless they had not been before either.
	searching bool
	// unexplained says that nobody asks why nodes stay.
	unexplained bool
}

// candidate is a node, or a machine that a step has launched.
type candidate struct {
	name    string
	node    *corev1.Node
	machine *Machine   // never nil
	known   *Machine   // the machine as it was before any step
	pool    *poolState // nil where no pool that is there owns it
	// pods are those there, ended ones aside; movers of them those that live on when the
	// node goes. Both are in the order of names. expected wait and will go there.
	pods, movers, expected []*corev1.Pod
	// price is its expected price, see [scheduling.Policy.ExpectedPrice], paid that of the
	// machine alone.
	price, paid offerings.Price
	priced      bool
	// cost is what removing it counts.
	cost float64
	// held are what the pods that were there at first have against being evicted, drifted is
	// how the node is no longer what its pool asks for.
	held    []Cause
	drifted string
	// bare are pods there that no controller would make again.
	bare []*corev1.Pod
	// room is what may be asked for there, see capacity.
	room []int64
	// shut counts the reasons to let nobody in.
	shut int
	// gone says that a step has removed it, received that a step has moved pods onto it,
	// fresh that a step has bought it.
	gone, received, fresh bool
	// stays says that no step is to save something by removing it: one has moved pods onto it. Where
	// kube-scheduler spreads pods of nodes that had to go over all others, those may be moved on.
	stays bool
}

// poolState is a NodePool and what there is of it now.
type poolState struct {
	pool    *scheduling.NodePool
	catalog *instancetypes.Catalog
	// wanted is what the pool requires of nodes.
	wanted  requirements.Set
	budgets []scheduling.Budget // those in force
	// counted are the nodes that percentages are of, away those of them that are not at
	// work already.
	counted, away int
	price         offerings.Price // of all its nodes whose price is known
	cost          float64         // of removing all its nodes
}

// newState reads a valid cluster, without sessions.
func newState(p Planner, c *Cluster) *state {
	f := &state{
		planner: p, cluster: c, problem: &c.Problem, now: p.Now, nodeCost: cmp.Or(p.NodeCost, 1),
		pools: map[string]*poolState{}, at: make(map[string]*candidate, len(c.Nodes)), pods: make(map[string]*corev1.Pod, len(c.Running)), whereabouts: map[string]string{}, replicas: map[string]int{},
		waits: map[string]*corev1.Pod{}, lifted: map[string]*corev1.Pod{}, bought: map[string]int{}, used: map[string]bool{}, stock: stock.New(&c.Problem), over: func() bool { return false },
	}
	if f.now.IsZero() {
		f.now = c.Now
	}
	for _, pool := range c.NodePools {
		wanted, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			wanted = requirements.Set{} // refused by validation
		}
		f.pools[pool.Name] = &poolState{pool: pool, catalog: c.CatalogOf(pool.Name), wanted: wanted, budgets: inForce(pool, f.now)}
	}
	for _, name := range slices.Sorted(maps.Keys(f.pools)) {
		f.ordered = append(f.ordered, f.pools[name])
	}
	machines := make(map[string]*Machine, len(c.Machines))
	for i := range c.Machines {
		machines[c.Machines[i].Node] = &c.Machines[i]
	}
	for _, node := range c.Nodes {
		m := cmp.Or(machines[node.Name], &Machine{})
		s := &candidate{name: node.Name, node: node, machine: m, known: m, pool: f.pools[node.Labels[scheduling.NodePoolLabel]]}
		f.nodes = append(f.nodes, s)
		f.at[s.name] = s
	}
	slices.SortFunc(f.nodes, func(a, b *candidate) int { return strings.Compare(a.name, b.name) })
	for _, pods := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range pods {
			s := f.at[pod.Spec.NodeName]
			if pod.Spec.NodeName == "" || podspec.Terminal(pod) {
				continue
			}
			f.pods[podspec.PodName(pod)] = pod
			f.replicas[eviction.ControllerOf(pod)]++
			if s != nil {
				s.pods = append(s.pods, pod)
			}
		}
	}
	f.podBudgets = eviction.NewBudgets(c.PodDisruptionBudgets, f.counted())
	f.reserveBudgets(c.Underway)
	for _, s := range f.nodes {
		f.derive(s)
		f.count(s, 1)
		s.held, s.drifted = f.podBlockers(s), f.drift(s)
	}
	f.loose = f.leaving()
	return f
}

// counted are the pods that PodDisruptionBudgets count: those that wait, too.
func (f *state) counted() []*corev1.Pod { return slices.Concat(f.cluster.Pods, f.cluster.Running) }

// derive works out what follows from a node and its pods.
func (f *state) derive(s *candidate) {
	slices.SortFunc(s.pods, podspec.ComparePods)
	s.movers, s.bare = nil, nil
	for _, pod := range s.pods {
		if !eviction.Reschedulable(pod) {
			continue
		}
		s.movers = append(s.movers, pod)
		if eviction.Bare(pod) {
			s.bare = append(s.bare, pod)
		}
	}
	s.cost = f.removal(s.movers)
	if s.fresh {
		return // its price is that of its launch
	}
	catalog := f.problem.Catalog
	if s.pool != nil {
		catalog = s.pool.catalog
	}
	t, o := boughtAt(s.node, catalog)
	if s.price, s.paid, s.priced = 0, 0, o != nil; s.priced {
		s.price, s.paid = f.planner.Policy.ExpectedPrice(t, o), o.Price
	}
}

// count adds a node to what is known of its pool, or takes it out by sign -1.
func (f *state) count(s *candidate, sign int) {
	p := s.pool
	if p == nil {
		return
	}
	p.price = clampPrice(p.price, offerings.Price(sign)*s.price)
	p.cost += float64(sign) * s.cost
	if s.initialized() && !s.machine.Terminating {
		p.counted += sign
		if !atWork(s.node) || s.going() {
			p.away += sign
		}
	}
}

// initialized reports whether a node has become ready once; launches are waited for until they have.
func (s *candidate) initialized() bool {
	return s.fresh || s.node.Labels[scheduling.InitializedLabel] == "true"
}

// going reports whether a node is being removed already.
func (s *candidate) going() bool { return s.machine.Terminating || podspec.Going(s.node) }

// atWork reports whether a node is at work: it says so, or says nothing about it.
func atWork(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// poolName is the name of the pool that a node says it belongs to.
func (s *candidate) poolName() string { return s.node.Labels[scheduling.NodePoolLabel] }

// standing is a node that is there, nil for others.
func (f *state) standing(name string) *candidate {
	if s := f.at[name]; s != nil && !s.gone {
		return s
	}
	return nil
}

// running yields the nodes that are there, but for some.
func (f *state) running(but ...string) iter.Seq[*corev1.Node] {
	return func(yield func(*corev1.Node) bool) {
		for _, s := range f.nodes {
			if !s.gone && s.node != nil && !slices.Contains(but, s.name) && !yield(s.node) {
				return
			}
		}
	}
}

// names are those of the nodes that are there, sorted.
func (f *state) names() []string {
	return slices.Sorted(maps.Keys(f.nodesThat(func(s *candidate) bool { return !s.gone })))
}

// nodesThat are the names of the nodes for which something holds.
func (f *state) nodesThat(holds func(*candidate) bool) map[string]bool {
	out := map[string]bool{}
	for _, s := range f.nodes {
		if holds(s) {
			out[s.name] = true
		}
	}
	return out
}

// receiving are the nodes that steps have bought or moved pods to.
func (f *state) receiving() map[string]bool {
	return f.nodesThat(func(s *candidate) bool { return s.received || s.fresh })
}

// staying are those of them that a search leaves where they are.
func (f *state) staying() map[string]bool {
	return f.nodesThat(func(s *candidate) bool { return s.stays || s.fresh })
}

// large reports whether the cluster has so many nodes that steps are made as they are found.
func (f *state) large() bool { return len(f.problem.Nodes) >= manyNodes }

// home is the name of the node where a pod is now, "" if it is on none.
func (f *state) home(pod *corev1.Pod) string {
	if to, ok := f.whereabouts[podspec.PodName(pod)]; ok {
		return to
	}
	return pod.Spec.NodeName
}

// fork is a state of its own that stands where f does.
func (f *state) fork() *state {
	out := *f
	out.pools, out.ordered = make(map[string]*poolState, len(f.pools)), nil
	for _, p := range f.ordered {
		own := *p
		out.pools[p.pool.Name] = &own
		out.ordered = append(out.ordered, &own)
	}
	out.nodes, out.at = make([]*candidate, len(f.nodes)), make(map[string]*candidate, len(f.at))
	for i, s := range f.nodes {
		own := *s
		if s.pool != nil {
			own.pool = out.pools[s.pool.pool.Name]
		}
		out.nodes[i], out.at[s.name] = &own, &own
	}
	out.landing = f.landing.Fork(0)
	if f.market != nil {
		out.market, out.free = f.market.Fork(), f.free.Fork()
	}
	out.pods, out.whereabouts, out.waits = maps.Clone(f.pods), maps.Clone(f.whereabouts), maps.Clone(f.waits)
	out.bought, out.used = maps.Clone(f.bought), maps.Clone(f.used)
	return &out
}
