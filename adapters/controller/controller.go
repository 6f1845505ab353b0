package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Options are the settings of a [Controller]. The zero value works.
type Options struct {
	// Policy is how machines are chosen for pending pods. Where its Placement is "", it is
	// [scheduling.PlacementNominated] with a Nominator, and [scheduling.PlacementFree] without one.
	Policy scheduling.Policy
	// Disruption plans which nodes to remove. The controller sets its Now. The Placement of its Policy must be "" or
	// [scheduling.PlacementFree], which "" means: evicted pods are not nominated, so that kube-scheduler binds them
	// where it likes. With any other placement a step expects pods on nodes that they do not get, and the next plan
	// consolidates again, without end.
	Disruption disruption.Planner
	// DisruptEvery is the time between two plans of disruption; 0 is one minute, and below 0 nodes are removed only
	// when they are about to be interrupted.
	DisruptEvery time.Duration
	// BatchIdle is how long no further pod must have come before pods are planned, BatchMax how long they wait at
	// most; 0 is 1 s and 10 s, as in Karpenter. Below 0 they do not wait.
	BatchIdle, BatchMax time.Duration
	// RegistrationTimeout is how long a machine may take until its node is ready; 0 is 15 minutes, as in Karpenter.
	RegistrationTimeout time.Duration
	// DrainTimeout is how long a step may wait for one wave of evictions before it is abandoned; 0 is 15 minutes. Steps
	// for an interruption are never abandoned for it.
	DrainTimeout time.Duration
	// ListEvery is the time between two calls of Provider.Machines; 0 is 30 s. Below 0 each Reconcile calls it.
	ListEvery time.Duration
	// PlanTimeout bounds the time of a plan; 0 is no bound. The best plan by then is carried out. A plan blocks its
	// Reconcile, so that pods that come meanwhile wait for its end.
	PlanTimeout time.Duration
	// Nominator is told on which node each pending pod is planned; nil for none.
	Nominator Nominator
	// Parallel is how many machines are ordered, or pods nominated, at the same time; 0 is 10.
	Parallel int
	// Log is told about launches, steps and failures; nil is [slog.Default].
	Log *slog.Logger
	// Clock is the time; nil is [time.Now].
	Clock func() time.Time
	// Run is part of the IDs of orders, and must differ from run to run; "" is random.
	Run string
	// Planned is told each plan for pending pods before its machines are ordered, Consolidating each plan of
	// disruption before its first step; nil for none. They must change neither. A machine without a node is a node in the
	// problem that is called order- and the ID of the order. An error ends the Reconcile, and the plan is not carried out.
	Planned       func(scheduling.Problem, *scheduling.Plan) error
	Consolidating func(disruption.Planner, disruption.Cluster, *disruption.ConsolidationPlan) error
	// StepDone is told each step that has been carried out; nil for none.
	StepDone func(disruption.Step)
}

// withDefaults is the options with the documented values for zeros.
func (o Options) withDefaults() Options {
	placement := scheduling.PlacementFree
	if o.Nominator != nil {
		placement = scheduling.PlacementNominated
	}
	o.Policy.Placement = cmp.Or(o.Policy.Placement, placement)
	o.Disruption.Policy.Placement = cmp.Or(o.Disruption.Policy.Placement, scheduling.PlacementFree)
	o.DisruptEvery = cmp.Or(o.DisruptEvery, time.Minute)
	o.BatchIdle = cmp.Or(o.BatchIdle, time.Second)
	o.BatchMax = cmp.Or(o.BatchMax, 10*time.Second)
	o.RegistrationTimeout = cmp.Or(o.RegistrationTimeout, 15*time.Minute)
	o.DrainTimeout = cmp.Or(o.DrainTimeout, 15*time.Minute)
	o.ListEvery = cmp.Or(o.ListEvery, 30*time.Second)
	o.Parallel = cmp.Or(o.Parallel, 10)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // a controller is where the time comes from
	}
	o.Run = cmp.Or(o.Run, rand.Text()[:8])
	return o
}

// Controller plans and acts for one cluster. Upsert, Delete, Resync and Stats may be called at any time and from any
// goroutine.
type Controller struct {
	provider Provider
	evictor  Evictor
	opts     Options

	// mu is held by Reconcile. The fields below belong to it.
	mu    sync.Mutex
	clock clock
	// state has the objects of the cluster, and the session.
	state *state.Cluster
	// machines are those ordered or listed, by the ID of their order or, without an order, by name.
	machines map[string]*machine
	// byName finds the machine of a node: by the names of node and machine, and by providerName.
	byName map[string]*machine
	orders int
	// forgotten are orders whose node the session has still, refresh the nodes that plans see in another way now.
	forgotten []string
	refresh   map[string]bool
	listed    bool
	listAt    time.Duration
	// unavailable are the offerings that the provider had none of lately.
	unavailable *offerings.Unavailable
	pods        waiting
	// The warnings of plans for pending pods, and of plans of disruption, that are logged.
	warned, disruptionWarned state.WarningLog
	// queues are the plans of disruption that are being carried out, at the same time: one for each interruption, and at
	// most one for all other reasons.
	queues []*queue
	// closing are the nodes that these steps remove, and those of steps that are done until the node is gone.
	closing map[string]bool
	// starting are the nodes with [StartupTaint], with the time at which this run first saw it.
	starting  map[string]time.Duration
	disruptAt time.Duration
	stats     Stats
	statsMu   sync.Mutex
}

