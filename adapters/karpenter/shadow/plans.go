package shadow

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// mostJobs bounds the plans that wait, because each keeps a cluster of the past in memory.
const mostJobs = 100

// jobs are the plans that rounds ask for, made one after the other.
type jobs struct {
	mu      sync.Mutex
	waiting []*job
	done    []*job
	wake    chan struct{}
}

// job is one plan. run is called without the lock of rounds, take with it.
type job struct {
	run  func(context.Context, Options)
	take func()
	// drop is called in place of both where too many plans wait.
	drop func()
}

// add asks for a plan.
func (x *jobs) add(j *job) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.waiting) >= mostJobs {
		j.drop()
		return
	}
	x.waiting = append(x.waiting, j)
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// next is the job that waits longest; nil if none waits.
func (x *jobs) next() *job {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.waiting) == 0 {
		return nil
	}
	j := x.waiting[0]
	x.waiting = append([]*job(nil), x.waiting[1:]...)
	return j
}

func (x *jobs) finish(j *job) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.done = append(x.done, j)
}

// takeResults notes the results of plans.
func (s *Shadow) takeResults() {
	s.jobs.mu.Lock()
	done := s.jobs.done
	s.jobs.done = nil
	s.jobs.mu.Unlock()
	for _, j := range done {
		j.take()
	}
}

// compare is the plan for a decision whose window has passed.
func (s *Shadow) compare(d *pendingDecision) *job {
	w := d.window
	d.window = nil
	settle := func(side Side, unplaced []string, pods int, err error) {
		d.Plimsoll, d.unplaced, d.Pods, d.err, d.planned = side, unplaced, pods, err, true
	}
	p := counterfactual{window: w, cause: d.Cause, now: s.now, budgets: s.state.Budgets()}
	return &job{
		run: func(ctx context.Context, o Options) { p.plan(ctx, &o) },
		take: func() {
			s.ledger.took(string(d.Cause), p.took)
			s.warn(&s.warned.launches, p.launchWarnings)
			s.warn(&s.warned.removals, p.removalWarnings)
			settle(p.side, p.unplaced, p.pods, p.err)
		},
		drop: func() { settle(Side{}, nil, 0, fmt.Errorf("%d other decisions wait for a plan", mostJobs)) },
	}
}

// counterfactual is Plimsoll's decision in place of Karpenter's.
type counterfactual struct {
	window  *window
	cause   Cause
	now     time.Time
	budgets []*policyv1.PodDisruptionBudget

	side     Side
	unplaced []string
	pods     int
	took     time.Duration
	err      error
	// launchWarnings and removalWarnings are those of the plans; nil for a plan that was not made.
	launchWarnings, removalWarnings []scheduling.Warning
}

// warnings are the warnings that plans of each kind had when one was made last.
type warnings struct{ launches, removals, cluster state.WarningLog }

// plan plans nodes for the pending pods if Karpenter has launched nodes, and then the removal of the nodes that it has marked.
func (x *counterfactual) plan(ctx context.Context, o *Options) {
	begin := o.Clock()
	defer func() { x.took, x.window = o.Clock().Sub(begin), nil }()
	var p scheduling.Problem
	p, x.pods = x.window.problem()
	p.Now = x.now
	if len(x.window.created) > 0 && len(p.Pods) > 0 {
		x.err = x.provision(ctx, o, p)
	}
	if x.err == nil && len(x.window.removed) > 0 {
		x.err = x.consolidate(ctx, o, p)
	}
}

func (x *counterfactual) provision(ctx context.Context, o *Options, p scheduling.Problem) error {
	ctx, cancel := context.WithTimeout(ctx, o.PlanTimeout)
	defer cancel()
	session, err := x.window.before.ForProblem(o.Policy, p)
	if err != nil {
		return err
	}
	plan, err := session.Plan(ctx)
	if err != nil {
		return err
	}
	if o.Planned != nil {
		if err := o.Planned(o.Policy, p, plan); err != nil {
			return err
		}
	}
	x.launchWarnings = append([]scheduling.Warning{}, plan.Warnings...)
	for i := range plan.Launches {
		x.side.Launched = append(x.side.Launched, launched(&plan.Launches[i]))
	}
	for i := range plan.Unschedulable {
		x.unplaced = append(x.unplaced, plan.Unschedulable[i].Pod)
	}
	return nil
}

