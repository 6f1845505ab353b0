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

// RebuildProblem is the problem of rebuilding the cluster from scratch: every node that the planner may disrupt for some reason
// is gone, and its pods are pending. All other nodes stay as they are, with their pods and their free capacity.
// Pending pods of the cluster are left out. The pods are successors ([scheduling.SuccessorUID]): the claims of their
// ephemeral volumes are made again. The offerings of removed nodes are on sale again, reserved ones included, because
// these nodes could as well have stayed. So a solver of the problem must be allowed to launch these offerings even if
// NoSpot, Filters and Size of the planner's policy exclude them; the bound is proven with them.
//
// The price of a plan of it, together with the nodes of pools that stay, is the price of a cluster for the same pods
// if pods may move freely. [ConsolidationSummary.LowerBoundPerHour] is the proven bound of its plans plus the price of those
// nodes. Budgets of NodePools do not matter, because they bound how many nodes are removed at once, and not how many
// altogether.
//
// For a cluster that [Planner.Plan] refuses its problem is returned unchanged.
func (c *Cluster) RebuildProblem(p Planner) scheduling.Problem {
	if check(&p, c).joined(provisioning.Validate(&c.Problem)) != nil {
		return c.Problem
	}
	f := newState(p, c)
	return f.rebuildProblem(f.disruptable)
}

// rebuildProblem is the problem of [Cluster.RebuildProblem], with the given nodes gone.
func (f *state) rebuildProblem(loose map[string]bool) scheduling.Problem {
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
	if err := restoreOffers(&out, gone); err != nil {
		return *c // the catalog was valid before, and has lost no offering
	}
	return out
}

// rebuildTarget is a cluster rebuilt from scratch. The search for savings aims at its price.
type rebuildTarget struct {
	// tally are its sums, nodes that stay included.
	tally
	// composition are its nodes by kind.
	composition []NodeKind
	// bound is its least price, nodes that stay included, as the certificate proves. Pods of leftOut are not part of
	// it, because they fit on no node.
	bound offerings.Price
	// kept is the price of the nodes that stay. It is part of the price and of the bound.
	kept        offerings.Price
	certificate *certificate.Certificate
	leftOut     []string
	// podValues are the dual values of pods by name, in USD per hour: how much the bound falls without the pod.
	podValues map[string]offerings.Price
}

// restoreOffers puts the offerings of removed nodes back on sale in a problem of rebuilding, because the nodes could
// as well have stayed: reservations get their machines back, and offerings that are sold out are available.
func restoreOffers(p *scheduling.Problem, nodes []*corev1.Node) error {
	had, lent := map[offerings.Key]bool{}, map[string]int{}
	for _, node := range nodes {
		key := instancetypes.OfferingOf(node)
		had[key] = true
		if key.ReservationID != "" {
			lent[key.ReservationID]++
		}
	}
	p.Unavailable = withoutMarks(p.Unavailable, had, p.Now)
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

// rebuildPolicy is the planner's policy, which also allows the offerings of the given nodes, because these could as
// well have stayed.
func (f *state) rebuildPolicy(loose map[string]bool) scheduling.Policy {
	solver, had := f.planner.Policy, map[offerings.Key]bool{}
	for name := range loose {
		had[instancetypes.OfferingOf(f.byName[name].node)] = true
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

// withoutMarks is a record of unavailable offerings without the marks that cover any of the given offerings.
func withoutMarks(u *offerings.Unavailable, had map[offerings.Key]bool, now time.Time) *offerings.Unavailable {
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
