package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// simulatedKinds bounds for how many kinds of refused pods a place is looked for,
// simulatedPods how many pods bind in simulations, all of them together.
const (
	simulatedKinds = 200
	simulatedPods  = 500_000
)

// bindSimulation finds out whether a refused pod that depends on others could have joined
// the plan: whether, with this one more, all pods still bind. Where a planner has
// reason to be more careful than kube-scheduler nothing is said.
type bindSimulation struct {
	*judge
	// final is how things are once the plan has been carried out.
	final  *outcome
	budget int
	// shelves are what each pool may buy, sold the values of a label that anything on
	// sale has, by key.
	shelves map[string][]*node
	sold    map[string]map[string]bool
}

// tiedPlaces looks for a place for refused pods that depend on others or on volumes.
func (j *judge) tiedPlaces() {
	kinds := j.tiedKinds()
	if len(kinds) == 0 {
		return
	}
	h := &bindSimulation{judge: j, budget: simulatedPods, shelves: make(map[string][]*node), sold: make(map[string]map[string]bool)}
	for _, pl := range j.sortedPools() {
		h.shelves[pl.Name] = slices.Collect(j.offers(pl, most))
	}
	h.final = j.topology.bind(j.booked, kinds...)
	defer h.final.undo()
	if len(h.final.waiting) > 0 {
		return // nothing is certain about a plan that does not come about
	}
	for _, t := range kinds {
		if where, found := h.nodeFor(t); found {
			j.add(RefusedForNothing, "pod/"+t.name, "is unschedulable, and could bind to node %s in the end", where)
		} else if where, found := h.machineFor(t); found {
			j.add(RefusedForNothing, "pod/"+t.name, "is unschedulable, and could bind to a new machine: %s", where)
		}
	}
}

// tiedKinds are refused pods that depend on others or on volumes, one of each kind.
func (j *judge) tiedKinds() []*tenant {
	refused := j.refusedPods()
	users := make(map[string]int)
	for _, t := range j.pods {
		for _, m := range t.mounts {
			users[m.claim]++
		}
	}
	wanted := func(m mount) bool {
		_, running := j.storage.occupant(m.claim)
		return m.exclusive && (running || users[m.claim] > 1)
	}
	var kinds []*tenant
	seen := make(map[string]bool)
	for _, t := range j.sortedPods() {
		if !refused[t.name] || t.isHeld() || j.independent(t) || slices.ContainsFunc(t.mounts, wanted) {
			continue
		}
		if key := fmt.Sprintf("%s %s %p %s", t.needs(), t.asks(), t.face, t.ties.text); !seen[key] {
			seen[key] = true
			kinds = append(kinds, t)
		}
		if len(kinds) == simulatedKinds {
			break
		}
	}
	return kinds
}

// nodeFor finds a node that could take the pod beside those of the plan.
func (h *bindSimulation) nodeFor(t *tenant) (string, bool) {
	for _, s := range h.sortedNodes() {
		if h.takes(s, t) && h.joins(t, s) {
			return s.name, true
		}
	}
	return "", false
}

// machineFor finds a machine that could be bought for the pod. It leaves out pools
// whose minValues ask for several machines that suit, and those whose machines have
// labels that are still to be chosen, and spot machines if several have to suit.
func (h *bindSimulation) machineFor(t *tenant) (string, bool) {
	if t.picky() {
		return "", false
	}
	choosy := h.policy.Flexibility != scheduling.Flexibility{}
	for _, pl := range h.sortedPools() {
		if len(pl.minValues()) > 0 || pl.undecided() {
			continue
		}
		slack := h.headroom(pl)
		if choosy && len(slack) > 0 {
			continue
		}
		if n, limited := slack[scheduling.NodesResource]; limited && n.Sign() <= 0 {
			continue
		}
		tried := make(map[string]bool)
		for _, m := range h.shelves[pl.Name] {
			if choosy && m.offering.CapacityType == offerings.Spot || !h.affordable(m, slack) || len(exceeding(m.daemons, m.allocatable)) > 0 || !m.holds(t) || m.tooMany(t.mounts) != "" {
				continue
			}
			x := m.standing(m.open, "a new machine")
			if at := h.whereabouts(x); !tried[at] {
				tried[at] = true
				if h.joins(t, x) {
					return m.title() + " for pool " + pl.Name, true
				}
			}
		}
	}
	return "", false
}

