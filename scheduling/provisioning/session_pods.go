package provisioning

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// podChange has the changes of pods: pods that are added, removed, bound and moved, pending and running pods apart.
type podChange struct {
	come  []*corev1.Pod // to be placed
	start []*corev1.Pod // to run
	moved []scheduling.Move
	taken []types.NamespacedName // among those to be placed
	ended []types.NamespacedName // among those that run
}

// podChange sorts the changes of pods, and reports faults.
func (x *Session) podChange(c *validate.Checker, d *scheduling.Delta) podChange {
	var out podChange
	names := change[*corev1.Pod]{list: "pods", key: podspec.PodKey, put: d.Pods, taken: keysOf(d.Removed.Pods)}
	names.faults(c, func(k types.NamespacedName) bool { return x.running.Get(k) != nil || x.isWaiting(k) })
	out.moved = d.Moved
	x.movedFaults(c, d)
	for _, pod := range d.Pods {
		k := podspec.PodKey(pod)
		if pod.Spec.NodeName == "" {
			out.come = append(out.come, pod)
			if x.running.Get(k) != nil {
				out.ended = append(out.ended, k)
			}
			continue
		}
		out.start = append(out.start, pod)
		if x.isWaiting(k) {
			out.taken = append(out.taken, k)
		}
	}
	for _, k := range names.taken {
		if x.running.Get(k) != nil {
			out.ended = append(out.ended, k)
		} else {
			out.taken = append(out.taken, k)
		}
	}
	slices.SortFunc(out.come, podspec.ComparePods)
	slices.SortFunc(out.taken, compare)
	return out
}

// movedFaults reports moves of pods that do not run, or that the same change adds, removes or moves again.
func (x *Session) movedFaults(c *validate.Checker, d *scheduling.Delta) {
	if len(d.Moved) == 0 {
		return
	}
	touched := map[types.NamespacedName]string{}
	for _, pod := range d.Pods {
		touched[podspec.PodKey(pod)] = "has moved and is listed again"
	}
	for _, k := range keysOf(d.Removed.Pods) {
		touched[k] = "has moved and is removed"
	}
	for i := range d.Moved {
		k := podspec.KeyOf(d.Moved[i].Pod)
		c.MoveTo(validate.Position{List: "moved", Namespace: k.Namespace, Name: k.Name})
		switch fault := touched[k]; {
		case fault != "":
			c.Faults.Add("", fault, "")
		case x.running.Get(k) == nil:
			c.Faults.Add("", "does not run", "")
		}
		touched[k] = "has moved more than once"
	}
}

// changePods adds and removes pods and nodes.
func (x *Session) changePods(pods *podChange, d *scheduling.Delta) {
	x.waiting.change(pods.come, pods.taken)
	b := hosts.NewChange(x.cluster)
	for _, k := range pods.ended {
		r := x.running.At(k)
		b.End(r.Pod, r.Node)
		x.running.Remove(k)
	}
	for _, pod := range pods.start {
		if old := x.running.At(podspec.PodKey(pod)); old.Pod != nil {
			b.End(old.Pod, old.Node)
		}
		b.Start(pod)
		x.running.Put(pod, pod.Spec.NodeName)
	}
	for i := range pods.moved {
		m := &pods.moved[i]
		old := x.running.At(podspec.KeyOf(m.Pod))
		x.running.Put(b.Move(old.Pod, old.Node, m.Node), m.Node)
	}
	for _, name := range d.Removed.Nodes {
		b.At(name).Node = nil
	}
	for _, node := range d.Nodes {
		b.At(node.Name).Node = node
	}
	x.cluster = b.Cluster(x.running.All())
}

// nominate adds nominations, and removes nominations of pods that were bound or removed.
func (x *Session) nominate(more map[types.NamespacedName]string, done []types.NamespacedName) {
	if len(more) == 0 && (len(x.problem.Nominated) == 0 || len(done) == 0) {
		return
	}
	next := maps.Clone(x.problem.Nominated)
	for _, k := range done {
		delete(next, k)
	}
	for pod, node := range more {
		if k := podspec.KeyOf(pod); x.isWaiting(k) || x.running.Get(k) != nil {
			if next == nil {
				next = map[types.NamespacedName]string{}
			}
			next[k] = node
		}
	}
	x.problem.Nominated = next
}

// isWaiting reports whether a pod is to be placed.
func (x *Session) isWaiting(k types.NamespacedName) bool {
	_, ok := x.waiting.find(k)
	return ok
}
