package realised

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Planner decides which machines to buy; [provisioning.Planner] is one.
type Planner interface {
	Plan(ctx context.Context, p scheduling.Problem) (*scheduling.Plan, error)
}

// Way is how the pods of a plan come onto its machines.
type Way struct {
	// Batches is in how many batches the machines join. Whenever one has joined,
	// kube-scheduler tries all pods that wait, until no more get a node. 0 and 1 are all
	// machines before the first pod is tried.
	Batches int `json:"batches"`
	// Nominated is when pods get their planned node as status.nominatedNodeName; "" is
	// never.
	Nominated Nominated `json:"nominated,omitempty"`
	// Order says in which order the pods were made and the machines join. 0 is the
	// problem's order for pods, any other number is the seed of one drawn at random.
	// Machines join in an order drawn at random with either.
	Order uint64 `json:"order"`
}

// Nominated says when pods are nominated.
type Nominated string

// The ways to nominate.
const (
	// All nominates every pod before the first is tried. kube-scheduler then counts the
	// nominated pods of a node as if they ran there, but of that node alone: pods that
	// spread over zones are refused by the zones of their own nominations.
	All Nominated = "all"
	// InTurn nominates each pod just before it is tried.
	InTurn Nominated = "in turn"
)

// Outcome is the result of a loop. Prices are per hour, as the planner counts them: with
// the planner's costs of nodes beside their machines, if it has any.
type Outcome struct {
	// Planned is the price of the first plan, Bound the price below which no plan for
	// its pods can be, Realised the price of all machines that were bought in the end.
	Planned  offerings.Price `json:"plannedPerHour"`
	Bound    offerings.Price `json:"lowerBoundPerHour"`
	Realised offerings.Price `json:"realisedPerHour"`
	// Expected is the planner's expectation of the price, in the mean of several orders;
	// 0 where it gives none, or where machines come in batches or pods are nominated.
	Expected offerings.Price `json:"expectedPerHour,omitempty"`
	// Pods is how many pods the first plan placed, Unschedulable how many it gave up on;
	// of these the loop knows nothing more.
	Pods          int `json:"pods"`
	Unschedulable int `json:"unschedulable"`
	// Elsewhere is how many pods did not get the node that the first plan says, those among
	// them that it leaves out for the next.
	Elsewhere int `json:"podsElsewhere"`
	// Rounds is how often machines were planned, 1 if every pod got a node at once.
	Rounds int `json:"rounds"`
	// Machines is the number of machines that the first plan buys, Later that of the plans after it.
	Machines int `json:"machines"`
	Later    int `json:"machinesLater"`
	// Waiting is the number of pods without a node at the end, because a later plan gives up on
	// them or kube-scheduler refuses every planned node.
	Waiting int `json:"podsWaiting"`
}

// Over is the realised price over the bound, 1 where the bound is 0.
func (o *Outcome) Over() float64 {
	if o.Bound == 0 {
		return 1
	}
	return o.Realised.USD() / o.Bound.USD()
}

// Gap is how far the planned price is above the bound: 0.01 is 1 %.
func (o *Outcome) Gap() float64 {
	if o.Bound == 0 {
		return 0
	}
	return o.Planned.USD()/o.Bound.USD() - 1
}

// Loop plans for the pods of a problem, binds them with kube-scheduler, and plans again.
type Loop struct {
	planner Planner
	problem *scheduling.Problem
	first   *scheduling.Plan
	// later are pods, by namespace/name, that the first plan does not name and the next may place.
	later map[string]bool
	// expected is the planner's expectation for the first plan; nil if it gives none.
	expected *scheduling.AfterScheduling
}

// realiser is a planner that predicts the realised price of a plan.
type realiser interface {
	Realise(ctx context.Context, p scheduling.Problem, plan *scheduling.Plan) (*scheduling.AfterScheduling, error)
}

