package shadow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Options are the settings of a [Shadow]. All but Catalog may be zero.
type Options struct {
	// Catalog has the instance types that Karpenter may launch, with their prices.
	Catalog *instancetypes.Catalog
	// Policy is how Plimsoll chooses nodes, for pending pods and for evicted ones. Where its Placement is "", it is
	// [scheduling.PlacementFree], because kube-scheduler binds the pods.
	Policy scheduling.Policy
	// BatchIdle is how long no further NodeClaim must have come until a decision of Karpenter's is complete, BatchMax
	// how long it takes at most; 0 is 1 s and 10 s, the defaults of Karpenter's BATCH_IDLE_DURATION and
	// BATCH_MAX_DURATION.
	BatchIdle, BatchMax time.Duration
	// ConsolidateEvery is the time between two plans for the whole cluster; 0 is 10 minutes, below 0 there are none.
	ConsolidateEvery time.Duration
	// PlanTimeout bounds the time of a plan; 0 is one minute. The best plan by then counts.
	PlanTimeout time.Duration
	// Log is told each decision; nil is [slog.Default].
	Log *slog.Logger
	// Clock is the time; nil is [time.Now].
	Clock func() time.Time
	// Decided is told each decision once it is settled; nil for none.
	Decided func(Decision)
	// Planned is told each plan for pending pods, Consolidated each plan that removes nodes, with the settings and
	// the cluster that they are for; nil for none. They must change neither. With an error the plan does not count.
	Planned      func(scheduling.Policy, scheduling.Problem, *scheduling.Plan) error
	Consolidated func(disruption.Planner, disruption.Cluster, *disruption.ConsolidationPlan) error
}

// withDefaults is the options with the documented values for zeros.
func (o Options) withDefaults() Options {
	o.Policy.Placement = cmp.Or(o.Policy.Placement, scheduling.PlacementFree)
	o.BatchIdle = cmp.Or(o.BatchIdle, time.Second)
	o.BatchMax = cmp.Or(o.BatchMax, 10*time.Second)
	o.ConsolidateEvery = cmp.Or(o.ConsolidateEvery, 10*time.Minute)
	o.PlanTimeout = cmp.Or(o.PlanTimeout, time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // a program beside a controller is where the time comes from
	}
	return o
}

// Shadow compares the decisions of a Karpenter with those that Plimsoll would have made. Upsert, Delete, PutSetting,
// RemoveSetting, Totals and WriteMetrics may be called from any goroutine at any time.
type Shadow struct {
	opts  Options
	state *state.Cluster

	// mu is held by Round. The fields below belong to it.
	mu       sync.Mutex
	now      time.Time
	settings settings
	claims   map[string]*claim
	// claimOf is the NodeClaim of a node, by the node's name.
	claimOf map[string]string
	// begun says that a round has been made, so that a NodeClaim which is new since then is a decision.
	begun bool
	// open is the decision whose window has not passed, pending are those that are not settled.
	open          *pendingDecision
	pending       []*pendingDecision
	consolidateAt time.Time

	jobs   jobs
	warned warnings
	ledger *ledger
}

// New returns a shadow that knows no object yet. The error says that there is no catalog, or that the policy is invalid.
func New(opts Options) (*Shadow, error) {
	if opts.Catalog == nil {
		return nil, errors.New("shadow: the catalog is missing")
	}
	s := &Shadow{opts: opts.withDefaults(), claims: map[string]*claim{}, claimOf: map[string]string{}, ledger: newLedger()}
	s.settings = newSettings()
	s.jobs.wake = make(chan struct{}, 1)
	var err error
	s.state, err = state.New(s.opts.Policy, scheduling.Problem{Catalog: s.opts.Catalog, Now: s.opts.Clock()}, s.asPlanned)
	return s, err
}

// Upsert tells of objects that are new or have changed: NodeClaims, as [manifest.NodeClaim], and all that
// [state.Cluster] reads. The shadow keeps them: they must not be changed any more. The error names kinds that are not read.
func (s *Shadow) Upsert(objects ...metav1.Object) error { return s.state.Upsert(objects...) }

