package karpenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	adapter "github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Autoscaler is a build of Karpenter in a simulated cluster: its provisioner decides in each Reconcile and its consolidation
// in each minute, from its own state of the cluster, which it has from events. Launches, registration, the queue of
// disruption commands, interruption and termination are imitated: a NodeClaim is launched as the cheapest machine that
// it allows, candidates of a command are drained once its replacements have joined, and a node with a notice of
// interruption is drained at once. A command is not validated again after fifteen seconds.
//
// It implements [simulation.Watcher].
type Autoscaler struct {
	*Consolidation
	world *simulation.World
	// scheduler decides about launches.
	scheduler interface {
		Schedule(ctx context.Context) (karpenter.Results, error)
	}
	drains *simulation.Drains
	// claims are the NodeClaims by name, which is also that of the machine and the node.
	claims map[string]*karpv1.NodeClaim
	// touched is when a pod was last bound to a node or deleted from it.
	touched map[string]time.Time
	// on is the node of each bound pod.
	on map[client.ObjectKey]string
	// commands wait for their replacements.
	commands []replacing
	orders   int
}

// replacing is a command whose replacements are launched.
type replacing struct{ candidates, replacements []string }

// decideEvery is the time between two decisions about disruption: Karpenter looks for a command every ten seconds, and
// validates each for fifteen.
const decideEvery = time.Minute

// Build is a build of Karpenter with its settings. The zero value is Karpenter as it is released.
type Build struct {
	// SpotToSpot is the feature gate SpotToSpotConsolidation.
	SpotToSpot bool
	// Planned are the settings of adapters/karpenter, which decides about launches and consolidation; nil is Karpenter's own
	// code.
	Planned *adapter.Settings
}

// NewAutoscaler starts in a world without pods and nodes. The problem has NodePools, of one catalog, and the catalog.
func NewAutoscaler(ctx context.Context, w *simulation.World, p scheduling.Problem, b Build) (*Autoscaler, error) {
	p.Now = simulation.Start()
	c, err := NewConsolidation(ctx, disruption.Cluster{Problem: p})
	if err != nil {
		return nil, err
	}
	c.spotToSpot = b.SpotToSpot
	a := &Autoscaler{
		Consolidation: c, world: w, scheduler: c.provisioner, drains: simulation.NewDrains(w),
		claims: map[string]*karpv1.NodeClaim{}, touched: map[string]time.Time{}, on: map[client.ObjectKey]string{},
	}
	if b.Planned != nil {
		planner := adapter.NewProvisioner(*b.Planned, adapter.Reader{Client: c.kube, Cluster: c.cluster, CloudProvider: c.cloud, Clock: c.clock, Recorder: silent{}}, c.provisioner)
		a.scheduler, c.methods = planner, planner.DisruptionMethods(c.queue, c.methods...)
	}
	return a, nil
}

// Upsert implements [simulation.Watcher].
func (a *Autoscaler) Upsert(objects ...metav1.Object) error {
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Pod:
			if err := a.putPod(o); err != nil {
				return err
			}
		case *corev1.Node:
			if err := a.putNode(o.DeepCopy()); err != nil {
				return err
			}
		case *appsv1.DaemonSet:
			a.memory.daemons = replaced(a.memory.daemons, o)
		case *policyv1.PodDisruptionBudget:
			a.memory.budgets = replaced(a.memory.budgets, o)
		default:
			return fmt.Errorf("%s: no kind that the harness of Karpenter knows: %T", o.GetName(), o)
		}
	}
	return nil
}

// replaced is the list with an object in place of that of its name.
func replaced[T metav1.Object](list []T, o T) []T {
	same := func(x T) bool { return x.GetNamespace() == o.GetNamespace() && x.GetName() == o.GetName() }
	return append(slices.DeleteFunc(list, same), o)
}

// Delete implements [simulation.Watcher].
func (a *Autoscaler) Delete(objects ...metav1.Object) error {
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Pod:
			a.takePod(o)
			a.cluster.DeletePod(client.ObjectKeyFromObject(o))
		case *corev1.Node:
			a.forget(o.Name)
		}
	}
	return nil
}

