package week

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
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

// Settings are those of a comparison.
type Settings struct {
	// Length is how long each run lasts, in simulated time.
	Length time.Duration
	// Seed is the first of Seeds seeds, which decide about jobs and interruptions.
	Seed  uint64
	Seeds int
	// Parallel is how many runs go on at the same time, at least 1.
	Parallel int
	// Known are results of former comparisons, whose runs are not repeated.
	Known []Result
	// Finished, if set, gets each result that is not known as soon as it is there, one after the other. Its error ends the
	// comparison.
	Finished func(Result) error
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

// Result is the measures of one run: of the contender with a name, in the world of a seed, for a length of simulated time.
type Result struct {
	Name   string
	Seed   uint64
	Length time.Duration
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
	// Bound is a lower bound on the price of the nodes, in USD. It depends on the pods alone, i.e. on seed and length.
	Bound float64
}

// Compare returns the result of each contender with each seed, in this order. It runs all contenders with one seed before
// the next seed. The first error ends all runs.
func Compare(ctx context.Context, contenders []Contender, s Settings) ([]Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]Result, len(contenders)*s.Seeds)
	free := make(chan struct{}, max(s.Parallel, 1))
	var finishing sync.Mutex
	var all sync.WaitGroup
	for i := range s.Seeds {
		for j, c := range contenders {
			at, seed := j*s.Seeds+i, s.Seed+uint64(i)
			if k := slices.IndexFunc(s.Known, func(r Result) bool { return r.Name == c.Name && r.Seed == seed && r.Length == s.Length }); k >= 0 {
				results[at] = s.Known[k]
				continue
			}
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				r, err := run(ctx, c, seed, s.Length)
				finishing.Lock()
				defer finishing.Unlock()
				if err == nil && s.Finished != nil {
					err = s.Finished(r)
				}
				if err != nil {
					stop(err)
				}
				results[at] = r
			})
		}
	}
	all.Wait()
	return results, context.Cause(ctx)
}

// run is the week of one autoscaler.
func run(ctx context.Context, c Contender, seed uint64, length time.Duration) (Result, error) {
	r := Result{Name: c.Name, Seed: seed, Length: length}
	p, err := cluster()
	if err != nil {
		return r, err
	}
	w := simulation.NewWorld(options(seed, p.Catalog))
	a, err := c.Start(ctx, w, p)
	if err != nil {
		return r, err
	}
	if err := w.Watch(a); err != nil {
		return r, err
	}
	var hours [][]*corev1.Pod // the pods at the beginning of each hour
	rounds, nodes := 0, 0
	for now := simulation.Start(); now.Before(simulation.Start().Add(length)); now = now.Add(tick) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if err := w.Advance(now); err != nil {
			return r, fmt.Errorf("%s: at %s: %w", c.Name, now.Format(time.DateTime), err)
		}
		if now.Equal(now.Truncate(time.Hour)) {
			hours = append(hours, podsOf(w))
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
	r.Bound, err = bound(ctx, hours)
	return r, err
}
