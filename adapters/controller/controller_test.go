package controller

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

const limitCPU = 64

func pool() *scheduling.NodePool {
	p := &scheduling.NodePool{}
	p.Name, p.UID, p.ResourceVersion = "general", "pool", "1"
	p.Spec.Template.Spec.Requirements = []requirements.Selector{{Key: offerings.CapacityTypeLabel, Operator: requirements.In, Values: []string{"spot", "on-demand"}}}
	p.Spec.Template.Spec.StartupTaints = []corev1.Taint{StartupTaint()}
	p.Spec.Template.Metadata.Labels = map[string]string{"team": "shop"}
	calm := 5 * time.Minute
	p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &calm}
	p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "30%"}}
	p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(limitCPU, resource.DecimalSI)}
	return p
}

func newWorld(t testing.TB, seed uint64, f faults) *world {
	all, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	narrow, err := instancetypes.ParseFilter("category in (c m r),generation>=6,arch=amd64,cpu in (2 4 8),zone in (us-east-1a us-east-1b us-east-1d)")
	require.NoError(t, err)
	return &world{
		dice: rand.New(rand.NewPCG(seed, 1)), faults: f, catalog: all.Filter(narrow), pods: map[string]*corev1.Pod{}, nodes: map[string]*corev1.Node{},
		instances: map[string]*instance{}, forPod: map[types.UID][]string{}, tell: func(metav1.Object, bool) {},
		apps: []app{
			{name: "web", cpu: "900m", memory: "1Gi", replicas: 8, spread: true},
			{name: "api", cpu: "1400m", memory: "2Gi", replicas: 6, spread: true},
			{name: "cache", cpu: "300m", memory: "6Gi", replicas: 4},
			{name: "queue", cpu: "1", memory: "3Gi", replicas: 3, apart: true},
			{name: "worker", cpu: "500m", memory: "1Gi", replicas: 10},
		},
	}
}

// TestPlacementOfDisruption checks that plans of disruption expect evicted pods where kube-scheduler binds them.
func TestPlacementOfDisruption(t *testing.T) {
	w := newWorld(t, 1, faults{})
	problem := scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}}
	for _, at := range []scheduling.PlacementPolicy{"", scheduling.PlacementFree} {
		c, err := New(Options{Disruption: disruption.Planner{Policy: scheduling.Policy{Placement: at}}}, w, w, problem)
		require.NoError(t, err)
		require.Equal(t, scheduling.PlacementFree, c.opts.Disruption.Policy.Placement)
		require.Equal(t, scheduling.PlacementFree, c.opts.Policy.Placement)
	}
	for _, at := range []scheduling.PlacementPolicy{scheduling.PlacementNominated, scheduling.PlacementPinned, "Elsewhere"} {
		_, err := New(Options{Disruption: disruption.Planner{Policy: scheduling.Policy{Placement: at}}}, w, w, problem)
		require.ErrorContains(t, err, fmt.Sprintf("Options.Disruption.Policy.Placement is %q: must be \"Free\"", at))
	}
	c, err := New(Options{Nominator: w}, w, w, problem)
	require.NoError(t, err)
	require.Equal(t, scheduling.PlacementNominated, c.opts.Policy.Placement)
}

// start is a new run of the controller, which knows nothing but the objects that there are.
func (w *world) start(t *testing.T, run int) *Controller {
	opts := Options{
		Policy:     scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementNominated},
		Nominator:  w,
		Disruption: disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree}, MinSaving: disruption.Saving{Share: 0.1}},
		// A tick is longer than a batch, so that pods wait for one tick.
		DisruptEvery: 20 * time.Minute, Clock: w.clock, Run: fmt.Sprintf("run-%04d", run), Parallel: 1, ListEvery: -1,
		Log:     slog.New(slog.DiscardHandler),
		Planned: verify.Plan,
		Consolidating: func(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
			return (verify.StepsChecker{Planner: planner}).Steps(c, plan)
		},
	}
	c, err := New(opts, w, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}})
	require.NoError(t, err)
	w.tell = func(o metav1.Object, deleted bool) {
		if deleted {
			require.NoError(t, c.Delete(o))
		} else {
			require.NoError(t, c.Upsert(o))
		}
	}
	w.resync(t, c)
	return c
}

func (w *world) resync(t *testing.T, c *Controller) {
	require.NoError(t, c.Resync(append(w.all(), pool())...))
	w.lost = false
}

