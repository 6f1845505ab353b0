package whatif

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Cases is the outcomes of several cases.
type Cases struct {
	// Cases are the outcomes, the baseline first.
	Cases []*Outcome `json:"cases"`
}

// Outcome is the planned cluster of a case. The JSON names are a contract.
type Outcome struct {
	// Name is that of the case, Flags are its own flags beside those of all cases.
	Name  string   `json:"name"`
	Flags []string `json:"flags"`
	// PricePerHour is the expected price of all nodes once the steps of consolidation are done
	// and the pods that are pending then have their nodes, Nodes their number. Nodes without a
	// NodePool, or of unknown price, are left out.
	PricePerHour offerings.Price `json:"pricePerHour"`
	Nodes        int             `json:"nodes"`
	// Bill is the bill of all nodes then, under the commitments and discounts of --billing; nil without it.
	Bill *billing.Bill `json:"bill,omitempty"`
	// Pending is the part of PricePerHour for nodes that pending pods need once the steps are done, which the
	// plan of consolidation does not count; nil where they need none.
	Pending *Pending `json:"pending,omitempty"`
	// ComparedWith is the case whose price is taken off for DifferencePerHour: the baseline, or for a
	// rebuild in another region the rebuild in the cluster's own. With Bill it is the difference of the bills
	// and of costs beside them, such as node overhead. Both are "" and 0 where the prices
	// cannot be compared, because one of the cases has no place for pods that the other places.
	ComparedWith      string          `json:"comparedWith,omitempty"`
	DifferencePerHour offerings.Price `json:"differencePerHour"`
	// Unchanged is the reason why the case cannot change anything, so that its figures are those of the
	// baseline; "" where it can.
	Unchanged string `json:"unchanged,omitempty"`
	// PodsMoved is the number of evictions of running pods, Launches the number of launched nodes.
	PodsMoved int `json:"podsMoved"`
	Launches  int `json:"launches"`
	// Added is the share of PricePerHour of the pods that the baseline does not have; nil where
	// there are none.
	Added *Added `json:"added,omitempty"`
	// Rebuild says that the case is a rebuild: all pods are placed on new nodes, in another region or,
	// to compare with, in the cluster's own.
	Rebuild bool `json:"rebuild,omitempty"`
	// Staying are nodes that the case would not launch and that are not removed, by name.
	Staying []string `json:"staying,omitempty"`
	// Unplaced names the pods without a place, but for virtual pods and pods with scheduling gates.
	Unplaced []string `json:"unplaced,omitempty"`
	// UnplacedVirtual names the virtual pods without a place, for which no room is kept free.
	UnplacedVirtual []string `json:"unplacedVirtual,omitempty"`
	// Status says how the search ended.
	Status scheduling.Status `json:"status"`
	// Warnings are faults of the input that did not stop the case.
	Warnings []scheduling.Warning `json:"warnings"`

	beside  offerings.Price            // the part of PricePerHour beside the price of instances
	shares  map[string]offerings.Price // by pod, including pods removed with their node
	rebuilt offerings.Price            // of the running cluster rebuilt from scratch, as consolidate shows it; 0 if it was not planned
}

// Pending is the pods that are pending once the steps of consolidation are done and then get a node.
type Pending struct {
	// Pods is their number, on existing nodes too, and Launches the number of launched nodes.
	Pods     int `json:"pods"`
	Launches int `json:"launches"`
	// PricePerHour is the expected price of the launched nodes.
	PricePerHour offerings.Price `json:"pricePerHour"`
}

// Added is the pods that a case adds and that have a place.
type Added struct {
	// Pods is their number.
	Pods int `json:"pods"`
	// PricePerHour is the pods' share of the price of their nodes, divided by requests of the
	// scarcest resource; idle resources belong to no pod.
	PricePerHour offerings.Price `json:"pricePerHour"`
}

// Against compares an outcome with the baseline, and its price with that of the case planned alike:
// the baseline, or for a rebuild elsewhere the rebuild of the same pods in the cluster's own region.
func (out *Outcome) Against(base, rebuilt *Outcome) {
	like := base
	if out.Rebuild {
		like = rebuilt
	}
	if like != nil && like != out && slices.Equal(like.missing(), out.missing()) {
		out.ComparedWith, out.DifferencePerHour = like.Name, out.Total()-like.Total()
	}
	added := Added{}
	for pod, price := range out.shares {
		if _, had := base.shares[pod]; !had {
			added.Pods++
			added.PricePerHour += price
		}
	}
	if added.Pods > 0 {
		out.Added = &added
	}
}

// Total is the price of a case that is compared: the bill of all nodes with costs beside it, such as node overhead, or without
// commitments and discounts PricePerHour.
func (out *Outcome) Total() offerings.Price {
	if out.Bill == nil {
		return out.PricePerHour
	}
	return offerings.Sum(out.Bill.PerHour, out.beside)
}

