package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// startupTaintTimeout is how long a node keeps [StartupTaint] where nominations fail or the node does not become ready:
// it may be waiting for a pod that does not tolerate the taint.
const startupTaintTimeout = 5 * time.Minute

// nominate tells the scheduler on which node each pending pod is planned, as soon as that node is ready but for
// [StartupTaint], and then removes this taint. A nomination that is made earlier is lost, because kube-scheduler clears
// status.nominatedNodeName of a pod that fits no node.
func (c *Controller) nominate(ctx context.Context) error {
	failed, err := c.nominatePods(ctx)
	errs := []error{err}
	maps.DeleteFunc(c.starting, func(name string, _ time.Duration) bool { return c.state.Nodes()[name] == nil })
	for _, name := range slices.Sorted(maps.Keys(c.state.Nodes())) {
		node := c.state.Nodes()[name]
		if !HasTaint(node, StartupTaint()) {
			delete(c.starting, name)
			continue
		}
		if _, seen := c.starting[name]; !seen {
			c.starting[name] = c.clock.elapsed
		}
		// A controller that has just started has yet to plan the pods that the node was launched for.
		planned := c.listed && !c.pods.unplanned(c.state)
		if (!planned || failed[name] || !c.started(node)) && c.clock.elapsed-c.starting[name] <= startupTaintTimeout {
			continue
		}
		if err := c.evictor.SetTaint(ctx, name, StartupTaint(), false); err != nil {
			errs = append(errs, fmt.Errorf("remove the start-up taint of node %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// nomination is the node that Options.Nominator was told for a pending pod.
type nomination struct {
	node string
	// seen says that the pod's status has had the node since then.
	seen bool
}

// cleared reports whether kube-scheduler has taken the nomination out of the pod's status: a scheduling cycle has found no node
// for the pod, e.g. because the pods that it spreads with are not bound yet.
func (n nomination) cleared(pod *corev1.Pod) bool {
	return n.node != "" && n.seen && pod.Status.NominatedNodeName == ""
}

// nominatePods tells Options.Nominator the nodes of pending pods that it was not told yet, or that kube-scheduler has cleared,
// and returns the nodes for which this failed.
func (c *Controller) nominatePods(ctx context.Context) (failed map[string]bool, err error) {
	if c.opts.Nominator == nil {
		return nil, nil
	}
	before := c.pods.nominated
	c.pods.nominated = map[types.UID]nomination{}
	var pods []*corev1.Pod
	var to []string
	for _, name := range slices.Sorted(maps.Keys(c.state.Pending())) {
		pod, node := c.state.Pending()[name], ""
		if p := c.pods.promised[name]; p != nil && c.started(c.nodeOf(p)) {
			node = c.nodeOf(p).Name
		}
		told := before[pod.UID]
		if node != told.node || told.cleared(pod) {
			pods, to = append(pods, pod), append(to, node)
		} else if node != "" {
			c.pods.nominated[pod.UID] = nomination{node, told.seen || pod.Status.NominatedNodeName == node}
		}
	}
	errs := make([]error, len(pods))
	c.inParallel(len(pods), func(i int) { errs[i] = c.opts.Nominator.Nominate(ctx, pods[i], to[i]) })
	failed = map[string]bool{}
	for i, pod := range pods {
		now := nomination{node: to[i]}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("nominate pod %s: %w", pod.Namespace+"/"+pod.Name, errs[i])
			failed[now.node] = true
			now = before[pod.UID]
		} else if now.node != "" {
			c.count(func(s *Stats) { s.Nominated++ })
		}
		if now.node != "" {
			c.pods.nominated[pod.UID] = now
		}
	}
	return failed, errors.Join(errs...)
}

// nodeOf is the node of a promise, or nil until it has joined.
func (c *Controller) nodeOf(p *promise) *corev1.Node { return c.state.Nodes()[p.at()] }

// started reports whether a node is ready but for [StartupTaint]; nil is not.
func (c *Controller) started(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	var startup []corev1.Taint
	if m := c.ofNode(node); m != nil {
		startup = slices.DeleteFunc(slices.Clone(m.Order.Launch.StartupTaints), func(t corev1.Taint) bool { return equalTaints(t, StartupTaint()) })
	}
	return isReady(node, startup)
}