func (x *counterfactual) consolidate(ctx context.Context, o *Options, p scheduling.Problem) error {
	ctx, cancel := context.WithTimeout(ctx, o.PlanTimeout)
	defer cancel()
	planner := disruption.Planner{Now: x.now, Policy: o.Policy, Reasons: []disruption.Reason{disruption.Empty, disruption.Underutilized}}
	if x.cause == CauseDrift {
		planner.Reasons = append(planner.Reasons, disruption.Drifted)
	}
	cluster := clusterOf(p, x.window.claims, x.budgets).KeepAllBut(sortedKeys(x.window.removed)...)
	plan, err := planner.Plan(ctx, cluster)
	if err != nil {
		return err
	}
	if o.Consolidated != nil {
		if err := o.Consolidated(planner, cluster, plan); err != nil {
			return err
		}
	}
	x.removalWarnings = append([]scheduling.Warning{}, plan.Warnings...)
	side := sideOf(&cluster.Problem, plan)
	x.side.Launched, x.side.Removed = append(x.side.Launched, side.Launched...), side.Removed
	return nil
}

// clusterOf is the input of plans that remove nodes.
func clusterOf(p scheduling.Problem, claims []*manifest.NodeClaim, budgets []*policyv1.PodDisruptionBudget) disruption.Cluster {
	s := manifest.Snapshot{Problem: p, NodeClaims: claims, PodDisruptionBudgets: budgets}
	return s.Cluster()
}

// launched is the node of a launch, by its first option.
func launched(l *scheduling.Launch) Node {
	o := &l.Options[0]
	return Node{NodePool: l.NodePool, InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, Price: l.Price}
}

// sideOf has the nodes that the steps of a plan launch and remove.
func sideOf(p *scheduling.Problem, plan *disruption.ConsolidationPlan) (side Side) {
	nodes := map[string]Node{}
	for _, node := range p.Nodes {
		key := instancetypes.OfferingOf(node)
		pool := node.Labels[scheduling.NodePoolLabel]
		o, _ := p.CatalogOf(pool).LookupNode(node) // steps that save remove no node without a price
		nodes[node.Name] = Node{Name: node.Name, NodePool: pool, InstanceType: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType, Price: o.Price}
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for j := range step.Launches {
			n := launched(&step.Launches[j])
			nodes[step.Launches[j].Name] = n
			side.Launched = append(side.Launched, n)
		}
		for _, name := range step.Drain {
			side.Removed = append(side.Removed, nodes[name])
		}
	}
	return side
}

// Standing has the price of the whole cluster, now and after consolidation, in USD per hour.
type Standing struct {
	// At is the time of the cluster; zero until the first plan.
	At time.Time
	// Now is the price of the nodes of NodePools, Consolidated their price after Plimsoll's plan, and LowerBound a proven
	// price below which no plan comes while nodes that may not be removed stay; 0 where none is proven.
	Now, Consolidated, LowerBound offerings.Price
}

// wholeCluster is a plan that consolidates the cluster as it is.
func (s *Shadow) wholeCluster() *job {
	fork, claims, budgets, now := s.state.Session().Fork(), s.nodeClaims(nil), s.state.Budgets(), s.now
	var standing Standing
	var warned []scheduling.Warning
	var err error
	var took time.Duration
	return &job{
		run: func(ctx context.Context, o Options) {
			begin := o.Clock()
			standing, warned, err = consolidated(ctx, &o, fork, claims, budgets, now)
			took, fork = o.Clock().Sub(begin), nil
		},
		take: func() {
			s.ledger.took("cluster", took)
			if err != nil {
				s.opts.Log.Warn("cluster is not compared", "error", err)
				return
			}
			s.warn(&s.warned.cluster, warned)
			s.ledger.compared(standing)
			s.opts.Log.Info("cluster", "perHour", standing.Now, "consolidatedPerHour", standing.Consolidated, "lowerBoundPerHour", standing.LowerBound)
		},
		drop: func() {},
	}
}

func consolidated(ctx context.Context, o *Options, fork *provisioning.Session, claims []*manifest.NodeClaim, budgets []*policyv1.PodDisruptionBudget, now time.Time) (Standing, []scheduling.Warning, error) {
	ctx, cancel := context.WithTimeout(ctx, o.PlanTimeout)
	defer cancel()
	planner := disruption.Planner{Now: now, Policy: o.Policy, Reasons: []disruption.Reason{disruption.Empty, disruption.Underutilized}}
	cluster := clusterOf(fork.Problem(), claims, budgets)
	plan, err := planner.Plan(ctx, cluster)
	if err != nil {
		return Standing{}, nil, err
	}
	if o.Consolidated != nil {
		if err := o.Consolidated(planner, cluster, plan); err != nil {
			return Standing{}, nil, err
		}
	}
	sum := &plan.Summary
	return Standing{
		At: now, Now: cmp.Or(sum.ExpectedPerHourBefore, sum.PricePerHourBefore),
		Consolidated: cmp.Or(sum.ExpectedPerHourAfter, sum.PricePerHourAfter), LowerBound: sum.LowerBoundPerHour,
	}, plan.Warnings, nil
}

// warn logs the warnings of a plan that the last plan of its kind did not have; nil is no plan.
func (s *Shadow) warn(log *state.WarningLog, found []scheduling.Warning) {
	if found != nil {
		log.Log(context.Background(), s.opts.Log, found)
	}
}
