package karpenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kdisruption "sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Consolidation is Karpenter's consolidation of one cluster, round after round: its own
// methods for empty nodes, several nodes and single nodes, in its controller's order. The
// command of a round is carried out at once, and never fails, before the next round. Karpenter's
// wait of fifteen seconds before each command, and its validation after it, are left out.
type Consolidation struct {
	*estate
	provisioner *provisioning.Provisioner
	methods     []kdisruption.Method
	queue       *kdisruption.Queue
	// spotToSpot is the feature gate SpotToSpotConsolidation.
	spotToSpot bool
}

// NewConsolidation translates a cluster whose nodes are all ready and of pools that share
// one catalog, and in which no pod waits.
func NewConsolidation(ctx context.Context, c disruption.Cluster) (*Consolidation, error) {
	if len(c.Pods) > 0 || len(c.PoolCatalogs) > 0 {
		return nil, fmt.Errorf("%d pods wait and %d pools have a catalog of their own, which is not translated", len(c.Pods), len(c.PoolCatalogs))
	}
	e, err := settle(within(ctx), &c)
	if err != nil {
		return nil, err
	}
	recorder := silent{}
	provisioner := provisioning.NewProvisioner(e.kube, events.NewRecorder(&record.FakeRecorder{}), e.cloud, e.cluster, e.clock, nil, nil)
	queue := kdisruption.NewQueue(e.kube, recorder, e.cluster, e.clock, provisioner)
	common := kdisruption.MakeConsolidation(e.clock, e.cluster, e.kube, provisioner, e.cloud, recorder, queue)
	trust := kdisruption.WithValidator(trusting{})
	return &Consolidation{estate: e, provisioner: provisioner, queue: queue, methods: []kdisruption.Method{
		kdisruption.NewEmptiness(common, trust), kdisruption.NewMultiNodeConsolidation(common, trust), kdisruption.NewSingleNodeConsolidation(common, trust),
	}}, nil
}

// trusting believes that a command is still right when it is carried out, as it is here.
type trusting struct{}

func (trusting) Validate(_ context.Context, c kdisruption.Command, _ time.Duration) (kdisruption.Command, error) {
	return c, nil
}

// silent drops events.
type silent struct{}

func (silent) Publish(...events.Event) {}

// within is the context that the disruption controller works in, with Karpenter's defaults but for the feature gate.
func (k *Consolidation) within(ctx context.Context) context.Context {
	ctx = within(ctx)
	options.FromContext(ctx).FeatureGates.SpotToSpotConsolidation = k.spotToSpot
	return ctx
}

// within is the context that the disruption controller works in, with Karpenter's defaults.
func within(ctx context.Context) context.Context {
	ctx = options.ToContext(injection.WithControllerName(ctx, "disruption"), &options.Options{
		CPURequests:       1000,
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
		BatchMaxDuration:  10 * time.Second,
		FeatureGates:      options.FeatureGates{ReservedCapacity: true},
	})
	return log.IntoContext(ctx, logr.Discard())
}

// Command is a decision of a round.
type Command struct {
	// Method is Karpenter's name for how it was found: empty, multi or single.
	Method  string
	command kdisruption.Command
}

// Decide is one round of the controller: the commands of the first method that has any. Karpenter's own methods have one at
// most.
func (k *Consolidation) Decide(ctx context.Context) ([]Command, error) {
	ctx = k.within(ctx)
	for _, m := range k.methods {
		candidates, totals, err := kdisruption.GetCandidatesWithTotals(ctx, k.cluster, k.kube, silent{}, k.clock, k.cloud, m.ShouldDisrupt, m.Class(), k.queue, nil)
		if err != nil {
			return nil, err
		}
		if len(candidates) == 0 {
			continue
		}
		if s, ok := m.(kdisruption.NodePoolTotalsSetter); ok {
			s.SetNodePoolTotals(totals)
		}
		budgets, err := kdisruption.BuildDisruptionBudgetMapping(ctx, k.cluster, k.clock, k.kube, k.cloud, silent{}, m.Reason())
		if err != nil {
			return nil, err
		}
		commands, err := m.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return nil, err
		}
		var out []Command
		for _, c := range commands {
			if c.Decision() != kdisruption.NoOpDecision {
				out = append(out, Command{Method: m.ConsolidationType(), command: c})
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, ctx.Err()
}

// Do carries a command out: it buys machines, moves every pod to its node of the simulation,
// and removes the nodes. It returns the number of pods that moved.
func (k *Consolidation) Do(ctx context.Context, c Command) (moved int, err error) {
	ctx = within(ctx)
	k.clock.Step(time.Minute) // because Karpenter tells by timestamps whether a cluster has changed
	goes := map[string]bool{}
	for _, candidate := range c.command.Candidates {
		goes[candidate.Name()] = true
	}
	bind := func(pods []*corev1.Pod, to string) error {
		for _, pod := range pods {
			if !goes[pod.Spec.NodeName] || !podutils.IsReschedulable(pod) {
				return fmt.Errorf("pod %s/%s is no pod of a node that goes", pod.Namespace, pod.Name)
			}
			if err := k.move(ctx, pod, to); err != nil {
				return err
			}
			moved++
		}
		return nil
	}
	for _, r := range c.command.Replacements {
		name, err := k.buy(ctx, r)
		if err != nil {
			return moved, err
		}
		if err := bind(r.Pods, name); err != nil {
			return moved, err
		}
	}
	for _, n := range c.command.Results.ExistingNodes {
		if err := bind(n.Pods, n.Name()); err != nil {
			return moved, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(goes)) {
		if err := k.leave(name); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// buy launches a replacement as the cheapest machine that it allows.
func (k *Consolidation) buy(ctx context.Context, r *kdisruption.Replacement) (string, error) {
	m, err := cheapestMachine(r.NodeClaim, k.shelves)
	if err != nil {
		return "", err
	}
	k.bought++
	name := fmt.Sprintf("bought-%04d", k.bought)
	launch := peer.Outcome{Machines: []peer.Machine{m}}.Plan(k.problem).Launches[0]
	node, err := launch.Node(name, &launch.Options[0], k.problem.Catalog)
	if err != nil {
		return "", err
	}
	return name, k.join(ctx, node, m)
}

// Outcome is the present cluster, as if it had been bought anew. Its pods are those of
// the problem, by name.
func (k *Consolidation) Outcome() peer.Outcome {
	original := map[string]*corev1.Pod{}
	for _, pod := range k.problem.Running {
		original[scheduling.PodName(pod)] = pod
	}
	var out peer.Outcome
	for _, name := range slices.Sorted(maps.Keys(k.machines)) {
		m := k.machines[name]
		for _, pod := range k.memory.pods[name] {
			if podutils.IsReschedulable(pod) {
				m.Pods = append(m.Pods, original[pod.Namespace+"/"+pod.Name])
			}
		}
		out.Machines = append(out.Machines, m)
	}
	return out
}
