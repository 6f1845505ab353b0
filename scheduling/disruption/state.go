package disruption

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/budget"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/room"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
)

// state is the cluster as it is after some steps of a plan: nodes, pods and pools, which of them may be disrupted, and
// at which cost. Steps change it (take); fork returns an independent copy. Once openState has returned it, two
// sessions of package provisioning hold the same cluster and simulate scheduling: one that may launch machines, one
// that may not.
type state struct {
	planner Planner
	cluster *Cluster
	problem *scheduling.Problem
	rules   *rules // the same for all forks
	pools   map[string]*poolState
	ordered []*poolState // by name
	// nodes are the nodes of the cluster by name, then the launches of steps in their order. Removed ones stay in the
	// list.
	nodes  []*candidate
	byName map[string]*candidate
	// pods are the pods on nodes, by name, and the pending pods that fit on an existing node. currentNode has the
	// pods whose node differs from their specification: a step has moved them, or they are expected on a node and run
	// on another one until then ("" for none).
	pods        map[string]*corev1.Pod
	currentNode map[string]string
	// replicas counts the running pods of each controller.
	replicas map[string]int
	// division says how SpotPolicies divide the pods; nil without policies.
	division *spotshare.Division
	// disruptable are the nodes that may be disrupted for some reason before the first step.
	disruptable map[string]bool

	// sessions hold the same cluster, to ask where pods would go; the one that may not launch does not hold the pods of
	// awaitingLaunch. nil for a state that is asked no such question.
	sessions *session.Sessions
	// awaitingLaunch are the pending pods that fit on no existing node, by name. A provisioner has to launch their
	// machines.
	awaitingLaunch map[string]*corev1.Pod
	// pending counts the cluster's pods that have no node, roomPending the virtual ones; room are those with room before the first step.
	pending, roomPending *Pending
	room                 []scheduling.Assignment
	// requests are the requests of pods and the capacity of nodes in numbers; nil until openState has returned.
	requests *room.Requests
	// landing is the cluster as kube-scheduler's filters and scores see it; nil until openState has returned.
	landing *landing.Landing
	// pinned says that evicted pods run where a step says. Otherwise kube-scheduler binds them, as landing simulates.
	pinned bool
	// launchCount is the highest number in the names of launches, by pool; the next launch has the next number.
	// usedNames are names of removed machines of earlier plans, which must not come again.
	launchCount map[string]int
	usedNames   map[string]bool
	// stock is the catalog as it is now: reservations have fewer machines by the launches of steps.
	stock stock.Stock

	// outOfTime reports whether the deadline has passed.
	outOfTime func() bool
	// searching says that the moves are only the end of a search, which is split into steps later. Then a move may
	// disrupt more nodes of a pool than its budgets allow at once, unless they allow none; the order of evictions is
	// not checked; and nodes that steps have launched or moved pods to are consolidatable at once, if they were
	// before.
	searching bool
	// skipExplanations says that the plan need not say why nodes stay.
	skipExplanations bool
}

// newState reads a valid cluster with its pods divided by SpotPolicies, without sessions.
func newState(p Planner, c *Cluster) *state {
	c, _ = divided(c)
	f := &state{
		planner: p, cluster: c, problem: &c.Problem, rules: newRules(p, c),
		pools: map[string]*poolState{}, byName: make(map[string]*candidate, len(c.Nodes)), pods: make(map[string]*corev1.Pod, len(c.Running)), currentNode: map[string]string{}, replicas: map[string]int{},
		awaitingLaunch: map[string]*corev1.Pod{}, launchCount: map[string]int{}, usedNames: map[string]bool{}, stock: stock.New(&c.Problem), outOfTime: func() bool { return false },
	}
	for _, pool := range c.NodePools {
		wanted, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			wanted = requirements.Set{} // refused by validation
		}
		f.pools[pool.Name] = &poolState{
			pool: pool, catalog: c.CatalogOf(pool.Name), required: wanted, budgets: budget.At(pool, f.rules.now),
			sums: pricing.Pool{Name: pool.Name, Balanced: pool.Spec.Disruption.ConsolidationPolicy == scheduling.Balanced},
		}
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
		s := &candidate{name: node.Name, node: node, machine: m, original: m, pool: f.pools[node.Labels[scheduling.NodePoolLabel]]}
		f.nodes = append(f.nodes, s)
		f.byName[s.name] = s
	}
	slices.SortFunc(f.nodes, func(a, b *candidate) int { return strings.Compare(a.name, b.name) })
	for _, pods := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range pods {
			s := f.byName[pod.Spec.NodeName]
			if pod.Spec.NodeName == "" || lifecycle.Ended(pod) {
				continue
			}
			f.pods[podspec.PodName(pod)] = pod
			f.replicas[eviction.ControllerOf(pod)]++
			if s != nil {
				s.pods = append(s.pods, pod)
			}
		}
	}
	f.rules.reserveBudgets(c.Underway, f.pods)
	for _, s := range f.nodes {
		f.update(s)
		f.countInPool(s, 1)
		s.podCauses, s.drifted = f.rules.podBlockers(s), f.rules.drift(s)
	}
	f.disruptable = f.nodesWhere(f.rules.mayDisrupt)
	return f
}