// whereabouts are equal for machines that rules between pods cannot tell apart.
func (h *bindSimulation) whereabouts(x *node) string {
	var b strings.Builder
	for _, text := range slices.Sorted(maps.Keys(h.topology.counters)) {
		c := h.topology.counters[text]
		value, ok := x.value(c.key)
		fmt.Fprintf(&b, "%q %v %v ", value, ok, c.looksAt(x))
	}
	return b.String()
}

// joins reports whether the pod can be on the host, and everybody where the plan says,
// whoever comes first: it has to bind when all others have, and all have to bind with
// it among them from the first name to the last and from the last to the first.
func (h *bindSimulation) joins(t *tenant, x *node) bool {
	if !h.roomy(t, x) || !h.meets(t, x) || !h.leavesVolumes(t, x) {
		return false
	}
	g := h.topology.group(t.face, t.ties)
	_, found := g.obstacle(x)
	isNew := !h.topology.nodes[x]
	if found && !isNew {
		return false
	}
	h.final.undo()
	defer h.final.redo()
	if isNew {
		if !h.affords() {
			return false
		}
		h.topology.enter(x)
		defer h.topology.leave(x)
		o := h.topology.bind(h.booked, t)
		_, found = g.obstacle(x)
		o.undo()
		if found || len(o.waiting) > 0 {
			return false
		}
	}
	bookings := append(slices.Clip(h.booked), booking{t, x})
	slices.SortFunc(bookings, bindingOrder)
	for range 2 {
		if !h.affords() {
			return false
		}
		o := h.topology.bind(bookings)
		o.undo()
		if len(o.waiting) > 0 {
			return false
		}
		slices.Reverse(bookings)
	}
	return true
}

// affords takes one simulation of the whole plan from the budget, if it is still there.
func (h *bindSimulation) affords() bool {
	h.budget -= len(h.booked) + len(h.residents) + 1
	return h.budget >= 0
}

// roomy reports whether every spread constraint that the pod has, or by which it is
// counted, would hold even if the emptiest domain is one that nobody is in yet: a host
// to come, or a zone in which something is on sale.
func (h *bindSimulation) roomy(t *tenant, x *node) bool {
	g := h.topology.group(t.face, t.ties)
	for c := range h.final.counters {
		counted, mine := c.means(t.face), slices.Contains(g.spread, c)
		if c.view == nil || !counted && !mine {
			continue
		}
		value, _ := x.value(c.key)
		count, least := c.counts[value], c.least(1)
		if counted {
			count++
		}
		if c.key == corev1.LabelHostname || h.opens(c, t, mine) {
			least = 0
		}
		if count-least > c.skew {
			return false
		}
	}
	return true
}

// opens reports whether something is on sale in a domain that the counter does not have
// yet. For a constraint of the pod's own only what could hold it matters.
func (h *bindSimulation) opens(s *counter, t *tenant, mine bool) bool {
	key := s.key
	if mine {
		key += " " + t.name
	}
	values := h.sold[key]
	if values == nil {
		values = make(map[string]bool)
		for _, pl := range h.sortedPools() {
			for _, m := range h.shelves[pl.Name] {
				if value, ok := m.value(s.key); ok && (!mine || m.holds(t)) {
					values[value] = true
				}
			}
		}
		h.sold[key] = values
	}
	for value := range values {
		if s.view.nodes[value] == 0 {
			return true
		}
	}
	return false
}