// rough is a bad day.
func rough() faults {
	return faults{
		launchFails: 0.05, launchLost: 0.05, noCapacity: 0.1, neverJoins: 0.06, joinsLate: 0.05, machineLost: 0.03, listFails: 0.05, listLags: 0.5,
		terminateFails: 0.1, evictFails: 0.05, taintFails: 0.05, nominateFails: 0.05, nodeDeleted: 0.0002, interruption: 0.001, eventTwice: 0.1, eventLost: 0.005,
		restart: 0.003, clockJumps: 0.002,
	}
}

// A controller survives restarts, lost and duplicate events, failing calls, late and lost machines, and a clock that jumps: no
// pod is lost, no machine is bought twice for a pod or forgotten, and the limit of the NodePool holds.
func TestFaults(t *testing.T) {
	ticks := 10_000
	if testing.Short() {
		ticks = 1_500
	}
	w := newWorld(t, 1, rough())
	c := w.start(t, 0)
	runs := 0
	var total Stats
	waited := map[types.UID]int{}
	for range ticks {
		if w.roll(w.faults.restart) {
			runs++
			total = sum(total, c.Stats())
			c = w.start(t, runs)
		}
		if w.roll(w.faults.clockJumps) {
			w.skew += time.Duration(w.dice.IntN(48)-24) * time.Hour
		}
		if w.tick%10 == 0 {
			a := &w.apps[w.dice.IntN(len(w.apps))]
			a.replicas = max(1, a.replicas+w.dice.IntN(7)-3)
			a.replicas = min(a.replicas, 12)
		}
		w.step()
		if w.lost && w.roll(0.3) {
			w.resync(t, c) // as informers do after a watch has failed
		}
		if _, err := c.Reconcile(context.Background()); err != nil {
			require.ErrorIs(t, err, errCloud, "tick %d", w.tick)
		}
		require.LessOrEqual(t, w.cpu(), int64(limitCPU*1000), "tick %d: limit", w.tick)
		require.Empty(t, w.twice)
		require.Empty(t, w.untainted)
		for _, p := range w.pods {
			if p.Spec.NodeName == "" {
				waited[p.UID]++
				require.Less(t, waited[p.UID], 400, "tick %d: pod %s waits", w.tick, p.Name)
			}
		}
	}
	total = sum(total, c.Stats())
	t.Logf("%d runs: %+v", runs+1, total)
	for _, n := range []int{total.Launched, total.Nominated, total.Steps, total.Evictions, total.Adopted, total.CapacityFailures, total.LaunchFailures, total.Lost, total.Unregistered, total.Terminated} {
		require.Positive(t, n, "%+v", total)
	}

	// When all is calm again, so is the controller.
	w.faults = faults{}
	w.resync(t, c)
	for range 300 {
		w.step()
		_, err := c.Reconcile(context.Background())
		require.NoError(t, err)
	}
	before := c.Stats()
	for range 200 {
		w.step()
		_, err := c.Reconcile(context.Background())
		require.NoError(t, err)
	}
	after := c.Stats()
	require.Zero(t, after.PendingPods)
	require.Zero(t, after.InFlight)
	require.Zero(t, after.StepsUnderWay)
	require.Equal(t, before.Launched, after.Launched)
	require.Equal(t, before.Evictions, after.Evictions)
	require.Equal(t, before.Terminated, after.Terminated)
	for _, i := range w.instances {
		require.True(t, i.joined && w.nodes[i.name] != nil, "machine %s is forgotten", i.name)
		require.Empty(t, w.nodes[i.name].Spec.Taints, "node %s keeps a taint", i.name)
	}
	require.Len(t, w.nodes, len(w.instances))
}

func sum(a, b Stats) Stats {
	a.Launched += b.Launched
	a.Nominated += b.Nominated
	a.Steps += b.Steps
	a.AbandonedSteps += b.AbandonedSteps
	a.Evictions += b.Evictions
	a.BlockedEvictions += b.BlockedEvictions
	a.Adopted += b.Adopted
	a.CapacityFailures += b.CapacityFailures
	a.LaunchFailures += b.LaunchFailures
	a.Lost += b.Lost
	a.Unregistered += b.Unregistered
	a.Terminated += b.Terminated
	a.Plans += b.Plans
	a.DisruptionPlans += b.DisruptionPlans
	a.Replanned += b.Replanned
	a.Saved += b.Saved
	return a
}

