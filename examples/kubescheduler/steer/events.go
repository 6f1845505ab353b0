package steer

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// EventsToRegister says what may end the wait of a pod: a node that joins, or one that
// gets the label of its launch later.
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
