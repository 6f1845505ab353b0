package rebuild

import (
	"context"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Problem is the problem of rebuilding a cluster without the nodes of the given names: their pods are pending, and their
// offerings are on sale again, reserved ones included, because these nodes could as well have stayed. All other nodes
// stay as they are. Pending pods of the cluster are left out.
func Problem(c *scheduling.Problem, gone map[string]bool) scheduling.Problem {
	out := *c
	out.Pods, out.Running, out.Nodes, out.Nominated = nil, nil, nil, nil
	var removed []*corev1.Node
	for _, node := range c.Nodes {
		if gone[node.Name] {
			removed = append(removed, node)
		} else {
			out.Nodes = append(out.Nodes, node)
		}
	}
	for _, list := range [][]*corev1.Pod{c.Running, c.Pods} {
		for _, pod := range list {
			switch {
			case pod.Spec.NodeName == "":
			case !gone[pod.Spec.NodeName]:
				out.Running = append(out.Running, pod)
			case eviction.Reschedulable(pod):
				out.Pods = append(out.Pods, scheduling.Successor(pod, ""))
			}
		}
	}
	if err := restoreOffers(&out, removed); err != nil {
		return *c // the catalog was valid before, and has lost no offering
	}
	return out
}

// Task is a cluster to plan from scratch.
type Task struct {
	Cluster *scheduling.Problem
	// Gone are the names of the nodes without which it is planned.
	Gone map[string]bool
	// Policy is that of the planner, with the effort of this plan.
	Policy scheduling.Policy
	// BoundFreely says that kube-scheduler binds pods where it likes.
	BoundFreely bool
	// Session is one that has read the same catalogs, to save time; nil for none.
	Session *provisioning.Session
}

// Result is a plan from scratch, the Solution, by the policy of the task. Proof is the plan whose certificate proves the least
// price: the Solution itself, or a plan that may do more than the policy allows. It may also launch the offerings of removed
// nodes, because these nodes could as well have stayed; and kube-scheduler may bind its pods in ways that a plan which pins
// pods may not.
type Result struct {
	Problem         scheduling.Problem
	Solution, Proof *scheduling.Plan
}

// Solve plans a cluster from scratch.
func Solve(ctx context.Context, t Task) (*Result, error) {
	out := &Result{Problem: Problem(t.Cluster, t.Gone)}
	policy := t.Policy
	policy.NoReasons = true
	var err error
	if out.Solution, err = plan(ctx, policy, &out.Problem, t.Session); err != nil {
		return nil, err
	}
	out.Proof = out.Solution
	wider, restricted := withOfferingsOf(policy, t.Cluster.Nodes, t.Gone)
	freely := t.BoundFreely && spreadOverHosts(&out.Problem)
	if freely {
		wider.Placement, wider.Effort = scheduling.PlacementFree, scheduling.EffortFast
	}
	if freely || restricted {
		if out.Proof, err = plan(ctx, wider, &out.Problem, t.Session); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// plan plans a problem with the catalogs that a session has read.
func plan(ctx context.Context, policy scheduling.Policy, p *scheduling.Problem, known *provisioning.Session) (*scheduling.Plan, error) {
	if known == nil {
		return provisioning.Planner{Policy: policy}.Plan(ctx, *p)
	}
	session, err := known.ForProblem(policy, *p)
	if err != nil {
		return nil, err
	}
	return session.Plan(ctx)
}

// withOfferingsOf is a policy that also allows the offerings of the nodes which are gone, because these could as well
// have stayed. restricted says that the policy excludes offerings at all.
func withOfferingsOf(was scheduling.Policy, nodes []*corev1.Node, gone map[string]bool) (out scheduling.Policy, restricted bool) {
	if !was.NoSpot && len(was.Filters) == 0 && reflect.ValueOf(was.Size).IsZero() {
		return was, false
	}
	had := map[offerings.Key]bool{}
	for _, node := range nodes {
		if gone[node.Name] {
			had[instancetypes.OfferingOf(node)] = true
		}
	}
	out = was
	out.NoSpot, out.Size = false, scheduling.NodeSize{}
	out.Filters = []instancetypes.Filter{func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		return offers.Allows(was, t, o) || had[o.Key(t.Name)]
	}}
	return out, true
}

// restoreOffers puts the offerings of removed nodes back on sale: reservations get their amounts back, and offerings
// that are sold out are available.
func restoreOffers(p *scheduling.Problem, removed []*corev1.Node) error {
	had, lent, before := map[offerings.Key]bool{}, map[string]int64{}, stock.New(p)
	for _, node := range removed {
		key := instancetypes.OfferingOf(node)
		had[key] = true
		if id, amount := before.Draws(node.Labels[scheduling.NodePoolLabel], key); id != "" {
			lent[id] += amount
		}
	}
	p.Unavailable = withoutMarks(p.Unavailable, had, p.Now)
	k, err := before.Changed(func(t *instancetypes.InstanceType, o *offerings.Offering) bool {
		more, again := lent[o.ReservationID], o.Unavailable && had[o.Key(t.Name)]
		o.Unavailable = o.Unavailable && !again
		o.ReservationCount += more
		return again || more > 0
	})
	p.Catalog, p.PoolCatalogs = k.All, k.Pools
	return err
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

// spreadOverHosts reports whether a pod has a hard topology spread over hosts. kube-scheduler may bind more of these
// pods to a node than the skew allows in a plan that pins pods, so that the bound of such a plan does not hold for
// kube-scheduler.
func spreadOverHosts(p *scheduling.Problem) bool {
	hard := func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == corev1.LabelHostname && c.WhenUnsatisfiable == corev1.DoNotSchedule
	}
	return slices.ContainsFunc(p.DefaultSpread, hard) || slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, hard)
	})
}
