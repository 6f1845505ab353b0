package whatif

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pools"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Question is the input of a case.
type Question struct {
	Planner disruption.Planner
	Cluster disruption.Cluster
	// Grouped says that the NodePools stand for node groups.
	Grouped bool
	// Bills are the bills of the cluster under commitments and discounts; nil for list prices.
	Bills *bills.Bills
}

// Unchanged returns the reason why a case must have the baseline's outcome, e.g. because no NodePool may
// launch the types that its flags allow or rule out; "" where the outcome may differ.
func (q *Question) Unchanged(base *Question) string {
	if !reflect.DeepEqual(q.fixed(), base.fixed()) || !reflect.DeepEqual(q.today(), base.today()) {
		return ""
	}
	mine, theirs := pools.Sales{}, pools.Sales{}
	var types []string
	for i, pool := range q.Cluster.NodePools {
		other := base.Cluster.NodePools[i]
		a, b := q.launched(&mine, pool), base.launched(&theirs, other)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(own(&mine, &q.Cluster, pool), own(&theirs, &base.Cluster, other)) {
			return ""
		}
		for _, t := range a {
			types = append(types, t.Name)
		}
		for _, node := range q.Cluster.Nodes {
			if node.Labels[scheduling.NodePoolLabel] == pool.Name && drifted(pool, node) != drifted(other, node) {
				return ""
			}
		}
	}
	for _, node := range q.Cluster.Nodes {
		pool, key := node.Labels[scheduling.NodePoolLabel], instancetypes.OfferingOf(node)
		a, _ := q.Cluster.CatalogOf(pool).Lookup(key)
		b, _ := base.Cluster.CatalogOf(pool).Lookup(key)
		if !reflect.DeepEqual(a, b) || buys(q.Planner.Policy, q.Cluster.CatalogOf(pool), node) != buys(base.Planner.Policy, base.Cluster.CatalogOf(pool), node) {
			return ""
		}
	}
	slices.Sort(types)
	types = slices.Compact(types)
	switch {
	case q.Grouped:
		return "the node groups may launch the same nodes as in the baseline, because a node group launches only the instance types that its nodes have: " + figures.Names(types, 3)
	case len(q.Cluster.NodePools) == 0:
		return "there is no NodePool that could launch anything"
	}
	return "the NodePools may launch the same nodes as in the baseline"
}

// today is the bill of the cluster before any change; nil at list prices.
func (q *Question) today() *billing.Bill {
	if q.Bills == nil {
		return nil
	}
	return &q.Bills.Now
}

// fixed returns a question without the settings that decide which offerings may be launched.
func (q *Question) fixed() *Question {
	out := *q
	out.Bills = nil
	out.Planner.Policy.NoSpot, out.Planner.Policy.Filters, out.Planner.Policy.Size = false, nil, scheduling.NodeSize{}
	out.Cluster.Catalog, out.Cluster.PoolCatalogs, out.Cluster.Alternative = nil, nil, nil
	out.Cluster.NodePools = nil
	for _, pool := range q.Cluster.NodePools {
		bare := *pool
		bare.Spec.Template.Spec.Requirements = nil
		out.Cluster.NodePools = append(out.Cluster.NodePools, &bare)
	}
	return &out
}

// launched are the instance types, with their offerings, that a NodePool may launch.
func (q *Question) launched(sales *pools.Sales, pool *scheduling.NodePool) []*instancetypes.InstanceType {
	policy := q.Planner.Policy
	sold := sales.Of(&q.Cluster.Problem, pool).Filter(func(t *instancetypes.InstanceType, o offerings.Offering) bool { return sells(policy, t, o) })
	return slices.Collect(sold.All())
}

// own are the requirements of a NodePool that do not only select instance types: about labels that these
// do not have, and with minValues.
func own(sales *pools.Sales, c *disruption.Cluster, pool *scheduling.NodePool) (out []requirements.Selector) {
	known := sales.Labels(c.CatalogOf(pool.Name))
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if r.MinValues != nil || !known[requirements.NormalizeKey(r.Key)] {
			out = append(out, r)
		}
	}
	return out
}

// drifted reports whether a node's labels conflict with the requirements of its NodePool.
func drifted(pool *scheduling.NodePool, node *corev1.Node) bool {
	set, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
	return err == nil && requirements.FromLabels(node.Labels).Compatible(set) != nil
}
