package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// loop is the autoscaler together with the cluster and the cloud that it works for.
type loop struct {
	opts       options
	now        time.Time
	dice       *rand.Rand
	cloud      *cloud
	cluster    *cluster
	controller *controller.Controller
	ledger     ledger
	jobs       []job
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
	l := &loop{opts: opts, now: start(), dice: rand.New(rand.NewPCG(opts.seed, 2)), cloud: newCloud(opts, sale), ledger: ledger{moves: map[string]int{}}}
	l.cluster = newCluster(&l.ledger)
	settings := controller.Options{
		Policy: opts.policy,
		Disruption: disruption.Planner{
			Policy:    scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree},
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
		settings.Nominator, settings.Policy.Placement = l.cluster, scheduling.PlacementNominated
	}
	l.controller, err = controller.New(settings, l.cloud, l.cluster, scheduling.Problem{NodePools: []*scheduling.NodePool{pool(&opts)}, Catalog: sale})
	if err != nil {
		return nil, err
	}
	l.cluster.upsert, l.cluster.remove = l.controller.Upsert, l.controller.Delete
	objects := []metav1.Object{agent()}
	for _, b := range budgets() {
		objects = append(objects, b)
	}
	return l, l.controller.Upsert(objects...)
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
	if err := l.world(); err != nil {
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
		if l.cloud.instances[name] != nil {
			price += l.cloud.price(name)
		}
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

// world makes the changes that the autoscaler does not cause: prices, interruptions, nodes that join, pods.
func (l *loop) world() error {
	l.cloud.now = l.now
	if l.now.Equal(l.now.Truncate(time.Hour)) {
		changes, err := l.cloud.hourly()
		if err != nil {
			return err
		}
		if err := l.controller.SetOfferings(changes...); err != nil {
			return err
		}
	}
	noticed, _ := l.cloud.interrupt()
	l.ledger.interruptions += noticed
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(l.cluster.nodes)) {
		if l.cloud.instances[name] == nil {
			killed, err := l.cluster.deleteNode(name)
			l.ledger.killed += killed
			errs = append(errs, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.cloud.instances)) {
		i := l.cloud.instances[name]
		if i.joined || l.now.Before(i.ready) {
			continue
		}
		i.joined = true
		node, err := i.Order.Launch.Node(name, &i.Order.Option, l.cloud.sale)
		if err != nil {
			return err
		}
		node.Spec.Taints = append(node.Spec.Taints, i.Order.Launch.StartupTaints...)
		errs = append(errs, l.cluster.join(node, l.now))
	}
	l.age()
	errs = append(errs, l.scale(), l.batch(), l.cluster.schedule(l.cloud.sale, l.now))
	return errors.Join(errs...)
}

// age makes every fifth machine drift from its NodePool, at three each night.
func (l *loop) age() {
	if l.opts.steady || l.now.Sub(l.now.Truncate(24*time.Hour)) != 3*time.Hour {
		return
	}
	for name, i := range l.cloud.instances {
		if strings.HasSuffix(name, "0") || strings.HasSuffix(name, "8") {
			i.Facts.Drift, i.Facts.DriftedAt = "its image is old", l.now
		}
	}
}

// scale makes and removes pods of services.
func (l *loop) scale() error {
	var errs []error
	for _, s := range services() {
		want := s.replicas(l.now, l.opts.steady)
		if l.now.Before(start().Add(l.opts.surge)) {
			want += want / 2
		}
		for n := range want {
			if p := s.pod(n); l.cluster.pods[scheduling.PodName(p)] == nil {
				errs = append(errs, l.cluster.create(p))
			}
		}
		for n := want; l.cluster.pods[scheduling.PodName(s.pod(n))] != nil; n++ {
			errs = append(errs, l.cluster.deletePod(scheduling.PodName(s.pod(n))))
		}
	}
	return errors.Join(errs...)
}

// batch lets jobs come and end.
func (l *loop) batch() error {
	if l.opts.steady {
		return nil
	}
	var errs []error
	l.jobs = slices.DeleteFunc(l.jobs, func(j job) bool {
		if l.now.Before(j.ends) {
			return false
		}
		for n := range j.pods {
			errs = append(errs, l.cluster.deletePod(scheduling.PodName(j.pod(n))))
		}
		return true
	})
	if j, ok := nextJob(l.dice, l.now, int(l.now.Sub(start())/tick)); ok {
		l.jobs = append(l.jobs, j)
		for n := range j.pods {
			errs = append(errs, l.cluster.create(j.pod(n)))
		}
	}
	return errors.Join(errs...)
}

// record takes down how things stand.
func (l *loop) record() {
	p := point{at: l.now, bound: l.ledger.lowerBound, nodes: len(l.cluster.nodes)}
	for name := range l.cloud.instances {
		p.price += l.cloud.price(name)
	}
	p.pods, p.pending = l.cluster.count()
	l.ledger.points = append(l.ledger.points, p)
}
