package steer

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Name is the plugin's name in registries and scheduler configurations.
const Name = "PlimsollSteering"

// Plugin steers pods to their planned nodes.
type Plugin struct {
	placements Placements
}

var (
	_ fwk.PreFilterPlugin   = (*Plugin)(nil)
	_ fwk.EnqueueExtensions = (*Plugin)(nil)
)

// New returns the factory of the plugin for these placements, for a scheduler's registry.
// The map is copied.
func New(p Placements) frameworkruntime.PluginFactory {
	p = maps.Clone(p)
	return func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
		return &Plugin{placements: p}, nil
	}
}

// Name returns [Name].
func (*Plugin) Name() string { return Name }

// PreFilter leaves a planned pod the choice of its planned node alone.
func (p *Plugin) PreFilter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	target, ok := p.placements.target(pod)
	if !ok {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	found := sets.New[string]()
	for _, info := range nodes {
		if node := info.Node(); node != nil && reaches(target, node) {
			found.Insert(node.Name)
		}
	}
	if len(found) == 0 {
		// Unresolvable: no eviction brings a machine that has not been started.
		return nil, fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("machine %s, which the plan chose, has not joined the cluster", target))
	}
	return &fwk.PreFilterResult{NodeNames: found}, nil
}

// PreFilterExtensions returns nil: other pods do not change where a pod is to go.
func (*Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// EventsToRegister returns the events that may end the wait of a pod: a node that joins, or
// one that gets the label of its launch later.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel},
		QueueingHintFn: p.awaited,
	}}, nil
}

// awaited wakes a pod if the node is the one that it waits for.
func (p *Plugin) awaited(_ klog.Logger, pod *corev1.Pod, _, changed any) (fwk.QueueingHint, error) {
	node, ok := changed.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("expected a node, got %T", changed)
	}
	if target, ok := p.placements.target(pod); ok && !reaches(target, node) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