// Delete tells of objects that are gone. Unknown ones are no error.
func (s *Shadow) Delete(objects ...metav1.Object) error { return s.state.Delete(objects...) }

// Round reads the events that have come, and settles decisions. The first round takes all objects as they are: NodeClaims
// that are known by then are no decisions.
func (s *Shadow) Round() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.opts.Clock()
	s.ledger.advance(s.now)
	s.readSettings()
	before := s.state.Session().Fork()
	changes, rejected := s.state.Read(s.now)
	for _, x := range rejected {
		s.ledger.reject()
		s.opts.Log.Warn("object is left out of plans", "object", x.Object, "error", x.Err)
	}
	s.applyCatalogs()
	s.readClaims(changes, before)
	s.begun = true
	s.takeResults()
	if d := s.open; d != nil && (s.now.Sub(d.last) >= s.opts.BatchIdle || s.now.Sub(d.At) >= s.opts.BatchMax) {
		s.close(d)
	}
	s.pending = slices.DeleteFunc(s.pending, func(d *pendingDecision) bool {
		if !s.settle(d, s.now) {
			return false
		}
		s.decided(&d.Decision)
		return true
	})
	s.ledger.waiting(len(s.pending))
	if s.opts.ConsolidateEvery > 0 && !s.now.Before(s.consolidateAt) && len(s.state.Nodes()) > 0 {
		s.consolidateAt = s.now.Add(s.opts.ConsolidateEvery)
		s.jobs.add(s.wholeCluster())
	}
}

// decided logs and counts a settled decision.
func (s *Shadow) decided(d *Decision) {
	s.ledger.add(d, s.claims)
	log := s.opts.Log.With("cause", d.Cause, "outcome", d.Outcome, "nodepools", d.NodePools(), "pods", d.Pods,
		"karpenter", d.Karpenter, "plimsoll", d.Plimsoll)
	if d.Outcome == OutcomeCompared {
		log.Info("decision", "karpenterPerHour", d.Karpenter.PerHour(), "plimsollPerHour", d.Plimsoll.PerHour(), "savedPerHour", d.SavedPerHour())
	} else {
		log.Info("decision is not compared", "reason", d.Message)
	}
	if s.opts.Decided != nil {
		s.opts.Decided(*d)
	}
}

// Plan makes the next plan that rounds have asked for, and reports whether there was one. Rounds go on meanwhile. The
// error is that of a cancelled context.
func (s *Shadow) Plan(ctx context.Context) (bool, error) {
	j := s.jobs.next()
	if j == nil {
		return false, ctx.Err()
	}
	j.run(ctx, s.opts)
	s.jobs.finish(j)
	return true, ctx.Err()
}

// Run makes rounds and plans until the context ends.
func (s *Shadow) Run(ctx context.Context) error {
	var plans sync.WaitGroup
	defer plans.Wait()
	plans.Go(func() {
		for {
			more, err := s.Plan(ctx)
			if err != nil {
				return
			}
			if more {
				continue
			}
			select {
			case <-ctx.Done():
				return
			case <-s.jobs.wake:
			}
		}
	})
	// Events of one decision come close together, so that a round reads many of them. A round that no event asks for
	// ends windows, and takes plans that are done.
	most := max(s.opts.BatchIdle, 10*time.Millisecond)
	rest := min(most, 200*time.Millisecond)
	for {
		s.Round()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.state.Wake():
		case <-time.After(most):
		}
	}
}

// asPlanned is a node as plans see it: with the state of its NodeClaim where the node does not show it yet.
func (s *Shadow) asPlanned(node *corev1.Node) *corev1.Node {
	c := s.claims[s.claimOf[node.Name]]
	if c == nil {
		return node
	}
	joined := node.Labels[scheduling.RegisteredLabel] == "true" || node.Labels[scheduling.InitializedLabel] == "true"
	if joined && !c.leaving() {
		return node
	}
	if seen, err := c.nodeOf(node); err == nil {
		return seen
	}
	return node
}

// sortedKeys are the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
