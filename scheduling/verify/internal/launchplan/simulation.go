package launchplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// simulatedKinds bounds for how many kinds of refused pods a place is looked for,
// simulatedPods how many pods bind in simulations, all of them together.
const (
	simulatedKinds = 200
	simulatedPods  = 500_000
)

// bindSimulation finds out whether a refused pod that depends on other pods could have joined the plan: whether all
// pods still bind with it. Where a planner has reason to be more careful than kube-scheduler it reports nothing.
type bindSimulation struct {
	places   *placeSearch
	claims   *claimCheck
	topology *binding.Topology
	bookings []binding.Pending
	// final is the state once the plan has been carried out.
	final  *binding.Outcome
	budget int
	// machines are the machines that each pool may launch, sold the values of a label that any of them has, by key.
	machines map[string][]*snapshot.Node
	sold     map[string]map[string]bool
}

// search reports refused pods that depend on other pods or on volumes and could have joined the plan.
func (h *bindSimulation) search() {
	kinds := h.places.dependentKinds()
	if len(kinds) == 0 {
		return
	}
	h.budget, h.machines, h.sold = simulatedPods, make(map[string][]*snapshot.Node), make(map[string]map[string]bool)
	for _, pl := range h.places.state.SortedPools() {
		h.machines[pl.Object.Name] = slices.Collect(h.places.state.Offers(pl, snapshot.MostDaemons, nil))
	}
	h.final = h.topology.Bind(h.bookings, kinds...)
	defer h.final.Undo()
	if len(h.final.Waiting) > 0 {
		return // the state after a plan that cannot be carried out is not known
	}
	for _, t := range kinds {
		if where, found := h.nodeFor(t); found {
			h.places.report.Add(rule.RefusedForNothing, "pod/"+t.Name, "is unschedulable, and could be scheduled to node %s after all other pods", where)
		} else if where, found := h.machineFor(t); found {
			h.places.report.Add(rule.RefusedForNothing, "pod/"+t.Name, "is unschedulable, and could be scheduled to a new node: %s", where)
		}
	}
}

// dependentKinds returns refused pods that depend on other pods or on volumes, one of each kind.
func (c *placeSearch) dependentKinds() []*snapshot.Pod {
	refused := c.refusedPods()
	users := c.state.ClaimUsers()
	wanted := func(m snapshot.Mount) bool {
		_, running := c.state.Occupant(m.Claim)
		return m.Exclusive && (running || users[m.Claim] > 1)
	}
	var kinds []*snapshot.Pod
	seen := make(map[string]bool)
	for _, t := range c.state.SortedPods() {
		if !refused[t.Name] || t.IsHeld() || c.state.Independent(t) || slices.ContainsFunc(t.Mounts, wanted) {
			continue
		}
		if key := fmt.Sprintf("%s %s %p %s", t.Needs(), t.Asks(), t.Identity, t.Terms.Text); !seen[key] {
			seen[key] = true
			kinds = append(kinds, t)
		}
		if len(kinds) == simulatedKinds {
			break
		}
	}
	return kinds
}

// nodeFor returns a running node that could take the pod beside those of the plan.
func (h *bindSimulation) nodeFor(t *snapshot.Pod) (string, bool) {
	for _, s := range h.places.state.SortedNodes() {
		if h.places.takes(s, t) && h.canJoin(t, s) {
			return s.Name, true
		}
	}
	return "", false
}

// machineFor returns a machine that could be launched for the pod. It leaves out pools with minValues or with labels
// that are chosen at launch, and spot machines under a policy's Flexibility, because these demand several machines.
func (h *bindSimulation) machineFor(t *snapshot.Pod) (string, bool) {
	if t.NeedsGivenNode() {
		return "", false
	}
	choosy := h.places.state.Policy.Flexibility != scheduling.Flexibility{}
	for _, pl := range h.places.state.SortedPools() {
		if len(pl.MinValues()) > 0 || pl.Undecided() || choosy && len(pl.Limits) > 0 {
			continue
		}
		tried := make(map[string]bool)
		for _, m := range h.machines[pl.Object.Name] {
			if choosy && m.Offering.CapacityType == offerings.Spot || !m.Affordable(h.places.slack) || !m.Admits(t, snapshot.AllFilters) {
				continue
			}
			x := m.WithHostName(m.Open, "a new node")
			if at := h.domains(x); !tried[at] {
				tried[at] = true
				if h.canJoin(t, x) {
					return m.Title() + " of NodePool " + pl.Object.Name, true
				}
			}
		}
	}
	return "", false
}

