package whatif

import (
	"cmp"
	"context"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Cases is what several cases come to.
type Cases struct {
	// Cases are the baseline and the others, in their order.
	Cases []*Outcome `json:"cases"`
}

// Outcome is what a case comes to. The JSON names are a contract.
type Outcome struct {
	// Name is that of the case, Flags what it was asked with beside the flags of all cases.
	Name  string   `json:"name"`
	Flags []string `json:"flags"`
	// PricePerHour is what all machines are expected to cost once the pods that wait have theirs
	// and the steps of consolidation are done, Nodes how many there are then. Nodes of no
	// NodePool, or of unknown price, are left out.
	PricePerHour offerings.Price `json:"pricePerHour"`
	Nodes        int             `json:"nodes"`
	// DifferencePerHour is PricePerHour less that of the baseline, which is the first case.
	DifferencePerHour offerings.Price `json:"differencePerHour"`
	// PodsMoved is how many pods that run are evicted on the way, Launches how many machines are
	// bought.
	PodsMoved int `json:"podsMoved"`
	Launches  int `json:"launches"`
	// Added is the share of PricePerHour of the pods that the baseline does not have; nil where
	// there are none.
	Added *Added `json:"added,omitempty"`
	// Anew says that the case is about another place, so that all machines are bought there.
	Anew bool `json:"anew,omitempty"`
	// Staying are nodes that the case would not buy and that stay all the same, by name.
	Staying []string `json:"staying,omitempty"`
	// Unplaced are pods that have no place, by name; those that scheduling gates hold back are
	// left out.
	Unplaced []string `json:"unplaced,omitempty"`
	// Status says how the search ended.
	Status scheduling.Status `json:"status"`
	// Warnings are what was noticed and did not stop the case.
	Warnings []scheduling.Warning `json:"warnings"`

	shares map[string]offerings.Price // by pod
}

// Added is pods that a case adds, those that have a place.
type Added struct {
	// Pods is how many they are.
	Pods int `json:"pods"`
	// PricePerHour is what they have of the price of the machines that they are on, by what they
	// take of the scarcest resource; idle room is nobody's.
	PricePerHour offerings.Price `json:"pricePerHour"`
}

// Against compares an outcome with the baseline.
func (out *Outcome) Against(base *Outcome) {
	out.DifferencePerHour = out.PricePerHour - base.PricePerHour
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

// share notes what each pod has of the price of the machines, once a plan's steps are done.
func (out *Outcome) share(policy scheduling.Policy, c *disruption.Cluster, plan *disruption.Plan) {
	out.shares = map[string]offerings.Price{}
	for _, m := range costs.Machines(c, plan, policy) {
		if at := m.At(math.MaxInt); at != nil {
			for i, pod := range at.Pods {
				out.shares[scheduling.PodName(pod)] = at.Shares.Pods[i]
			}
		}
	}
	for _, pod := range slices.Concat(c.Pods, c.Running) {
		out.shares[scheduling.PodName(pod)] += 0 // where its machine has no price
	}
}

// Answer finds what a cluster comes to: first the pods that wait are planned, then the planner
// disrupts what there is. Nodes that the planner's policy would not buy count as drifted, and
// budgets of NodePools do not hold them. Both plans are verified. known is what the planner makes of c
// as it is, verified; nil where nobody has asked.
func Answer(ctx context.Context, planner disruption.Planner, c disruption.Cluster, known *disruption.Plan) (*Outcome, error) {
	out := &Outcome{Flags: []string{}, Status: scheduling.StatusComplete, Warnings: []scheduling.Warning{}}
	ran := map[string]bool{}
	for _, pod := range c.Running {
		ran[scheduling.PodName(pod)] = true
	}
	nodes := len(c.Nodes)
	if len(c.Pods) > 0 || nodes == 0 {
		known = nil
		plan, err := out.place(ctx, planner, &c)
		if err != nil {
			return nil, err
		}
		if err := carryOut(&c, plan); err != nil {
			return nil, err
		}
		if nodes == 0 {
			out.share(planner.Policy, &c, nil)
			return out, nil
		}
	}
	unwanted, plan := disown(planner.Policy, &c), known
	if plan == nil || len(unwanted) > 0 {
		var err error
		if plan, err = planner.Plan(ctx, c); err != nil {
			return nil, err
		}
		if err := (verify.StepsChecker{Planner: planner}).Steps(c, plan); err != nil {
			return nil, err
		}
	}
	out.share(planner.Policy, &c, plan)
	s := &plan.Summary
	out.PricePerHour, out.Nodes = cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter), s.NodesAfter
	out.Launches += s.Launches
	out.Warnings = append(out.Warnings, plan.Warnings...)
	if s.Status == scheduling.StatusDeadline {
		out.Status = s.Status
	}
	for i := range plan.Steps {
		for _, e := range plan.Steps[i].Evictions {
			if ran[e.Pod] {
				out.PodsMoved++
			}
			if e.To == "" {
				out.Unplaced = append(out.Unplaced, e.Pod)
			}
		}
	}
	for i := range plan.Nodes {
		if v := &plan.Nodes[i]; v.Decision == disruption.Keep && unwanted[v.Node] {
			out.Staying = append(out.Staying, v.Node)
		}
	}
	return out, nil
}

// place plans the pods that wait.
func (out *Outcome) place(ctx context.Context, planner disruption.Planner, c *disruption.Cluster) (*scheduling.Plan, error) {
	plan, err := provisioning.Planner{Policy: planner.Policy, Observer: planner.Observer}.Plan(ctx, c.Problem)
	if err != nil {
		return nil, err
	}
	if err := (verify.Checker{Policy: planner.Policy, SkipRefusals: true}).Plan(c.Problem, plan); err != nil {
		return nil, err
	}
	s := &plan.Summary
	out.PricePerHour, out.Nodes, out.Launches = cmp.Or(s.ExpectedPerHour, s.PricePerHour), s.Nodes, s.Nodes
	out.Status, out.Warnings = s.Status, append(out.Warnings, plan.Warnings...)
	gated := map[string]bool{}
	for _, pod := range c.Pods {
		gated[scheduling.PodName(pod)] = len(pod.Spec.SchedulingGates) > 0
	}
	for i := range plan.Unschedulable {
		if u := &plan.Unschedulable[i]; !gated[u.Pod] {
			out.Unplaced = append(out.Unplaced, u.Pod)
		}
	}
	return plan, nil
}

// carryOut makes the cluster the one in which the plan's machines are there and its pods run.
func carryOut(c *disruption.Cluster, plan *scheduling.Plan) error {
	taken := map[string]bool{}
	for _, node := range c.Nodes {
		taken[node.Name] = true
	}
	bought := map[string]string{} // the node of each launch
	c.Nodes = slices.Clone(c.Nodes)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		name := l.Name
		for taken[name] {
			name += "-new"
		}
		node, err := l.Node(name, &l.Options[0], c.CatalogOf(l.NodePool))
		if err != nil {
			return err
		}
		taken[name], bought[l.Name] = true, name
		c.Nodes = append(c.Nodes, node)
	}
	at := map[types.NamespacedName]string{}
	for pod, place := range plan.Placements() {
		at[pod] = cmp.Or(place.Node, bought[place.Name()])
	}
	waiting := c.Pods
	c.Pods, c.Running = nil, slices.Clone(c.Running)
	for _, pod := range waiting {
		node, placed := at[types.NamespacedName{Namespace: cmp.Or(pod.Namespace, "default"), Name: pod.Name}]
		if !placed {
			c.Pods = append(c.Pods, pod)
			continue
		}
		runs := *pod
		runs.Spec.NodeName, runs.Status.NominatedNodeName = node, ""
		c.Running = append(c.Running, &runs)
	}
	return nil
}
