package steps

import (
	"math/big"
	"slices"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// ProveBound judges the lower bound: the price of a new cluster for the pods of the nodes that may go for some reason, virtual pods with room included,
// beside the nodes that may not. It returns the proof of the first price, which has no terms where the certificate need not
// be read, and the second price. Pods that the plan leaves out are left out.
func (a *Audit) ProveBound(report *rule.Report) (proof *certificate.Proof, kept offerings.Price) {
	s, nothing := &a.plan.Summary, &certificate.Proof{Proven: new(big.Int)}
	if s.LowerBoundPerHour <= 0 {
		return nothing, 0
	}
	problem, policy, price := a.rebuildProblem()
	rest := new(big.Int).Sub(big.NewInt(int64(s.LowerBoundPerHour)), price)
	kept = offerings.MaxPrice
	if price.IsInt64() {
		kept = offerings.Price(price.Int64())
	}
	if rest.Sign() <= 0 { // the nodes that stay cost as much
		return nothing, kept
	}
	w := snapshot.New(problem, policy)
	left := make(map[string]bool)
	for i, name := range s.LeftOut {
		if w.Pods[name] == nil {
			report.Add(rule.PodUnknown, "summary", "leftOut: %s is not a pod of a node that may be removed", name)
		}
		if i > 0 && s.LeftOut[i-1] >= name {
			report.Add(rule.Unsorted, "summary", "leftOut: %s must be listed before %s", name, s.LeftOut[i-1])
		}
		left[name] = true
	}
	isPlaced := func(name string) bool { return !w.Pods[name].IsHeld() && !left[name] }
	return certificate.NewClaim(report, w, offerings.Price(rest.Int64()), isPlaced, nil).Judge(s.Certificate), kept
}

// rebuildProblem returns the problem of a new cluster in place of the nodes that may go, its policy, and the price of the
// pools' nodes that may not.
func (a *Audit) rebuildProblem() (scheduling.Problem, scheduling.Policy, *big.Int) {
	cluster := a.withRoom()
	g := newClusterState(&a.planner, cluster, &disruption.ConsolidationPlan{})
	problem, kept := cluster.Problem, new(big.Int)
	problem.Nodes, problem.Pods, problem.Running = nil, nil, nil
	goes := make(map[string]bool)
	var leave []*clusterNode
	for _, node := range cluster.Nodes {
		s := g.nodes[node.Name]
		if goes[node.Name] = g.mayGoForSome(s); goes[node.Name] {
			leave = append(leave, s)
			continue
		}
		problem.Nodes = append(problem.Nodes, node)
		if s.node.Pool != nil && s.priced {
			kept.Add(kept, big.NewInt(s.price))
		}
	}
	for _, pod := range lo.Compact(slices.Concat(cluster.Running, cluster.Pods)) {
		switch {
		case pod.Spec.NodeName == "":
		case !goes[pod.Spec.NodeName]:
			problem.Running = append(problem.Running, pod)
		case reschedulable(pod):
			problem.Pods = append(problem.Pods, unplaced(pod))
		}
	}
	solver := g.onSale(&problem, leave)
	return problem, solver, kept
}

// onSale puts the machines of the nodes on sale again, because they may stay: amounts that a reservation has lent
// them, and offerings that are unavailable now. The policy that it returns allows them even where its settings
// exclude them.
func (g *clusterState) onSale(problem *scheduling.Problem, nodes []*clusterNode) scheduling.Policy {
	type sold struct{ kind, zone, by, id string }
	had, lent := make(map[sold]bool), make(map[string]int64)
	unavailable := &offerings.Unavailable{}
	marks := make(map[offerings.Key]time.Time)
	for key, until := range problem.Unavailable.All() {
		marks[key] = until
	}
	for _, s := range nodes {
		labels := snapshot.StableLabels(s.node.Running.Labels)
		x := sold{labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[offerings.CapacityTypeLabel], snapshot.ReservationOf(s.node.Running)}
		had[x] = true
		if id, amount := g.state.Drawn(s.node.Running); id != "" {
			lent[id] += amount
		}
		for key := range marks {
			is := func(mark, value string) bool { return mark == "" || mark == value }
			if is(key.InstanceType, x.kind) && is(key.Zone, x.zone) && is(string(key.CapacityType), x.by) && is(key.ReservationID, x.id) {
				delete(marks, key)
			}
		}
	}
	for key, until := range marks {
		unavailable.Mark(key, problem.Now, until.Sub(problem.Now))
	}
	if problem.Unavailable.Len() > 0 {
		problem.Unavailable = unavailable
	}
	again := func(old *instancetypes.Catalog) *instancetypes.Catalog {
		var changes []instancetypes.OfferingChange
		for t := range old.All() {
			for _, o := range t.Offerings {
				was := o
				if had[sold{t.Name, o.Zone, string(o.CapacityType), o.ReservationID}] {
					o.Unavailable = false
				}
				o.ReservationCount += lent[o.ReservationID]
				if o.Unavailable != was.Unavailable || o.ReservationCount != was.ReservationCount {
					changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
				}
			}
		}
		if len(changes) == 0 {
			return old
		}
		out, err := old.WithOfferings(changes...)
		if err != nil {
			return old // it was a catalog before
		}
		return out
	}
	problem.Catalog = again(problem.Catalog)
	own := make(map[string]*instancetypes.Catalog, len(problem.PoolCatalogs))
	for name, old := range problem.PoolCatalogs {
		own[name] = again(old)
	}
	problem.PoolCatalogs = own
	solver, settings := g.rules.planner.Policy, snapshot.Policy(g.rules.planner.Policy)
	solver.NoSpot, solver.Size = false, scheduling.NodeSize{}
	solver.Filters = []instancetypes.Filter{func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		return had[sold{t.Name, o.Zone, string(o.CapacityType), o.ReservationID}] || settings.Excluded(t, o) == ""
	}}
	return solver
}

// mayGoForSome reports whether the node may be disrupted for a reason of the planner, without regard to the budgets
// of its pool. A node without a pool or of unknown price may not.
func (g *clusterState) mayGoForSome(s *clusterNode) bool {
	if s.node.Pool == nil || !s.priced {
		return false
	}
	for _, reason := range reasons() {
		if reason == disruption.Misplaced || !g.rules.disruptsFor(reason) {
			continue
		}
		r := &rule.Report{}
		drains := &drainCheck{g, r, reason}
		if drains.mayGo(s, ""); len(r.Violations) == 0 {
			return true
		}
	}
	return false
}