// takePod takes a pod out of memory.
func (a *Autoscaler) takePod(pod *corev1.Pod) {
	key := client.ObjectKeyFromObject(pod)
	node := a.on[key]
	a.memory.pods[node] = slices.DeleteFunc(a.memory.pods[node], func(p *corev1.Pod) bool { return client.ObjectKeyFromObject(p) == key })
	delete(a.on, key)
	if node != "" && !podutils.IsOwnedByDaemonSet(pod) {
		a.touched[node] = a.clock.Now()
	}
}

func (a *Autoscaler) putPod(pod *corev1.Pod) error {
	a.takePod(pod)
	admitted := schedulingtest.Admitted(pod)
	node := admitted.Spec.NodeName
	a.memory.pods[node] = append(a.memory.pods[node], admitted)
	a.on[client.ObjectKeyFromObject(admitted)] = node
	if node != "" && !podutils.IsOwnedByDaemonSet(admitted) {
		a.touched[node] = a.clock.Now()
	}
	return a.cluster.UpdatePod(context.Background(), admitted)
}

// putNode notes a node, whose NodeClaim is initialized by that.
func (a *Autoscaler) putNode(node *corev1.Node) error {
	claim := a.claims[node.Name]
	if claim == nil {
		return fmt.Errorf("node %s was not launched by Karpenter", node.Name)
	}
	node.Spec.ProviderID = claim.Status.ProviderID
	a.memory.nodes[node.Name] = node
	if claim.Status.NodeName == "" {
		claim.Status.NodeName = node.Name
		for _, is := range []string{karpv1.ConditionTypeRegistered, karpv1.ConditionTypeInitialized} {
			claim.StatusConditions(status.WithClock(a.clock)).SetTrue(is)
		}
		a.touched[node.Name] = a.clock.Now()
		a.cluster.UpdateNodeClaim(claim.DeepCopy())
	}
	return a.cluster.UpdateNode(context.Background(), node)
}

// forget leaves out a machine that is gone, with its node and its NodeClaim.
func (a *Autoscaler) forget(name string) {
	delete(a.memory.nodes, name)
	delete(a.claims, name)
	delete(a.touched, name)
	a.cluster.DeleteNode(name)
	a.cluster.DeleteNodeClaim(name)
}

// Reconcile lets Karpenter act at a time. Changes of the cluster have other times than Karpenter's decisions, because it
// tells by them whether the cluster has changed.
func (a *Autoscaler) Reconcile(ctx context.Context, now time.Time) error {
	ctx = a.within(ctx)
	a.clock.SetTime(now.Add(time.Millisecond))
	for _, name := range slices.Sorted(maps.Keys(a.claims)) {
		if a.world.Cloud.Instances[name] == nil && a.memory.nodes[name] == nil {
			a.forget(name)
		}
	}
	a.markConsolidatable()
	for _, name := range a.drains.Interrupted() {
		a.cluster.MarkForDeletion(a.claims[name].Status.ProviderID)
		if err := a.drains.Begin(ctx, name); err != nil {
			return err
		}
	}
	results, err := a.scheduler.Schedule(ctx)
	if err != nil {
		return err
	}
	if _, err := a.launch(ctx, results.NewNodeClaims); err != nil {
		return err
	}
	if now.Equal(now.Truncate(decideEvery)) {
		if err := a.disrupt(ctx); err != nil {
			return err
		}
	}
	if err := a.drainReplaced(ctx); err != nil {
		return err
	}
	if err := a.drains.Advance(ctx); err != nil {
		return err
	}
	a.clock.SetTime(now.Add(3 * time.Millisecond)) // for the events until the next Reconcile
	return nil
}