// NewLoop plans for a problem. The error is that of the planner.
func NewLoop(ctx context.Context, planner Planner, p *scheduling.Problem) (*Loop, error) {
	first, err := planner.Plan(ctx, *p)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	l := &Loop{planner: planner, problem: p, first: first, expected: first.Summary.AfterScheduling}
	if err := l.expect(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// NewLoopFrom begins with a given plan; planner plans the machines that must be bought after it,
// and gives the bound. It reads the nodes of pods from the plan, and of launches NodePool, first
// option, labels, taints, and requirements for labels that the provider sets. Prices are those
// of the problem. Pods that no launch names and planner has a place for are tried with the others,
// and planned for in the next round. The plan is not changed. The error is that of the
// planner, or names the offering that the problem does not sell.
func NewLoopFrom(ctx context.Context, planner Planner, p *scheduling.Problem, plan *scheduling.Plan) (*Loop, error) {
	own, err := planner.Plan(ctx, *p)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	l := &Loop{planner: planner, problem: p, first: &scheduling.Plan{Launches: plan.Launches, Existing: plan.Existing}, later: map[string]bool{}}
	summary, named := &l.first.Summary, map[string]bool{}
	summary.Nodes, summary.LowerBoundPerHour = len(plan.Launches), own.Summary.LowerBoundPerHour
	for i := range plan.Launches {
		of, err := onSale(p, &plan.Launches[i])
		if err != nil {
			return nil, err
		}
		summary.PricePerHour, _ = summary.PricePerHour.Plus(of.Price)
	}
	for pod := range own.Placements() {
		l.later[pod.String()] = true
	}
	for pod := range plan.Placements() {
		summary.Placed++
		named[pod.String()] = true
		delete(l.later, pod.String())
	}
	for _, pod := range p.Pods {
		if name := scheduling.PodName(pod); !named[name] {
			l.first.Unschedulable = append(l.first.Unschedulable, scheduling.Unschedulable{Pod: name})
		}
	}
	if err := l.expect(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// onSale returns the offering of a launch's first option.
func onSale(p *scheduling.Problem, l *scheduling.Launch) (of offerings.Offering, err error) {
	if len(l.Options) == 0 {
		return of, fmt.Errorf("launch %s of the plan has no options", l.Name)
	}
	key := l.Options[0].Key()
	of, ok := p.CatalogOf(l.NodePool).Lookup(key)
	if !ok || of.ReservationID != key.ReservationID {
		return of, fmt.Errorf("launch %s of the plan: the catalog does not sell %v", l.Name, key)
	}
	return of, nil
}

// expect asks the planner for the expected price of the first plan, if the plan gives none.
func (l *Loop) expect(ctx context.Context) (err error) {
	if r, ok := l.planner.(realiser); ok && l.expected == nil {
		if l.expected, err = r.Realise(ctx, *l.problem, l.first); err != nil {
			return fmt.Errorf("realising: %w", err)
		}
	}
	return nil
}

// Run carries the plan out in one way, and plans again as long as pods have no node and
// the plan before got one for any. The problem is not changed. kube-scheduler evicts no
// pod for another and binds no claims: pods with a higher priority only come first. An
// error means that a plan could not be made or carried out.
func (l *Loop) Run(ctx context.Context, way Way) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	scheduler, err := oracle.NewSchedulerFor(ctx, l.problem)
	if err != nil {
		return nil, err
	}
	summary := &l.first.Summary
	r := &run{
		later: l.later, way: way, scheduler: scheduler, problem: *l.problem, rank: ranks(l.problem.Pods, way.Order),
		dice: rand.New(rand.NewPCG(way.Order, 1)), //nolint:gosec // an order, not a secret
		outcome: Outcome{
			Planned: price(summary), Bound: summary.LowerBoundPerHour, Pods: summary.Placed,
			Unschedulable: len(l.first.Unschedulable) - len(l.later), Machines: summary.Nodes,
		},
	}
	if l.expected != nil && way.Batches < 2 && way.Nominated == "" {
		r.outcome.Expected = l.expected.ExpectedPerHour
	}
	r.problem.Pods = nil
	r.problem.Nodes, r.problem.Running = nil, nil
	return r.untilBound(ctx, l)
}

// price is the expected price of a plan, or its planned one if it gives no expectation.
func price(s *scheduling.Summary) offerings.Price { return cmp.Or(s.ExpectedPerHour, s.PricePerHour) }

// ranks numbers pods, by namespace/name, in the order in which they were made.
func ranks(pods []*corev1.Pod, order uint64) map[string]int {
	at := make([]int, len(pods))
	for i := range at {
		at[i] = i
	}
	if order != 0 {
		dice := rand.New(rand.NewPCG(order, 0)) //nolint:gosec // an order, not a secret
		dice.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	}
	out := make(map[string]int, len(pods))
	for i, pod := range pods {
		out[scheduling.PodName(pod)] = at[i]
	}
	return out
}
