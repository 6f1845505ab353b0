package week

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// tick is the time between two rounds.
const tick = 30 * time.Second

// scale is the size of services in proportion to those of package simulation, because Karpenter takes hours for a week of
// 250 pods.
const scale = 0.4

// interruptions is how many times as often as the catalog says spot machines are interrupted, because a small cluster
// would see none in a week.
const interruptions = 20

// Autoscaler acts on a world.
type Autoscaler interface {
	simulation.Watcher
	// Reconcile is called after each Advance of the world.
	Reconcile(ctx context.Context, now time.Time) error
}

// Contender makes an autoscaler for a world.
type Contender struct {
	Name string
	New  func(ctx context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error)
}

// Contenders are those that the table compares: Cluster Autoscaler with its default expander first.
func Contenders() []Contender {
	groups := func(peer autoscaler.Peer) func(context.Context, *simulation.World, scheduling.Problem) (Autoscaler, error) {
		return func(_ context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
			return autoscaler.NewAutoscaler(peer, w, p), nil
		}
	}
	karpenters := func(spotToSpot bool) func(context.Context, *simulation.World, scheduling.Problem) (Autoscaler, error) {
		return func(ctx context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
			return karpenter.NewAutoscaler(ctx, w, p, spotToSpot)
		}
	}
	return []Contender{
		{"Cluster Autoscaler with least-waste", groups(autoscaler.Peer{Expander: autoscaler.LeastWaste})},
		{"Cluster Autoscaler with priority for spot and least-waste", groups(autoscaler.Peer{Expander: autoscaler.LeastWaste, SpotFirst: true})},
		{"Cluster Autoscaler with our expander", groups(autoscaler.Peer{Expander: autoscaler.Plimsoll})},
		{"Karpenter", karpenters(false)},
		{"Karpenter with SpotToSpotConsolidation", karpenters(true)},
		{"our controller", newPlimsoll},
	}
}

// Settings are those of a comparison.
type Settings struct {
	// Length is how long each run lasts, in simulated time.
	Length time.Duration
	// Seed is the first of Seeds seeds, which decide about jobs and interruptions.
	Seed  uint64
	Seeds int
	// Parallel is how many runs go on at the same time, at least 1.
	Parallel int
}

// options are the world of a seed. Pods have no topology terms, because the imitation of Cluster Autoscaler knows none.
func options(seed uint64, c *instancetypes.Catalog) simulation.Options {
	services := simulation.Services()
	for i := range services {
		services[i].Spread, services[i].Apart = false, false
		services[i].Pods *= scale
	}
	return simulation.Options{Seed: seed, Catalog: c, Tick: tick, Services: services, JobsPerDay: 8, Interruptions: interruptions}
}

// cluster is the NodePool of the week, and its catalog: machines for amd64 of EC2's compute, general-purpose and memory
// categories from generation 6 on, of 4 to 16 cores, in three zones of us-east-1, on demand and on spot.
func cluster() (scheduling.Problem, error) {
	all, err := ec2.Catalog("us-east-1")
	if err != nil {
		return scheduling.Problem{}, err
	}
	narrow, err := instancetypes.ParseFilter("category in (c m r),generation>=6,arch=amd64,cpu>=4,cpu<=16,zone in (us-east-1a us-east-1b us-east-1d)")
	if err != nil {
		return scheduling.Problem{}, err
	}
	pool := schedulingtest.NodePool("general", schedulingtest.Where(
		schedulingtest.In(offerings.CapacityTypeLabel, string(offerings.Spot), string(offerings.OnDemand))))
	settle := time.Minute
	pool.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
	pool.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: &settle}
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool}, Catalog: all.Filter(narrow), DaemonSets: []*appsv1.DaemonSet{simulation.Agent()},
	}, nil
}

// Result is the measures of one run.
type Result struct {
	Name string
	Seed uint64
	// Cost is the price of all machines from their launch on, in USD.
	Cost float64
	// Evictions are those of pods by the autoscaler, Killed are the pods whose node was interrupted under them.
	Evictions, Killed int
	// Waits are the times of the pods that were pending when kube-scheduler had looked for a node once, in ascending order.
	Waits []time.Duration
	// Pending is the number of pods without a node in the end.
	Pending                 int
	Launched, Interruptions int
	// Nodes is the average number of nodes.
	Nodes float64
	// Bound is a price below which no nodes could have been.
	Bound float64

	hours [][]*corev1.Pod // the pods at the beginning of each hour
}

// Compare runs each contender with each seed, and returns the results in this order.
func Compare(ctx context.Context, contenders []Contender, s Settings) ([]Result, error) {
	results := make([]Result, len(contenders)*s.Seeds)
	errs := make([]error, len(results))
	each := func(n int, do func(i int)) {
		free := make(chan struct{}, max(s.Parallel, 1))
		var all sync.WaitGroup
		for i := range n {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				do(i)
			})
		}
		all.Wait()
	}
	each(len(results), func(i int) {
		results[i], errs[i] = run(ctx, contenders[i/s.Seeds], s.Seed+uint64(i%s.Seeds), s.Length)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	bounds := make([]float64, s.Seeds)
	each(s.Seeds, func(i int) { bounds[i], errs[i] = bound(ctx, results[i].hours) })
	for i := range results {
		results[i].Bound = bounds[i%s.Seeds]
	}
	return results, errors.Join(errs...)
}

// run is the week of one autoscaler.
func run(ctx context.Context, c Contender, seed uint64, length time.Duration) (Result, error) {
	r := Result{Name: c.Name, Seed: seed}
	p, err := cluster()
	if err != nil {
		return r, err
	}
	w := simulation.NewWorld(options(seed, p.Catalog))
	a, err := c.New(ctx, w, p)
	if err != nil {
		return r, err
	}
	if err := w.Watch(a); err != nil {
		return r, err
	}
	rounds, nodes := 0, 0
	for now := simulation.Start(); now.Before(simulation.Start().Add(length)); now = now.Add(tick) {
		if err := w.Advance(now); err != nil {
			return r, fmt.Errorf("%s: at %s: %w", c.Name, now.Format(time.DateTime), err)
		}
		if now.Equal(now.Truncate(time.Hour)) {
			r.hours = append(r.hours, podsOf(w))
		}
		if err := a.Reconcile(ctx, now); err != nil {
			return r, fmt.Errorf("%s: at %s: %w", c.Name, now.Format(time.DateTime), err)
		}
		if err := w.Schedule(); err != nil {
			return r, fmt.Errorf("%s: at %s: %w", c.Name, now.Format(time.DateTime), err)
		}
		for name := range w.Cloud.Instances {
			r.Cost += w.Cloud.Price(name).USD() * tick.Hours()
		}
		rounds, nodes = rounds+1, nodes+len(w.Cluster.Nodes)
	}
	for _, n := range w.Cluster.Evicted {
		r.Evictions += n
	}
	r.Killed, r.Launched, r.Interruptions = w.Cluster.Killed, w.Cloud.Launched(), w.Cloud.Interruptions
	r.Nodes = float64(nodes) / float64(max(rounds, 1))
	_, r.Pending = w.Cluster.Count()
	r.Waits = slices.DeleteFunc(slices.Clone(w.Cluster.Waits), func(d time.Duration) bool { return d == 0 })
	slices.Sort(r.Waits)
	return r, nil
}
