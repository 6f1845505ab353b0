package disruption

import (
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Anew is the problem of buying the cluster afresh: every node that the planner may
// disrupt for some reason is gone, and its pods wait. All other nodes stay as they are, with
// their pods and the room that they have left. Pods that wait in the cluster are left out. The pods are
// successors ([scheduling.SuccessorUID]): the claims of their ephemeral volumes are made again.
// What the nodes are is on sale again, as they may stay: their offerings, and the machines
// that reservations have lent to them. So a solver of it may buy these offerings even where
// NoSpot, Filters and Size of the planner's Solver rule them out; that the bound is proven
// with.
//
// What a plan of it costs, and the nodes of pools that stay in it, is what a cluster for
// the same pods costs when nobody minds moving. [Summary.LowerBoundPerHour] is the proven
// bound of its plans and the price of those nodes. Budgets of NodePools are left out of
// account: they say how many nodes go at once, not how many may go.
//
// The problem of a cluster that [Planner.Plan] refuses is returned as it is.
func (c *Cluster) Anew(p Planner) scheduling.Problem {
	if check(&p, c).joined(provisioning.Validate(&c.Problem)) != nil {
		return c.Problem
	}
	f := newState(p, c)
	return f.anew(f.loose)
}

// anew is the problem of buying the cluster afresh, as [Cluster.Anew], without some nodes.
func (f *state) anew(loose map[string]bool) scheduling.Problem {
	c := f.problem
	out := *c
	out.Pods, out.Running, out.Nodes, out.Nominated = nil, nil, nil, nil
	var gone []*corev1.Node
	for _, node := range c.Nodes {
		if loose[node.Name] {
			gone = append(gone, node)
		} else {
			out.Nodes = append(out.Nodes, node)
		}
	}
	for _, list := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range list {
			switch {
			case pod.Spec.NodeName == "":
			case !loose[pod.Spec.NodeName]:
				out.Running = append(out.Running, pod)
			case eviction.Reschedulable(pod):
				out.Pods = append(out.Pods, unbound(pod))
			}
		}
	}
	if err := backOnSale(&out, gone); err != nil {
		return *c // the catalog was one before, and has lost nothing
	}
	return out
}

// target is the cluster bought afresh.
type target struct {
	// tally is what it comes to, nodes that stay included.
	tally
	// composition is what its nodes are.
	composition []NodeKind
	// bound is what it costs at least, nodes that stay included, as the certificate proves;
	// without the pods that are left out, since no place is known for them.
	bound offerings.Price
	// kept is what the nodes that stay cost, which is part of the price and of the bound.
	kept        offerings.Price
	certificate *certificate.Certificate
	leftOut     []string
	// worth is what pods are worth per hour, by name.
	worth map[string]offerings.Price
}

// backOnSale makes nodes that are gone to be had again, in a problem of buying afresh: they
// could as well have stayed. Reservations have their machines back, and offerings that
// nodes were bought at are on sale.
func backOnSale(p *scheduling.Problem, nodes []*corev1.Node) error {
	had, lent := map[offerings.Key]bool{}, map[string]int{}
	for _, node := range nodes {
		key := instancetypes.OfferingOf(node)
		had[key] = true
		if key.ReservationID != "" {
			lent[key.ReservationID]++
		}
	}
	p.Unavailable = unmarked(p.Unavailable, had, p.Now)
	k, err := stock.New(p).Changed(func(t *instancetypes.InstanceType, o *offerings.Offering) bool {
		more, again := 0, o.Unavailable && had[o.Key(t.Name)]
		if o.CapacityType == offerings.Reserved {
			more = lent[o.ReservationID]
		}
		o.Unavailable = o.Unavailable && !again
		o.ReservationCount += more
		return again || more > 0
	})
	p.Catalog, p.PoolCatalogs = k.All, k.Pools
	return err
}

// buysBack is the planner's solver, which may buy what some nodes are, whatever it may
// buy otherwise: they could as well have stayed.
func (f *state) buysBack(loose map[string]bool) scheduling.Policy {
	solver, had := f.planner.Policy, map[offerings.Key]bool{}
	for name := range loose {
		had[instancetypes.OfferingOf(f.at[name].node)] = true
	}
	was := f.planner.Policy
	if !was.NoSpot && len(was.Filters) == 0 && reflect.ValueOf(was.Size).IsZero() {
		return was
	}
	solver.NoSpot, solver.Size = false, scheduling.NodeSize{}
	solver.Filters = []instancetypes.Filter{func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		return offers.Allows(was, t, o) || had[o.Key(t.Name)]
	}}
	return solver
}

// unmarked is the record of what failed lately without marks that cover any of some
// offerings.
func unmarked(u *offerings.Unavailable, had map[offerings.Key]bool, now time.Time) *offerings.Unavailable {
	covers := func(mark offerings.Key) bool {
		for key := range had {
			if (mark.InstanceType == "" || mark.InstanceType == key.InstanceType) && (mark.Zone == "" || mark.Zone == key.Zone) &&
				(mark.CapacityType == "" || mark.CapacityType == key.CapacityType) && (mark.ReservationID == "" || mark.ReservationID == key.ReservationID) {
				return true
			}
		}
		return false
	}
	if u.Len() == 0 || !slices.ContainsFunc(u.Keys(), covers) {
		return u
	}
	out := &offerings.Unavailable{}
	for key, until := range u.All() {
		if !covers(key) {
			out.Mark(key, now, until.Sub(now))
		}
	}
	return out
}