// missing are the pods that have no place, virtual ones too, in one order.
func (out *Outcome) missing() []string {
	return slices.Sorted(slices.Values(slices.Concat(out.Unplaced, out.UnplacedVirtual)))
}

// As returns the outcome for a case that cannot change the result, with because as the reason.
func (out *Outcome) As(name string, flags []string, because string) *Outcome {
	same := *out
	same.Name, same.Flags, same.Unchanged = name, flags, because
	return &same
}

// know records the cluster's pods before planning, because DaemonSet pods go with their nodes.
func (out *Outcome) know(c *disruption.Cluster) {
	out.shares = map[string]offerings.Price{}
	for _, pod := range slices.Concat(c.Pods, c.Running) {
		out.shares[scheduling.PodName(pod)] = 0
	}
}

// share records each pod's share in the price of the nodes of a cluster.
func (out *Outcome) share(policy scheduling.Policy, c *disruption.Cluster) {
	for _, m := range costs.Machines(c, nil, policy) {
		if at := m.At(math.MaxInt); at != nil {
			for i, pod := range at.Pods {
				out.shares[scheduling.PodName(pod)] = at.Shares.Pods[i]
			}
		}
	}
}

// Answer plans the cluster of a question: first the planner disrupts its nodes, as consolidate does,
// then the pods that are still pending are planned. Pods that the baseline does not have, a new workload,
// run by then: they are planned before, so that nodes are removed with them in place. Nodes that the
// planner's policy would not buy count as drifted, and budgets of NodePools do not limit them. All plans are
// verified. base is the baseline's cluster, nil for the baseline itself; known is the planner's verified
// plan for the cluster, nil if there is none yet.
func (q *Question) Answer(ctx context.Context, base *disruption.Cluster, known *disruption.ConsolidationPlan) (*Outcome, error) {
	planner, c := q.Planner, q.Cluster
	out := &Outcome{Flags: []string{}, Status: scheduling.StatusComplete, Warnings: []scheduling.Warning{}}
	out.know(&c)
	if len(c.Nodes) > 0 {
		if err := q.start(ctx, out, &c, base); err != nil {
			return nil, err
		}
		unwanted := disown(planner.Policy, &c)
		if len(unwanted) > 0 {
			known = nil
		}
		plan, err := q.consolidate(ctx, c, known)
		if err != nil {
			return nil, err
		}
		out.count(plan, unwanted)
		c = schedulingtest.Apply(c, 0, plan.Steps...)
	}
	if len(c.Pods) > 0 || len(c.Nodes) == 0 {
		plan, err := q.provision(ctx, c.Problem)
		if err != nil {
			return nil, err
		}
		out.countPending(plan, c.Pods)
		if err := carryOut(&c, plan, nil); err != nil {
			return nil, err
		}
	}
	q.finish(out, &c)
	return out, nil
}

// finish states the shares of pods in the cluster once all is done, and its bill.
func (q *Question) finish(out *Outcome, c *disruption.Cluster) {
	out.share(q.Planner.Policy, c)
	if q.Bills != nil {
		out.Bill = lo.ToPtr(q.Bills.Of(c.Nodes))
	}
}

// Rebuilt plans all pods of the cluster on new nodes, as consolidate plans the cluster rebuilt from scratch, and verifies the plan. The
// cluster has no nodes; all of its pods are pending.
func (q *Question) Rebuilt(ctx context.Context) (*Outcome, error) {
	planner, c := q.Planner, q.Cluster
	out := &Outcome{Flags: []string{}, Status: scheduling.StatusComplete, Warnings: []scheduling.Warning{}, Rebuild: true}
	out.know(&c)
	plan, err := planner.Rebuild(ctx, c.Problem)
	if err != nil {
		return nil, err
	}
	planner.Policy.Placement = scheduling.PlacementPinned
	if plan, err = judged.Plan(ctx, provisioning.Planner{Policy: planner.Policy}, c.Problem, plan); err != nil {
		return nil, err
	}
	out.countPending(plan, c.Pods)
	err = carryOut(&c, plan, nil)
	q.finish(out, &c)
	return out, err
}

// start has the pods run that the baseline does not have, as far as they have a place beside its pending pods. Virtual pods never
// run: the steps keep their room.
func (q *Question) start(ctx context.Context, out *Outcome, c, base *disruption.Cluster) error {
	if base == nil {
		return nil
	}
	had, held := map[string]bool{}, map[string]bool{}
	for _, pod := range slices.Concat(base.Pods, base.Running) {
		had[scheduling.PodName(pod)] = true
	}
	for _, pod := range c.Pods {
		if had[scheduling.PodName(pod)] || scheduling.IsVirtual(pod) {
			held[scheduling.PodName(pod)] = true
		}
	}
	if len(held) == len(c.Pods) {
		return nil
	}
	plan, err := q.provision(ctx, c.Problem)
	if err != nil {
		return err
	}
	nodes := len(c.Nodes)
	err = carryOut(c, plan, held)
	out.Launches += len(c.Nodes) - nodes
	return err
}

