package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// loop is the autoscaler together with the world that it works in.
type loop struct {
	opts       options
	now        time.Time
	world      *simulation.World
	controller *controller.Controller
	ledger     ledger
}

// catalog is the catalog of the pool: machines of three families, of 8 cores.
func catalog() (*instancetypes.Catalog, error) {
	all, err := ec2.Catalog("us-east-1")
	if err != nil {
		return nil, err
	}
	narrow, err := instancetypes.ParseFilter("category in (c m r),generation>=6,arch=amd64,cpu=8,zone in (us-east-1a us-east-1b us-east-1d)")
	if err != nil {
		return nil, err
	}
	return all.Filter(narrow), nil
}

// pool is the NodePool of the cluster.
func pool(opts *options) *scheduling.NodePool {
	p := &scheduling.NodePool{}
	p.Name = "general"
	p.Spec.Template.Spec.Requirements = []requirements.Selector{
		{Key: offerings.CapacityTypeLabel, Operator: requirements.In, Values: []string{"spot", "on-demand"}},
	}
	expire, calm := 30*time.Hour, 2*time.Minute
	p.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{}
	if !opts.steady {
		p.Spec.Template.Spec.ExpireAfter.Duration = &expire
	}
	if opts.nominate {
		p.Spec.Template.Spec.StartupTaints = []corev1.Taint{controller.StartupTaint()}
	}
	p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &calm}
	p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "20%"}}
	return p
}

// newLoop starts with an empty cluster. This is all that it takes to embed the controller; the rest is the world.
func newLoop(opts options) (*loop, error) {
	sale, err := catalog()
	if err != nil {
		return nil, err
	}
	l := &loop{opts: opts, now: simulation.Start()}
	l.world = simulation.NewWorld(simulation.Options{
		Seed: opts.seed, Catalog: sale, Tick: tick, Services: simulation.Services(), JobsPerDay: opts.jobs(), Surge: opts.surge, Flat: opts.steady,
		Noise: opts.noise, Interruptions: opts.interruptions, Scarce: !opts.steady,
		Repriced: func(changes ...instancetypes.OfferingChange) error { return l.controller.SetOfferings(changes...) },
	})
	settings := controller.Options{
		Policy: opts.policy,
		Disruption: disruption.Planner{
			Policy:    scheduling.Policy{Effort: scheduling.EffortFast},
			MinSaving: opts.saving,
		},
		DisruptEvery: opts.every,
		ListEvery:    -1, // each tick, because a notice leaves two minutes
		Parallel:     1,  // so that the same seed gives the same output
		Run:          "example",
		Log:          slog.New(slog.DiscardHandler),
		Clock:        func() time.Time { return l.now },
		Planned:      l.planned, Consolidating: l.consolidating, StepDone: l.stepDone,
	}
	if opts.nominate {
		settings.Nominator = l.world.Cluster
	}
	l.controller, err = controller.New(settings, l.world.Cloud, l.world.Cluster, scheduling.Problem{NodePools: []*scheduling.NodePool{pool(&opts)}, Catalog: sale})
	if err != nil {
		return nil, err
	}
	return l, l.world.Watch(l.controller)
}

// run lets the time pass.
func (l *loop) run(ctx context.Context, length time.Duration) error {
	for end := l.now.Add(length); l.now.Before(end); l.now = l.now.Add(tick) {
		if err := l.step(ctx); err != nil {
			return fmt.Errorf("at %s: %w", l.now.Format(time.DateTime), err)
		}
	}
	return nil
}

// step is one round: the simulated cloud and workload change, then the autoscaler acts.
func (l *loop) step(ctx context.Context) error {
	l.age()
	if err := l.world.Advance(l.now); err != nil {
		return err
	}
	if _, err := l.controller.Reconcile(ctx); err != nil {
		return err
	}
	l.record()
	return nil
}

// planned checks a plan for pending pods.
func (l *loop) planned(p scheduling.Problem, plan *scheduling.Plan) error {
	l.ledger.unplaced += len(plan.Unschedulable)
	if !l.opts.check {
		return nil
	}
	return verify.Plan(p, plan)
}

// consolidating checks a plan of disruption: also that each step that only saves money saves as much as it has to, at the
// prices of now.
func (l *loop) consolidating(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	if len(planner.Reasons) == 0 {
		l.ledger.lowerBound = plan.Summary.LowerBoundPerHour
	}
	for i := range plan.Steps {
		if err := l.worthwhile(&plan.Steps[i]); err != nil {
			return err
		}
	}
	if !l.opts.check {
		return nil
	}
	return (verify.StepsChecker{Planner: planner}).Steps(c, plan)
}

// worthwhile returns an error if a step that only saves money saves less than options.saving.
func (l *loop) worthwhile(step *disruption.Step) error {
	if step.Reason != disruption.Underutilized {
		return nil
	}
	var price offerings.Price
	for _, name := range step.Drain {
		price += l.world.Cloud.Price(name)
	}
	share := offerings.Price(l.opts.saving.Share * float64(price))
	if least := max(l.opts.saving.PerHour, share); step.SavingPerHour < least {
		return fmt.Errorf("a step that drains %v saves %s per hour, and has to save %s", step.Drain, step.SavingPerHour, least)
	}
	return nil
}

func (l *loop) stepDone(step disruption.Step) {
	l.ledger.log = append(l.ledger.log, entry{l.now, step})
}

// age makes every fifth machine drift from its NodePool, at three each night.
func (l *loop) age() {
	if l.opts.steady || l.now.Sub(l.now.Truncate(24*time.Hour)) != 3*time.Hour {
		return
	}
	for name, i := range l.world.Cloud.Instances {
		if strings.HasSuffix(name, "0") || strings.HasSuffix(name, "8") {
			i.Machine.Facts.Drift, i.Machine.Facts.DriftedAt = "its image is old", l.now
		}
	}
}

// record takes down how things stand.
func (l *loop) record() {
	p := point{at: l.now, bound: l.ledger.lowerBound, nodes: len(l.world.Cluster.Nodes)}
	for name := range l.world.Cloud.Instances {
		p.price += l.world.Cloud.Price(name)
	}
	p.pods, p.pending = l.world.Cluster.Count()
	l.ledger.points = append(l.ledger.points, p)
}