// A malformed object does not keep the others out of plans, and counts again once it is well-formed.
func TestMalformedObjectIsLeftOut(t *testing.T) {
	w := newWorld(t, 1, faults{})
	c := w.start(t, 0)
	bad := w.pod(&w.apps[0])
	bad.Name, bad.UID = "bad", "bad"
	bad.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	require.NoError(t, c.Upsert(bad))
	for range 12 {
		w.step()
		_, err := c.Reconcile(context.Background())
		require.NoError(t, err)
	}
	require.Equal(t, 1, c.Stats().RejectedObjects)
	require.Zero(t, c.Stats().PendingPods)
	require.NotEmpty(t, w.nodes)
	require.ErrorContains(t, c.Upsert(&corev1.ConfigMap{}), "*v1.ConfigMap")
}

// The metrics are in the text format, one family for each count.
func TestMetrics(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Stats{Launched: 3, PendingPods: 2, Saved: offerings.MustPrice("0.5")}.WriteMetrics(&b))
	require.Contains(t, b.String(), "plimsoll_controller_launches_total 3\n")
	require.Contains(t, b.String(), "plimsoll_controller_pending_pods 2\n")
	require.Contains(t, b.String(), "plimsoll_controller_saved_dollars_per_hour 0.5\n")
	require.True(t, strings.HasSuffix(b.String(), "# EOF\n"))
}

// answers is a provider that gives a fixed answer for each offering, and lists no machine that it has not started.
type answers struct {
	refuse  func(scheduling.LaunchOption) bool
	asked   []scheduling.LaunchOption
	started []Machine
	stopped []string
}

func (a *answers) Launch(_ context.Context, o Order) (string, error) {
	a.asked = append(a.asked, o.Option)
	if a.refuse(o.Option) {
		return "", ErrInsufficientCapacity
	}
	a.started = append(a.started, Machine{Name: o.ID, Order: o})
	return o.ID, nil
}

func (a *answers) Terminate(_ context.Context, m Machine) error {
	a.stopped = append(a.stopped, m.Name)
	a.started = slices.DeleteFunc(a.started, func(x Machine) bool { return x.Name == m.Name })
	return nil
}

func (a *answers) Machines(context.Context) ([]Machine, error) { return a.started, nil }

// Where an offering has run out the next option is ordered, and neither this nor the next plan asks for the first again until
// a while has passed. Pods wait for one machine, and a machine that never joins is terminated and ordered anew.
func TestNextOption(t *testing.T) {
	w := newWorld(t, 1, faults{})
	first := ""
	a := &answers{}
	a.refuse = func(o scheduling.LaunchOption) bool {
		if first == "" {
			first = o.InstanceType + o.Zone
		}
		return first == o.InstanceType+o.Zone
	}
	now := w.now()
	opts := Options{Clock: func() time.Time { return now }, BatchIdle: -1, DisruptEvery: -1, Log: slog.New(slog.DiscardHandler)}
	c, err := New(opts, a, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}})
	require.NoError(t, err)
	reconcile := func() {
		t.Helper()
		_, err := c.Reconcile(context.Background())
		require.NoError(t, err)
	}
	pod := w.pod(&w.apps[4])
	require.NoError(t, c.Upsert(pod))
	for range 3 {
		reconcile()
	}
	require.Len(t, a.asked, 2)
	require.Equal(t, 1, c.Stats().PromisedPods)
	for range 14 {
		now = now.Add(time.Minute)
		reconcile()
	}
	require.Len(t, a.asked, 2)
	require.Empty(t, a.stopped)
	now = now.Add(time.Minute)
	for range 3 {
		now = now.Add(time.Minute)
		reconcile()
	}
	require.Len(t, a.stopped, 1)
	require.Len(t, a.started, 1)
	require.Equal(t, 1, c.Stats().Unregistered)
	require.Equal(t, 1, c.Stats().PromisedPods)

	// A pod that is deleted leaves its machine to the next plan of disruption; the clock may jump meanwhile.
	now = now.Add(-50 * time.Hour)
	reconcile()
	now = now.Add(500 * time.Hour)
	reconcile()
	require.Len(t, a.stopped, 1, "a jump of the clock ends no launch")
	require.NoError(t, c.Delete(pod))
	reconcile()
	require.Zero(t, c.Stats().PromisedPods)
}

