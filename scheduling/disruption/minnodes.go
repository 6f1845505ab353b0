package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// KeepAtLeast is the cluster in which of some NodePools at least so many nodes stay, by the pool's name,
// as groups of nodes have least sizes: [Machine.MustStay] says so of nodes. Those that a planner cannot
// remove anyway come first, then those of the least price, and of equal ones those of which the pods
// would be the dearest to move; nodes that are interrupted or expire come last. A pool that has no more
// nodes keeps all. c stays as it is, and is returned where [Planner.Plan] refuses it.
func (c Cluster) KeepAtLeast(p Planner, least map[string]int) Cluster {
	if check(&p, &c).joined(provisioning.Validate(&c.Problem)) != nil {
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
			return cmp.Or(f.staysBetter(a)-f.staysBetter(b), cmp.Compare(a.price, b.price), cmp.Compare(b.cost, a.cost), strings.Compare(a.name, b.name))
		})
		detail := fmt.Sprintf("the pool keeps at least %d nodes", least[pool])
		if least[pool] == 1 {
			detail = "the pool keeps at least one node"
		}
		for _, s := range nodes[:min(least[pool], len(nodes))] {
			why[s.name] = detail
		}
	}
	return c.keep(why)
}

// KeepAllBut is the cluster in which all nodes but some stay unless they are interrupted or expire: a plan for it
// tells what becomes of these nodes by themselves, and takes far less time than a plan for all. c stays as it is.
func (c Cluster) KeepAllBut(nodes ...string) Cluster {
	why := map[string]string{}
	for _, node := range c.Nodes {
		if node != nil && !slices.Contains(nodes, node.Name) {
			why[node.Name] = "only other nodes may go"
		}
	}
	return c.keep(why)
}

// keep is the cluster in which nodes must stay, with the reason by name.
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

// staysBetter ranks nodes of a pool by how well they stay: 0 for those that stay anyway, 1 for those that
// may go, 2 for those that do not work, and 3 for those that go whatever holds them.
func (f *state) staysBetter(s *candidate) int {
	switch {
	case s.machine.Interruption != nil || f.expired(s):
		return 3
	case !ready(s.node):
		return 2
	case f.disruptable[s.name]:
		return 1
	}
	return 0
}
