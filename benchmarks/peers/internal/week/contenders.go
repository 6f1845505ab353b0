package week

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Autoscaler acts on a world.
type Autoscaler interface {
	simulation.Watcher
	// Reconcile is called after each Advance of the world.
	Reconcile(ctx context.Context, now time.Time) error
}

// Start makes an autoscaler for a world without pods and nodes. The problem has the NodePool, the catalog and the DaemonSet.
type Start func(ctx context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error)

// Contender is an autoscaler with its settings.
type Contender struct {
	Name  string
	Start Start
}

// Contenders are the autoscalers that the table compares: Cluster Autoscaler with its default expander first.
func Contenders() []Contender {
	return []Contender{
		{"Cluster Autoscaler with least-waste", clusterAutoscaler(autoscaler.Peer{Expander: autoscaler.LeastWaste})},
		{"Cluster Autoscaler with priority for spot and least-waste", clusterAutoscaler(autoscaler.Peer{Expander: autoscaler.LeastWaste, SpotFirst: true})},
		{"Cluster Autoscaler with our expander", clusterAutoscaler(autoscaler.Peer{Expander: autoscaler.Plimsoll})},
		{"Karpenter", ofKarpenter(karpenter.Build{})},
		{"Karpenter with SpotToSpotConsolidation", ofKarpenter(karpenter.Build{SpotToSpot: true})},
		{"Karpenter with our planner", ofKarpenter(karpenter.Build{Planned: plannedInKarpenter()})},
		{"Karpenter with our planner and SpotToSpotConsolidation", ofKarpenter(karpenter.Build{Planned: plannedInKarpenter(), SpotToSpot: true})},
		{"our controller", ourController(minSaving)},
	}
}

// Variants are our controller with other settings that weigh cost against evictions.
func Variants() []Contender {
	out := []Contender{
		{"our controller with WhenEmpty", withPolicy(scheduling.WhenEmpty, ourController(minSaving))},
		{"our controller with Balanced", withPolicy(scheduling.Balanced, ourController(minSaving))},
	}
	for _, percent := range []float64{0, 10, 20, 35, 50, 75, 100} {
		out = append(out, Contender{fmt.Sprintf("our controller with MinSaving %g %%", percent), ourController(percent / 100)})
	}
	return out
}

// withPolicy has a NodePool with another consolidation policy.
func withPolicy(policy scheduling.ConsolidationPolicy, start Start) Start {
	return func(ctx context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
		pool := *p.NodePools[0]
		pool.Spec.Disruption.ConsolidationPolicy = policy
		p.NodePools = []*scheduling.NodePool{&pool}
		return start(ctx, w, p)
	}
}

func clusterAutoscaler(peer autoscaler.Peer) Start {
	return func(_ context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
		return autoscaler.NewAutoscaler(peer, w, p), nil
	}
}

func ofKarpenter(b karpenter.Build) Start {
	return func(ctx context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
		return karpenter.NewAutoscaler(ctx, w, p, b)
	}
}

func ourController(saving float64) Start {
	return func(_ context.Context, w *simulation.World, p scheduling.Problem) (Autoscaler, error) {
		return newPlimsoll(w, p, saving)
	}
}