// The batch window: pods are planned when no further pod has come for BatchIdle, at the latest after BatchMax.
func TestBatch(t *testing.T) {
	w := newWorld(t, 1, faults{})
	a := &answers{refuse: func(scheduling.LaunchOption) bool { return false }}
	now := w.now()
	opts := Options{Clock: func() time.Time { return now }, DisruptEvery: -1, Log: slog.New(slog.DiscardHandler)}
	c, err := New(opts, a, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}})
	require.NoError(t, err)
	plansAfter := func(wait time.Duration, pods int) int {
		for range pods {
			w.serial++
			require.NoError(t, c.Upsert(w.pod(&w.apps[4])))
		}
		now = now.Add(wait)
		_, err := c.Reconcile(context.Background())
		require.NoError(t, err)
		return c.Stats().Plans
	}
	require.Equal(t, 0, plansAfter(0, 3))
	require.Equal(t, 0, plansAfter(900*time.Millisecond, 0))
	require.Equal(t, 1, plansAfter(100*time.Millisecond, 0))
	for range 11 {
		require.Equal(t, 1, plansAfter(900*time.Millisecond, 1))
	}
	require.Equal(t, 1, plansAfter(900*time.Millisecond, 1))
	require.Equal(t, 2, plansAfter(900*time.Millisecond, 1), "ten seconds have passed since the first")
}

// The time that a plan takes is not the machine's: it has all of RegistrationTimeout from its order on.
func TestSlowPlan(t *testing.T) {
	w := newWorld(t, 1, faults{})
	a := &answers{refuse: func(scheduling.LaunchOption) bool { return false }}
	now := w.now()
	opts := Options{
		Clock: func() time.Time { return now }, BatchIdle: -1, DisruptEvery: -1, RegistrationTimeout: 40 * time.Second, Log: slog.New(slog.DiscardHandler),
		Planned: func(scheduling.Problem, *scheduling.Plan) error { now = now.Add(50 * time.Second); return nil },
	}
	c, err := New(opts, a, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}})
	require.NoError(t, err)
	require.NoError(t, c.Upsert(w.pod(&w.apps[4])))
	for _, unregistered := range []int{0, 0, 0, 0, 1} { // begun 0, 50, 65, 80 and 95 s after the start
		_, err := c.Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, unregistered, c.Stats().Unregistered)
		if len(a.started) > 0 && c.Stats().Reconciles > 1 {
			now = now.Add(15 * time.Second)
		}
	}
}

// The next round comes in time for the next list of machines and the next plan of disruption, also where no event wakes it.
func TestWait(t *testing.T) {
	w := newWorld(t, 1, faults{})
	now := w.now()
	opts := Options{Clock: func() time.Time { return now }, ListEvery: 12 * time.Second, DisruptEvery: 7 * time.Second, Log: slog.New(slog.DiscardHandler)}
	c, err := New(opts, &answers{}, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{pool()}})
	require.NoError(t, err)
	for _, want := range []time.Duration{7 * time.Second, 5 * time.Second, 2 * time.Second, 7 * time.Second} {
		wait, err := c.Reconcile(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, wait)
		now = now.Add(wait)
	}
}

// A round in which one pod has come and one has gone, in a cluster of 1,000 nodes and 10,000 pods.
func BenchmarkReconcile(b *testing.B) {
	w := newWorld(b, 1, faults{})
	a := &answers{refuse: func(scheduling.LaunchOption) bool { return false }}
	now := w.now()
	big := pool()
	big.Spec.Limits = nil
	opts := Options{Policy: scheduling.Policy{Effort: scheduling.EffortFast}, Clock: func() time.Time { return now }, BatchIdle: -1, DisruptEvery: -1, Log: slog.New(slog.DiscardHandler)}
	c, err := New(opts, a, w, scheduling.Problem{Catalog: w.catalog, NodePools: []*scheduling.NodePool{big}})
	require.NoError(b, err)
	reconcile := func() {
		_, err := c.Reconcile(b.Context())
		require.NoError(b, err)
	}
	for range 5_000 {
		w.serial += 2
		require.NoError(b, c.Upsert(w.pod(&w.apps[2]), w.pod(&w.apps[4])))
	}
	reconcile()
	for pod, p := range c.pods.promised {
		node, err := p.machine.Order.Launch.Node(p.machine.Name, &p.machine.Order.Option, w.catalog)
		require.NoError(b, err)
		bound := c.state.Pod(pod).DeepCopy()
		bound.Spec.NodeName = node.Name
		require.NoError(b, c.Upsert(node, bound))
	}
	reconcile()
	require.Zero(b, c.Stats().InFlight)
	b.ReportMetric(float64(len(c.machines)), "nodes")
	for b.Loop() {
		w.serial++
		pod := w.pod(&w.apps[4])
		require.NoError(b, c.Upsert(pod))
		reconcile()
		require.NoError(b, c.Delete(pod))
		reconcile()
		now = now.Add(time.Second)
	}
}
