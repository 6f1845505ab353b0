package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// KeepAtLeast is the cluster in which at least so many nodes of NodePools stay, by the pool's name, e.g. the minimum
// size of a node group: it sets [Machine.MustStay]. Nodes that the planner cannot remove anyway are chosen first,
// then the cheapest, of equal price those with the highest disruption cost; nodes that are interrupted or expired
// come last. A pool that has no more nodes keeps all. c stays as it is, and is returned if [Planner.Plan] refuses it.
func (c Cluster) KeepAtLeast(p Planner, least map[string]int) Cluster {
	if joined(check(&p, &c), provisioning.Validate(&c.Problem)) != nil {
		return c
	}
	f := newState(p, &c)
	why := map[string]string{}
	for _, pool := range slices.Sorted(maps.Keys(least)) {
		if least[pool] <= 0 {
			continue
		}
		nodes := slices.DeleteFunc(slices.Clone(f.nodes), func(s *candidate) bool { return s.pool == nil || s.poolName() != pool || s.beingRemoved() })
		slices.SortFunc(nodes, func(a, b *candidate) int {
			return cmp.Or(staysBetter(f, a)-staysBetter(f, b), cmp.Compare(a.price, b.price), cmp.Compare(b.cost, a.cost), strings.Compare(a.name, b.name))
		})
		detail := fmt.Sprintf("minimum size is %d nodes", least[pool])
		if least[pool] == 1 {
			detail = "minimum size is one node"
		}
		for _, s := range nodes[:min(least[pool], len(nodes))] {
			why[s.name] = detail
		}
	}
	return c.keep(why)
}

// KeepAllBut is the cluster in which only the given nodes may be removed, apart from interruption and expiry. A plan
// for it answers what becomes of these nodes, and takes far less time than a plan for all. c stays as it is.
func (c Cluster) KeepAllBut(nodes ...string) Cluster {
	why := map[string]string{}
	for _, node := range c.Nodes {
		if node != nil && !slices.Contains(nodes, node.Name) {
			why[node.Name] = "only other nodes may be removed"
		}
	}
	return c.keep(why)
}

// keep is the cluster in which the given nodes must stay, each with its reason.
func (c Cluster) keep(why map[string]string) Cluster {
	c.Machines = slices.Clone(c.Machines)
	for i := range c.Machines {
		if m := &c.Machines[i]; why[m.Node] != "" {
			m.MustStay = why[m.Node]
			delete(why, m.Node)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		c.Machines = append(c.Machines, Machine{Node: name, MustStay: why[name]})
	}
	return c
}

// staysBetter ranks nodes that a pool may keep: 0 for nodes that stay anyway, 1 for candidates, 2 for nodes that are
// not ready, and 3 for nodes that are removed even if they must stay.
func staysBetter(f *state, s *candidate) int {
	switch {
	case s.machine.Interruption != nil || f.rules.expired(s):
		return 3
	case !ready(s.node):
		return 2
	case f.disruptable[s.name]:
		return 1
	}
	return 0
}