// domains is equal for machines that topology terms cannot tell apart.
func (h *bindSimulation) domains(x *snapshot.Node) string {
	var b strings.Builder
	for _, text := range slices.Sorted(maps.Keys(h.topology.Counters)) {
		c := h.topology.Counters[text]
		value, ok := x.Value(c.Key)
		fmt.Fprintf(&b, "%q %v %v ", value, ok, c.CountsOn(x))
	}
	return b.String()
}

// canJoin reports whether the pod can be on the node, and all others where the plan has them, in any order: it must
// bind once all others have, and all must bind with it among them from the first name to the last and from the last
// to the first.
func (h *bindSimulation) canJoin(t *snapshot.Pod, x *snapshot.Node) bool {
	if !h.keepsSpread(t, x) || !h.claims.sharesZone(t, x) || !h.claims.leavesVolumes(t, x) {
		return false
	}
	g := h.topology.Group(t.Identity, t.Terms)
	_, found := g.Obstacle(x)
	isNew := !h.topology.Nodes[x]
	if found && !isNew {
		return false
	}
	h.final.Undo()
	defer h.final.Redo()
	if isNew {
		if !h.affords() {
			return false
		}
		h.topology.AddNode(x)
		defer h.topology.RemoveNode(x)
		o := h.topology.Bind(h.bookings, t)
		_, found = g.Obstacle(x)
		o.Undo()
		if found || len(o.Waiting) > 0 {
			return false
		}
	}
	joined := append(slices.Clip(h.bookings), binding.Pending{Pod: t, Node: x})
	slices.SortFunc(joined, binding.ByBindingOrder)
	for range 2 {
		if !h.affords() {
			return false
		}
		o := h.topology.Bind(joined)
		o.Undo()
		if len(o.Waiting) > 0 {
			return false
		}
		slices.Reverse(joined)
	}
	return true
}

// affords takes one simulation of the whole plan off the budget, and reports whether the budget sufficed.
func (h *bindSimulation) affords() bool {
	h.budget -= len(h.bookings) + len(h.places.state.Residents) + 1
	return h.budget >= 0
}

// keepsSpread reports whether every spread constraint of the pod, or that counts it, would hold even if the emptiest domain
// had no pods: a host to come, or a zone with a machine on sale.
func (h *bindSimulation) keepsSpread(t *snapshot.Pod, x *snapshot.Node) bool {
	g := h.topology.Group(t.Identity, t.Terms)
	for c := range h.final.Counters {
		counted, mine := c.Selects(t.Identity), slices.Contains(g.Spread, c)
		if c.Eligible == nil || !counted && !mine {
			continue
		}
		value, _ := x.Value(c.Key)
		count, least := c.Counts[value], c.Least(1)
		if counted {
			count++
		}
		if c.Key == corev1.LabelHostname || h.opensDomain(c, t, mine) {
			least = 0
		}
		if count-least > c.Skew {
			return false
		}
	}
	return true
}

// opensDomain reports whether a machine is on sale in a domain that has no node yet. For a constraint of the pod itself
// only machines that could hold it count.
func (h *bindSimulation) opensDomain(s *binding.Counter, t *snapshot.Pod, mine bool) bool {
	key := s.Key
	if mine {
		key += " " + t.Name
	}
	values := h.sold[key]
	if values == nil {
		values = make(map[string]bool)
		for _, pl := range h.places.state.SortedPools() {
			for _, m := range h.machines[pl.Object.Name] {
				if value, ok := m.Value(s.Key); ok && (!mine || m.Admits(t, snapshot.AllFilters)) {
					values[value] = true
				}
			}
		}
		h.sold[key] = values
	}
	for value := range values {
		if s.Eligible.Nodes[value] == 0 {
			return true
		}
	}
	return false
}