// disrupt makes decisions about disruption, and begins to carry them out.
func (a *Autoscaler) disrupt(ctx context.Context) error {
	commands, err := a.Decide(ctx)
	if err != nil {
		return err
	}
	a.clock.Step(time.Millisecond)
	for _, c := range commands {
		if err := a.begin(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// markConsolidatable sets the condition Consolidatable as Karpenter's controller of it does: true once consolidateAfter
// has passed since the last pod came or went.
func (a *Autoscaler) markConsolidatable() {
	for _, name := range slices.Sorted(maps.Keys(a.claims)) {
		claim := a.claims[name]
		if claim.Status.NodeName == "" {
			continue
		}
		after := a.poolOf(claim).Spec.Disruption.ConsolidateAfter.Duration
		is := after != nil && a.clock.Since(a.touched[name]) >= *after
		conditions := claim.StatusConditions(status.WithClock(a.clock))
		if conditions.IsTrue(karpv1.ConditionTypeConsolidatable) == is {
			continue
		}
		if is {
			conditions.SetTrue(karpv1.ConditionTypeConsolidatable)
		} else if err := conditions.Clear(karpv1.ConditionTypeConsolidatable); err != nil {
			conditions.SetFalse(karpv1.ConditionTypeConsolidatable, "PodEvent", "a pod came or went")
		}
		a.cluster.UpdateNodeClaim(claim.DeepCopy())
	}
}

func (a *Autoscaler) poolOf(claim *karpv1.NodeClaim) *karpv1.NodePool {
	i := slices.IndexFunc(a.memory.pools, func(p *karpv1.NodePool) bool { return p.Name == claim.Labels[karpv1.NodePoolLabelKey] })
	return a.memory.pools[i]
}

// launch launches a machine for each NodeClaim, and returns their names.
func (a *Autoscaler) launch(ctx context.Context, claims []*karpenter.NodeClaim) ([]string, error) {
	var out peer.Outcome
	for _, claim := range claims {
		m, err := cheapestMachine(claim, a.shelves)
		if err != nil {
			return nil, err
		}
		out.Machines = append(out.Machines, m)
	}
	var names []string
	for i, l := range out.Plan(a.problem).Launches {
		a.orders++
		name, err := a.world.Cloud.Launch(ctx, controller.Order{ID: fmt.Sprintf("karpenter-%d", a.orders), Option: l.Options[0], Launch: l})
		if err != nil {
			return nil, err
		}
		node, err := l.Node(name, &l.Options[0], a.problem.Catalog)
		if err != nil {
			return nil, err
		}
		delete(node.Labels, scheduling.RegisteredLabel)
		delete(node.Labels, scheduling.InitializedLabel)
		claim := &karpv1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("claim-" + name), Labels: node.Labels, CreationTimestamp: metav1.NewTime(a.clock.Now())},
			Spec:       karpv1.NodeClaimSpec{Taints: node.Spec.Taints},
			Status:     karpv1.NodeClaimStatus{ProviderID: "catalog://" + name, Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable},
		}
		claim.StatusConditions(status.WithClock(a.clock)).SetTrue(karpv1.ConditionTypeLaunched)
		a.claims[name] = claim
		a.cluster.UpdateNodeClaim(claim.DeepCopy())
		a.cluster.UpdatePodToNodeClaimMapping(map[string][]*corev1.Pod{name: claims[i].Pods})
		names = append(names, name)
	}
	return names, nil
}

// begin launches the replacements of a command, and taints its candidates.
func (a *Autoscaler) begin(ctx context.Context, c Command) error {
	var claims []*karpenter.NodeClaim
	for _, r := range c.command.Replacements {
		claims = append(claims, r.NodeClaim)
	}
	replacements, err := a.launch(ctx, claims)
	if err != nil {
		return err
	}
	r := replacing{replacements: replacements}
	for _, candidate := range c.command.Candidates {
		a.cluster.MarkForDeletion(candidate.ProviderID())
		r.candidates = append(r.candidates, candidate.Name())
		if err := a.world.Cluster.SetTaint(ctx, candidate.Name(), controller.Taint(), true); err != nil {
			return err
		}
	}
	a.commands = append(a.commands, r)
	return nil
}

// drainReplaced begins to drain the candidates whose replacements have joined, and gives up those whose replacements are
// gone.
func (a *Autoscaler) drainReplaced(ctx context.Context) error {
	var wait []replacing
	for _, r := range a.commands {
		switch {
		case slices.ContainsFunc(r.replacements, func(name string) bool { return a.world.Cloud.Instances[name] == nil }):
			for _, name := range r.candidates {
				if claim := a.claims[name]; claim != nil && !a.drains.Has(name) {
					a.cluster.UnmarkForDeletion(claim.Status.ProviderID)
					if err := a.world.Cluster.SetTaint(ctx, name, controller.Taint(), false); err != nil {
						return err
					}
				}
			}
		case slices.ContainsFunc(r.replacements, func(name string) bool { return a.memory.nodes[name] == nil }):
			wait = append(wait, r)
		default:
			for _, name := range r.candidates {
				if err := a.drains.Begin(ctx, name); err != nil {
					return err
				}
			}
		}
	}
	a.commands = wait
	return nil
}
