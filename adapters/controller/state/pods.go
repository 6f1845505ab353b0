package state

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// pods finds pods by what plans ask of them.
type pods struct {
	// pending are the pods without a node that need one, by name; on are the pods of each node.
	pending map[string]*corev1.Pod
	on      map[string]map[string]*corev1.Pod
	// touched is when a pod was last bound to a node or left it, DaemonSets aside.
	touched map[string]time.Time
}

func newPods() pods {
	return pods{pending: map[string]*corev1.Pod{}, on: map[string]map[string]*corev1.Pod{}, touched: map[string]time.Time{}}
}

// index updates the lists when pod before has become pod after; nil is none.
func (x *pods) index(before, after *corev1.Pod, now time.Time) {
	if before != nil {
		name := scheduling.PodName(before)
		delete(x.pending, name)
		delete(x.on[before.Spec.NodeName], name)
		if len(x.on[before.Spec.NodeName]) == 0 {
			delete(x.on, before.Spec.NodeName)
		}
	}
	if after != nil && !lifecycle.Leaving(after) && after.Spec.NodeName == "" {
		x.pending[scheduling.PodName(after)] = after
	}
	if after != nil && after.Spec.NodeName != "" && !lifecycle.Ended(after) {
		if x.on[after.Spec.NodeName] == nil {
			x.on[after.Spec.NodeName] = map[string]*corev1.Pod{}
		}
		x.on[after.Spec.NodeName][scheduling.PodName(after)] = after
	}
	from, to := running(before), running(after)
	if from != to {
		for _, node := range []string{from, to} {
			if node != "" {
				x.touched[node] = now
			}
		}
	}
}

// Pod returns the pod namespace/name, or nil.
func (c *Cluster) Pod(name string) *corev1.Pod {
	p, _ := c.known[key{"Pod", PodKey(name)}].(*corev1.Pod)
	return p
}

// Pending are the pods without a node that need one, by namespace/name.
func (c *Cluster) Pending() map[string]*corev1.Pod { return c.pods.pending }

// PodsOn are the pods on a node that have not ended, by namespace/name.
func (c *Cluster) PodsOn(node string) map[string]*corev1.Pod { return c.pods.on[node] }

// LastPodEvent is when a pod other than a DaemonSet's was last bound to a node or left it, as far as this process has seen
// it or the node's pods tell; now is the latest time that it returns.
func (c *Cluster) LastPodEvent(node string, now time.Time) time.Time {
	last := c.pods.touched[node]
	for _, pod := range c.pods.on[node] {
		for _, x := range pod.Status.Conditions {
			if x.Type == corev1.PodScheduled && x.Status == corev1.ConditionTrue && x.LastTransitionTime.After(last) && !lifecycle.OfDaemonSet(pod) {
				last = x.LastTransitionTime.Time
			}
		}
	}
	if last.After(now) {
		return now
	}
	return last
}

// Restamp moves times of the future to now, after the clock went back.
func (c *Cluster) Restamp(now time.Time) {
	for node, at := range c.pods.touched {
		if at.After(now) {
			c.pods.touched[node] = now
		}
	}
}

// running is the node on which a pod runs that is no daemon; "" where there is none.
func running(pod *corev1.Pod) string {
	if pod == nil || lifecycle.Ended(pod) || lifecycle.OfDaemonSet(pod) {
		return ""
	}
	return pod.Spec.NodeName
}
