package autoscaler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Autoscaler is the imitation in a simulated cluster. Pods that fit neither nodes nor machines on their way cause
// scale-ups, one after the other until no pod is left; a round without a scale-up removes nodes. A node with a notice of interruption is
// drained at once, as by the node termination handler of the cloud.
type Autoscaler struct {
	peer  Peer
	world *simulation.World
	// problem has the node groups, as NodePools and catalog.
	problem scheduling.Problem
	drains  *simulation.Drains
	// scaledUp is the time of the last scale-up, unneeded since when each node is unneeded.
	scaledUp time.Time
	unneeded map[string]time.Time
	orders   int
}

// NewAutoscaler starts in a world without pods and nodes. The groups are a problem with NodePools, DaemonSets and the catalog.
func NewAutoscaler(p Peer, w *simulation.World, groups scheduling.Problem) *Autoscaler {
	return &Autoscaler{peer: p, world: w, problem: groups, drains: simulation.NewDrains(w), unneeded: map[string]time.Time{}}
}

// Upsert implements [simulation.Watcher]. The autoscaler reads the cluster's objects when it needs them.
func (*Autoscaler) Upsert(...metav1.Object) error { return nil }

// Delete implements [simulation.Watcher].
func (*Autoscaler) Delete(...metav1.Object) error { return nil }

// Reconcile is one round at a time.
func (a *Autoscaler) Reconcile(ctx context.Context, now time.Time) error {
	for _, name := range a.drains.Interrupted() {
		if err := a.drains.Begin(ctx, name); err != nil {
			return err
		}
	}
	snapshot, err := a.snapshot()
	if err != nil {
		return err
	}
	up, err := a.scaleUp(ctx, snapshot)
	if err != nil {
		return err
	}
	if up {
		a.scaledUp = now
	} else if err := a.scaleDown(ctx, snapshot, now); err != nil {
		return err
	}
	return a.drains.Advance(ctx)
}

// snapshot is the cluster with machines on their way as nodes.
func (a *Autoscaler) snapshot() (scheduling.Problem, error) {
	p := a.world.Cluster.Problem(a.problem.Catalog)
	for _, name := range slices.Sorted(maps.Keys(a.world.Cloud.Instances)) {
		i := a.world.Cloud.Instances[name]
		if i.Joined {
			continue
		}
		node, err := i.Machine.Order.Launch.Node(name, &i.Machine.Order.Option, a.problem.Catalog)
		if err != nil {
			return p, err
		}
		p.Nodes = append(p.Nodes, node)
	}
	p.DaemonSets = a.problem.DaemonSets
	return p, nil
}

// scaleUp launches machines for the pending pods that do not fit the snapshot, and reports whether there are any.
func (a *Autoscaler) scaleUp(ctx context.Context, snapshot scheduling.Problem) (bool, error) {
	rest, err := unbound(snapshot)
	if err != nil || len(rest) == 0 {
		return false, err
	}
	p := a.problem
	p.Pods = rest
	run, err := a.peer.Load(p)
	if err != nil {
		return false, err
	}
	if err := run.Solve(ctx); err != nil {
		return false, err
	}
	outcome, err := run.Outcome()
	if err != nil {
		return false, err
	}
	launches := outcome.Plan(p).Launches
	for i := range launches {
		a.orders++
		order := controller.Order{ID: fmt.Sprintf("autoscaler-%d", a.orders), Option: launches[i].Options[0], Launch: launches[i]}
		if _, err := a.world.Cloud.Launch(ctx, order); err != nil {
			return false, err
		}
	}
	return len(launches) > 0, nil
}

// unbound are the pending pods of a problem that kube-scheduler would bind to none of its nodes.
func unbound(p scheduling.Problem) ([]*corev1.Pod, error) {
	if len(p.Pods) == 0 {
		return nil, nil
	}
	bindings, err := provisioning.Bind(p, 0)
	if err != nil {
		return nil, err
	}
	bound := map[string]bool{}
	for _, b := range bindings {
		bound[b.Pod.String()] = b.Node != ""
	}
	return slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool { return bound[scheduling.PodName(pod)] }), nil
}