// consolidate returns known, or else plans disruption and verifies the plan.
func (q *Question) consolidate(ctx context.Context, c disruption.Cluster, known *disruption.ConsolidationPlan) (*disruption.ConsolidationPlan, error) {
	if known != nil {
		return known, nil
	}
	plan, err := q.Planner.Plan(ctx, c)
	if err != nil {
		return nil, err
	}
	if plan, err = judged.Steps(ctx, q.Planner, c, plan); err != nil {
		return nil, err
	}
	return q.Bills.Steps(ctx, q.Planner, c, plan)
}

// provision plans pods that are pending, and verifies that.
func (q *Question) provision(ctx context.Context, p scheduling.Problem) (*scheduling.Plan, error) {
	solver := provisioning.Planner{Policy: q.Planner.Policy, Observer: q.Planner.Observer}
	plan, _, err := q.Bills.Launches(p, func(p scheduling.Problem) (*scheduling.Plan, error) {
		plan, err := solver.Plan(ctx, p)
		if err != nil {
			return nil, err
		}
		return judged.Plan(ctx, solver, p, plan)
	})
	return plan, err
}

// count adds prices and numbers of a plan of steps.
func (out *Outcome) count(plan *disruption.ConsolidationPlan, unwanted map[string]bool) {
	s := &plan.Summary
	out.PricePerHour, out.Nodes = cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter), s.NodesAfter
	out.beside = out.PricePerHour - s.PricePerHourAfter
	out.PodsMoved = s.PodsMoved
	if r := s.Rebuilt; r != nil {
		out.rebuilt = cmp.Or(r.ExpectedPerHour, r.PricePerHour)
	}
	out.Launches += s.Launches
	out.Warnings, out.Status = append(out.Warnings, plan.Warnings...), s.Status
	for i := range plan.Nodes {
		if v := &plan.Nodes[i]; v.Decision == disruption.Keep && unwanted[v.Node] {
			out.Staying = append(out.Staying, v.Node)
		}
	}
}

// countPending adds the price and nodes of pods that are pending once the steps are done.
func (out *Outcome) countPending(plan *scheduling.Plan, pods []*corev1.Pod) {
	s := &plan.Summary
	price := cmp.Or(s.ExpectedPerHour, s.PricePerHour)
	if s.Nodes > 0 && out.Nodes > 0 {
		out.Pending = &Pending{Pods: len(pods) - len(plan.Unschedulable), Launches: s.Nodes, PricePerHour: price}
	}
	out.PricePerHour += price
	out.beside += price - s.PricePerHour
	out.Nodes += s.Nodes
	out.Launches += s.Nodes
	out.Warnings = append(out.Warnings, plan.Warnings...)
	if s.Status == scheduling.StatusDeadline {
		out.Status = s.Status
	}
	byName := lo.KeyBy(pods, scheduling.PodName)
	for i := range plan.Unschedulable {
		switch name := plan.Unschedulable[i].Pod; {
		case scheduling.IsVirtual(byName[name]):
			out.UnplacedVirtual = append(out.UnplacedVirtual, name)
		case len(byName[name].Spec.SchedulingGates) == 0:
			out.Unplaced = append(out.Unplaced, name)
		}
	}
}

// carryOut adds the plan's nodes to the cluster and lets its pods run, but for held pods: these stay
// pending, and nodes that only they need are not launched.
func carryOut(c *disruption.Cluster, plan *scheduling.Plan, held map[string]bool) error {
	taken := map[string]bool{}
	for _, node := range c.Nodes {
		taken[node.Name] = true
	}
	launched := map[string]string{} // the node of each launch
	c.Nodes = slices.Clone(c.Nodes)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		if !slices.ContainsFunc(l.Pods, func(pod string) bool { return !held[pod] }) {
			continue
		}
		name := l.Name
		for taken[name] {
			name += "-new"
		}
		node, err := l.Node(name, &l.Options[0], c.CatalogOf(l.NodePool))
		if err != nil {
			return err
		}
		taken[name], launched[l.Name] = true, name
		c.Nodes = append(c.Nodes, node)
	}
	at := map[types.NamespacedName]string{}
	for pod, place := range plan.Placements() {
		at[pod] = cmp.Or(place.Node, launched[place.Name()])
	}
	pending := c.Pods
	c.Pods, c.Running = nil, slices.Clone(c.Running)
	for _, pod := range pending {
		node, placed := at[types.NamespacedName{Namespace: cmp.Or(pod.Namespace, "default"), Name: pod.Name}]
		if !placed || held[scheduling.PodName(pod)] {
			c.Pods = append(c.Pods, pod)
			continue
		}
		runs := *pod
		runs.Spec.NodeName, runs.Status.NominatedNodeName = node, ""
		c.Running = append(c.Running, &runs)
	}
	return nil
}
