package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// disown marks the nodes that a policy would not buy as drifted, takes the budgets of their
// NodePools off drift, and returns them by name. The cluster's lists are replaced.
func disown(policy scheduling.Policy, c *disruption.Cluster) map[string]bool {
	unwanted, pools := map[string]bool{}, map[string]bool{}
	for _, node := range c.Nodes {
		pool := node.Labels[scheduling.NodePoolLabel]
		if pool != "" && !buys(policy, c.CatalogOf(pool), node) {
			unwanted[node.Name], pools[pool] = true, true
		}
	}
	if len(unwanted) == 0 {
		return unwanted
	}
	c.Machines = slices.Clone(c.Machines)
	told := map[string]bool{}
	for i := range c.Machines {
		if m := &c.Machines[i]; unwanted[m.Node] {
			m.Drift, told[m.Node] = drift, true
		}
	}
	for _, node := range c.Nodes {
		if unwanted[node.Name] && !told[node.Name] {
			c.Machines = append(c.Machines, disruption.Machine{Node: node.Name, Drift: drift})
		}
	}
	c.NodePools = slices.Clone(c.NodePools)
	for i, pool := range c.NodePools {
		if pools[pool.Name] {
			c.NodePools[i] = unbounded(pool)
		}
	}
	return unwanted
}

// drift says why a node has to go that a case would not buy.
const drift = "the case would not launch it"

// unbounded returns the NodePool with budgets that limit no disruption for drift.
func unbounded(pool *scheduling.NodePool) *scheduling.NodePool {
	const drifted = "Drifted"
	out := pool.DeepCopy()
	d := &out.Spec.Disruption
	if len(d.Budgets) == 0 {
		d.Budgets = []scheduling.Budget{{Nodes: "10%"}} // Karpenter's default without budgets
	}
	for i := range d.Budgets {
		b := &d.Budgets[i]
		if len(b.Reasons) == 0 {
			b.Reasons = []string{"Empty", "Underutilized"}
		}
		b.Reasons = slices.DeleteFunc(b.Reasons, func(r string) bool { return r == drifted })
	}
	d.Budgets = slices.DeleteFunc(d.Budgets, func(b scheduling.Budget) bool { return len(b.Reasons) == 0 })
	if len(d.Budgets) == 0 {
		d.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	}
	return out
}

// buys reports whether a policy would buy the offering of a node; also true where the catalog does not
// have the offering, because the policy cannot be checked then.
func buys(policy scheduling.Policy, catalog *instancetypes.Catalog, node *corev1.Node) bool {
	key := instancetypes.OfferingOf(node)
	t, known := catalog.Get(key.InstanceType)
	o, offered := catalog.Lookup(key)
	if !known || !offered {
		return true
	}
	return sells(policy, t, o)
}

// sells reports whether a policy would buy an offering of an instance type.
func sells(policy scheduling.Policy, t *instancetypes.InstanceType, o offerings.Offering) bool {
	if policy.NoSpot && o.CapacityType == offerings.Spot {
		return false
	}
	capacity := t.CapacityOf(o)
	for name, least := range policy.Size.Smallest {
		if q := capacity[name]; q.Cmp(least) < 0 {
			return false
		}
	}
	for name, most := range policy.Size.Largest {
		if q := capacity[name]; q.Cmp(most) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(policy.Filters, func(keep instancetypes.Filter) bool { return !keep(t, o) })
}