// New starts a controller. The problem has the objects that do not come as events: catalog, kube-scheduler's
// configuration, NodePools if they are not watched. It must have no pods and no nodes. The error names the argument that
// is missing, or the option or object that is invalid.
func New(opts Options, provider Provider, evictor Evictor, p scheduling.Problem) (*Controller, error) {
	switch {
	case provider == nil:
		return nil, errors.New("controller: the provider is missing")
	case evictor == nil:
		return nil, errors.New("controller: the evictor is missing")
	}
	opts = opts.withDefaults()
	if at := opts.Disruption.Policy.Placement; at != scheduling.PlacementFree {
		return nil, fmt.Errorf("controller: Options.Disruption.Policy.Placement is %q: must be %q, because kube-scheduler binds evicted pods where it likes", at, scheduling.PlacementFree)
	}
	c := &Controller{
		provider: provider, evictor: evictor, opts: opts,
		machines: map[string]*machine{}, byName: map[string]*machine{}, pods: newWaiting(),
		unavailable: &offerings.Unavailable{}, refresh: map[string]bool{}, closing: map[string]bool{}, starting: map[string]time.Duration{},
	}
	if p.Unavailable != nil {
		c.unavailable = p.Unavailable
	}
	c.clock.read = c.opts.Clock
	c.clock.tick()
	p.Unavailable, p.Now = c.unavailable, c.clock.now
	var err error
	if c.state, err = state.New(c.opts.Policy, p, c.asPlanned); err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	return c, nil
}

// Reconcile makes one round and returns how long the next may wait if no event comes, at most 30 s. An error says which calls
// failed; what they were for is tried again by the next round.
func (c *Controller) Reconcile(ctx context.Context) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.tick() {
		// Marks of the time before would hold for as long as the clock went back.
		c.unavailable = &offerings.Unavailable{}
		c.state.Restamp(c.clock.now)
	}
	c.unavailable.Prune(c.clock.now)
	c.readEvents()
	errs := []error{c.listMachines(ctx), c.expireOrders(ctx)}
	if c.listed {
		c.repeatOrders(ctx)
		errs = append(errs, c.provision(ctx), c.disrupt(ctx))
		// Without the taints kube-scheduler would bind the successors of evicted pods to the nodes that these left.
		if err := c.setTaints(ctx); err != nil {
			errs = append(errs, err)
		} else {
			errs = append(errs, c.carryOut(ctx))
		}
	}
	errs = append(errs, c.nominate(ctx), c.setTaints(ctx), c.tell())
	c.count(func(s *Stats) {
		s.Reconciles++
		s.PendingPods, s.PromisedPods, s.UnplacedPods, s.InFlight = len(c.state.Pending()), len(c.pods.promised), len(c.pods.unplaced), 0
		for _, m := range c.machines {
			if m.node == "" {
				s.InFlight++
			}
		}
		s.StepsUnderWay = len(c.underway())
	})
	return c.wait(), errors.Join(errs...)
}

// SetOfferings changes prices, availability or counts of single offerings in every catalog that has the type. An error means
// that nothing is changed.
func (c *Controller) SetOfferings(changes ...instancetypes.OfferingChange) error {
	return c.change(scheduling.Delta{Offerings: changes})
}

// SetCatalog replaces the catalog, and those of the pools named; nil keeps the catalog. An error means that nothing is
// changed.
func (c *Controller) SetCatalog(all *instancetypes.Catalog, pools map[string]*instancetypes.Catalog) error {
	return c.change(scheduling.Delta{Catalog: all, PoolCatalogs: pools})
}

// change applies a change that does not come from the API server.
func (c *Controller) change(d scheduling.Delta) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods.changed = true
	return c.state.Session().Apply(d)
}

// wait is how long nothing has to be done unless an event comes.
func (c *Controller) wait() time.Duration {
	next := 30 * time.Second
	if c.opts.ListEvery > 0 {
		next = min(next, c.listAt-c.clock.elapsed)
	}
	switch {
	case c.pods.unplanned(c.state):
		next = min(next, c.opts.BatchIdle)
	case len(c.queues) > 0 || len(c.interrupted()) > 0:
		next = min(next, time.Second)
	case c.opts.DisruptEvery > 0:
		next = min(next, c.disruptAt-c.clock.elapsed)
	}
	return max(next, 100*time.Millisecond)
}

// Run reconciles until the context ends: whenever events have come, and when Reconcile asks for it. Failures are logged, and
// delay the next round by up to a minute.
func (c *Controller) Run(ctx context.Context) error {
	delay := time.Duration(0)
	for {
		wait, err := c.Reconcile(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		events := c.state.Wake()
		if err != nil {
			delay = min(max(2*delay, time.Second), time.Minute)
			c.opts.Log.Error("reconcile failed", "error", err, "next", delay)
			wait, events = delay, nil
		} else {
			delay = 0
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-events:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// planContext is the context of one plan.
func (c *Controller) planContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.opts.PlanTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.opts.PlanTimeout)
}

// maxTick is how much time one Reconcile may count, so that a clock that jumps ends no timeout.
const maxTick = time.Minute

// clock measures time that a jump does not change.
type clock struct {
	read    func() time.Time
	now     time.Time
	elapsed time.Duration
}

// tick reads the clock, and reports whether it went back.
func (c *clock) tick() (back bool) {
	now := c.read()
	if !c.now.IsZero() {
		passed := now.Sub(c.now)
		back = passed < 0
		c.elapsed += min(max(passed, 0), maxTick)
	}
	c.now = now
	return back
}
