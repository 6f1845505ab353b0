package disruption

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// planConstraints is what a plan has to keep to: who may go, how many at once, what that costs. It
// knows the cluster as it stands after the steps so far. Between two calls of took it is
// only read, also by several goroutines.
type planConstraints struct {
	planner    Planner
	cluster    *Cluster
	problem    *scheduling.Problem
	now        time.Time
	nodeCost   float64
	pools      map[string]*poolState
	ordered    []*poolState // by name
	nodes      []*candidate // nodes of the cluster by name, then launches of steps
	at         map[string]*candidate
	pods       map[string]*corev1.Pod // those that run, by name
	moved      map[string]string      // by pod, the node to which a step has moved it
	podBudgets *podBudgets
	replicas   map[string]int // by controller, its pods that run
	topology   *topologyIndex
	// loose are the nodes that might be disrupted before the first step.
	loose map[string]bool
	// patient lets more nodes go together than budgets of pools allow, if they allow any:
	// the search looks for what is to be had, and parts of it are done one after the other.
	patient bool
	// late sees nodes that steps have bought or moved pods to as the next plan may: they have been
	// left alone for as long as they have to be, unless they had not been before either.
	late bool
	// roughly says that nobody looks at the order in which pods leave: a move is worked out that
	// is made in parts.
	roughly bool
}

// candidate is a node, or a machine that a step has launched.
type candidate struct {
	name    string
	node    *corev1.Node // nil for a launch that the catalog does not know
	machine *Machine     // never nil
	known   *Machine     // the machine as it was before any step
	pool    *poolState   // nil where no pool that is there owns it
	// pods are those there, ended ones aside; movers of them those that live on when the
	// node goes. Both are in the order of names.
	pods, movers []*corev1.Pod
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
	// expecting says that pods which wait are planned onto it.
	expecting bool
	// gone says that a step has removed it, received that a step has moved pods onto it,
	// fresh that a step has bought it.
	gone, received, fresh bool
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

// newConstraints reads a valid cluster.
func newConstraints(p Planner, c *Cluster) *planConstraints {
	f := &planConstraints{
		planner: p, cluster: c, topology: newTopologyIndex(&c.Problem), problem: &c.Problem, now: p.Now, nodeCost: cmp.Or(p.NodeCost, 1),
		pools: map[string]*poolState{}, at: make(map[string]*candidate, len(c.Nodes)), pods: make(map[string]*corev1.Pod, len(c.Running)), moved: map[string]string{}, replicas: map[string]int{},
	}
	if f.now.IsZero() {
		f.now = c.Now
	}
	for _, pool := range c.NodePools {
		wanted, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			wanted = requirements.Set{} // refused by validation
		}
		f.pools[pool.Name] = &poolState{pool: pool, catalog: catalogOf(&c.Problem, pool.Name), wanted: wanted, budgets: inForce(pool, f.now)}
	}
	for _, name := range slices.Sorted(maps.Keys(f.pools)) {
		f.ordered = append(f.ordered, f.pools[name])
	}
	machines := make(map[string]*Machine, len(c.Machines))
	for i := range c.Machines {
		machines[c.Machines[i].Node] = &c.Machines[i]
	}
	for _, node := range c.Nodes {
		s := &candidate{name: node.Name, node: node, machine: machineOf(machines, node.Name), known: machineOf(machines, node.Name), pool: f.pools[node.Labels[scheduling.NodePoolLabel]]}
		f.nodes = append(f.nodes, s)
		f.at[s.name] = s
	}
	slices.SortFunc(f.nodes, func(a, b *candidate) int { return strings.Compare(a.name, b.name) })
	counted := slices.Clone(c.Pods) // pods for budgets: those that wait, too
	for _, pods := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range pods {
			s := f.at[pod.Spec.NodeName]
			if pod.Spec.NodeName == "" || podspec.Terminal(pod) {
				continue
			}
			f.pods[podspec.PodName(pod)] = pod
			f.replicas[controllerOf(pod)]++
			if s != nil {
				s.pods = append(s.pods, pod)
			}
		}
	}
	f.podBudgets = newPodBudgets(c.PodDisruptionBudgets, append(counted, c.Running...))
	for _, s := range f.nodes {
		f.derive(s)
		f.count(s, 1)
		s.held, s.drifted = f.podBlockers(s), f.drift(s)
	}
	f.loose = f.leaving()
	return f
}

// derive works out what follows from a node and its pods.
func (f *planConstraints) derive(s *candidate) {
	slices.SortFunc(s.pods, podspec.ComparePods)
	s.movers, s.bare = nil, nil
	for _, pod := range s.pods {
		if !reschedulable(pod) {
			continue
		}
		s.movers = append(s.movers, pod)
		if bare(pod) {
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
func (f *planConstraints) count(s *candidate, sign int) {
	p := s.pool
	if p == nil {
		return
	}
	p.price = clampPrice(p.price, offerings.Price(sign)*s.price)
	p.cost += float64(sign) * s.cost
	switch {
	case s.node == nil:
		p.counted += sign
	case s.initialized() && !s.machine.Terminating:
		p.counted += sign
		if !atWork(s.node) || s.going() {
			p.away += sign
		}
	}
}

// initialized reports whether a node has become ready once.
func (s *candidate) initialized() bool {
	return s.node == nil || s.node.Labels[scheduling.InitializedLabel] == "true"
}

// going reports whether a node is being removed already.
func (s *candidate) going() bool {
	return s.node != nil && (s.machine.Terminating || podspec.Going(s.node))
}

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
func (s *candidate) poolName() string {
	if s.pool != nil {
		return s.pool.pool.Name
	}
	if s.node == nil {
		return ""
	}
	return s.node.Labels[scheduling.NodePoolLabel]
}

// machineOf returns what is known of a node's machine, never nil.
func machineOf(machines map[string]*Machine, node string) *Machine {
	if m := machines[node]; m != nil {
		return m
	}
	return &Machine{}
}

// clone is one of its own that knows the same.
func (f *planConstraints) clone() *planConstraints {
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
	out.pods, out.moved = maps.Clone(f.pods), maps.Clone(f.moved)
	return &out
}