// update derives from the pods of a node which of them are reschedulable, its disruption cost and its price.
func (f *state) update(s *candidate) {
	slices.SortFunc(s.pods, podspec.ComparePods)
	s.reschedulable, s.bare = nil, nil
	for _, pod := range s.pods {
		if !eviction.Reschedulable(pod) {
			continue
		}
		s.reschedulable = append(s.reschedulable, pod)
		if eviction.Bare(pod) {
			s.bare = append(s.bare, pod)
		}
	}
	s.cost = f.rules.costs.Removal(s.reschedulable)
	if s.launched {
		return // its price is that of its launch
	}
	catalog := f.problem.Catalog
	if s.pool != nil {
		catalog = s.pool.catalog
	}
	s.price, s.machinePrice, s.priced = f.prices().Node(s.node, catalog)
}

// existing is the node of a name that has not been removed; nil if there is none.
func (f *state) existing(name string) *candidate {
	if s := f.byName[name]; s != nil && !s.removed {
		return s
	}
	return nil
}

// nodesExcept yields the nodes that have not been removed, without the given names.
func (f *state) nodesExcept(but ...string) iter.Seq[*corev1.Node] {
	return func(yield func(*corev1.Node) bool) {
		for _, s := range f.nodes {
			if !s.removed && s.node != nil && !slices.Contains(but, s.name) && !yield(s.node) {
				return
			}
		}
	}
}

// names are the names of the nodes that have not been removed, sorted.
func (f *state) names() []string {
	return slices.Sorted(maps.Keys(f.nodesWhere(func(s *candidate) bool { return !s.removed })))
}

// nodesWhere are the names of the nodes for which a predicate holds.
func (f *state) nodesWhere(holds func(*candidate) bool) map[string]bool {
	out := map[string]bool{}
	for _, s := range f.nodes {
		if holds(s) {
			out[s.name] = true
		}
	}
	return out
}

// large reports whether the cluster has so many nodes that steps are final as they are found, without a look at the
// next plan.
func (f *state) large() bool { return len(f.problem.Nodes) >= manyNodes }

// nodeNameOf is the name of the node on which a pod runs now, "" for none.
func (f *state) nodeNameOf(pod *corev1.Pod) string {
	if to, ok := f.currentNode[podspec.PodName(pod)]; ok {
		return to
	}
	return pod.Spec.NodeName
}

// fork is an independent copy of the state. Pods, nodes and machines are shared; they are replaced, never changed.
func (f *state) fork() *state {
	out := *f
	out.pools, out.ordered = make(map[string]*poolState, len(f.pools)), nil
	for _, p := range f.ordered {
		own := *p
		out.pools[p.pool.Name] = &own
		out.ordered = append(out.ordered, &own)
	}
	out.nodes, out.byName = make([]*candidate, len(f.nodes)), make(map[string]*candidate, len(f.byName))
	for i, s := range f.nodes {
		own := *s
		if s.pool != nil {
			own.pool = out.pools[s.pool.pool.Name]
		}
		out.nodes[i], out.byName[s.name] = &own, &own
	}
	out.landing = f.landing.Fork(0)
	out.sessions = f.sessions.Fork()
	out.pods, out.currentNode, out.awaitingLaunch = maps.Clone(f.pods), maps.Clone(f.currentNode), maps.Clone(f.awaitingLaunch)
	out.launchCount, out.usedNames = maps.Clone(f.launchCount), maps.Clone(f.usedNames)
	return &out
}

// prices are the prices of nodes and launches by the planner's policy.
func (f *state) prices() pricing.Prices {
	return pricing.Prices{Policy: &f.planner.Policy, Problem: f.problem}
}

// readRequests reads the requests of all pods, and the allocatable capacity of all nodes.
func (f *state) readRequests() {
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	for _, s := range f.nodes {
		nodes, pods = append(nodes, s.node), append(append(pods, s.pods...), s.expected...)
	}
	f.requests = room.NewRequests(nodes, pods)
	for _, s := range f.nodes {
		s.allocatable = f.requests.Allocatable(s.node)
	}
}

// freeCapacity is the allocatable capacity of a node that no pod has requested.
func (f *state) freeCapacity(s *candidate) []int64 {
	return f.requests.Free(s.allocatable, slices.Concat(s.pods, s.expected)...)
}

// rooms is the free capacity of the nodes that take in pods, without the given nodes.
func (f *state) rooms(but map[string]bool) *room.Rooms {
	var names []string
	var free [][]int64
	for _, name := range f.names() {
		at := f.byName[name]
		if at.closures > 0 || but[name] || at.node.Spec.Unschedulable {
			continue
		}
		names, free = append(names, name), append(free, f.freeCapacity(at))
	}
	return room.New(names, free, f.requests.Resources())
}

// fast reports whether the effort is the least.
func (f *state) fast() bool { return f.planner.Policy.Effort == scheduling.EffortFast }

// podOf is the pod of a name, on a node or awaiting a launch; nil if there is none.
func (f *state) podOf(name string) *corev1.Pod {
	if pod := f.pods[name]; pod != nil {
		return pod
	}
	return f.awaitingLaunch[name]
}

// divided is the cluster in which pods that a SpotPolicy chooses require nodes that are no spot nodes, and the choice; without
// policies c itself and nil. The choice is the same for all steps, so that each step keeps the shares, or brings them nearer to the
// policy where they are broken.
func divided(c *Cluster) (*Cluster, *spotshare.Division) {
	division := spotshare.Divide(&c.Problem)
	if division == nil {
		return c, nil
	}
	out := *c
	out.Problem = *division.Problem
	return &out, division
}
