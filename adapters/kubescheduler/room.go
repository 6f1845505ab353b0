package kubescheduler

import (
	"hash/fnv"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
)

// room is the room that pending pods have on their planned nodes, with [Pinned]: pods without a plan, e.g. those whose node is
// still starting, must not take it. The keys have no time.
type room map[Placement][]*corev1.Pod

// unboundIndex is the index of the pods without a node in kube-scheduler's cache of pods.
const unboundIndex = Name + "/unbound"

// indexUnbound adds the index to the cache. It is shared by all profiles of the scheduler.
func indexUnbound(h fwk.Handle) error {
	pods := h.SharedInformerFactory().Core().V1().Pods().Informer()
	if _, known := pods.GetIndexer().GetIndexers()[unboundIndex]; known {
		return nil
	}
	return pods.AddIndexers(cache.Indexers{unboundIndex: func(o any) ([]string, error) {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.NodeName == "" {
			return []string{""}, nil
		}
		return nil, nil
	}})
}

// closedTo is the room that a pod without a plan must not take: that of pods of the same or a higher priority. It is none for pods
// of DaemonSets, because plans leave room for them.
func (p *Plugin) closedTo(pod *corev1.Pod) room {
	if p.args.Mode != Pinned || lifecycle.OfDaemonSet(pod) {
		return nil
	}
	return p.plannedRoom(corev1helpers.PodPriority(pod))
}

// plannedRoom is the room of pods of at least a priority.
func (p *Plugin) plannedRoom(priority int32) room {
	out := room{}
	unbound, err := p.handle.SharedInformerFactory().Core().V1().Pods().Informer().GetIndexer().ByIndex(unboundIndex, "")
	if err != nil {
		return out // there is no such index but with Pinned
	}
	for _, o := range unbound {
		pod, ok := o.(*corev1.Pod)
		if !ok || pod.DeletionTimestamp != nil || corev1helpers.PodPriority(pod) < priority {
			continue
		}
		if at, err := p.source.Placement(pod); err == nil && !p.old(at) {
			key := Placement{Node: at.Node, Launch: at.Launch}
			out[key] = append(out[key], pod)
		}
	}
	return out
}

// onNode are the pods that are planned on a node.
func (r room) onNode(node *corev1.Node) []*corev1.Pod {
	out := append([]*corev1.Pod(nil), r[Placement{Node: node.Name}]...)
	out = append(out, r[Placement{Launch: node.Name}]...)
	if launch := node.Labels[LaunchLabel]; launch != "" && launch != node.Name {
		out = append(out, r[Placement{Launch: launch}]...)
	}
	return out
}

// leaves reports whether a node has enough of all resources for a pod beside the pods that are planned there.
func (r room) leaves(pod *corev1.Pod, info fwk.NodeInfo) bool {
	planned := r.onNode(info.Node())
	if len(planned) == 0 {
		return true
	}
	there := map[types.UID]bool{} // a planned pod is there before its binding is written
	for _, x := range info.GetPods() {
		there[x.GetPod().UID] = true
	}
	all := info.Snapshot()
	for _, x := range planned {
		if there[x.UID] {
			continue
		}
		added, err := framework.NewPodInfo(x)
		if err != nil {
			continue // kube-scheduler schedules no such pod
		}
		all.AddPodInfo(added)
	}
	return len(noderesources.Fits(pod, all, nil, noderesources.ResourceRequestsOptions{EnablePodLevelResources: true})) == 0
}

// sum is a number that changes when a pod leaves its room.
func (r room) sum() (out uint64) {
	for at, pods := range r {
		for _, pod := range pods {
			h := fnv.New64a()
			_, _ = io.WriteString(h, string(pod.UID)+" "+at.Node+" "+at.Launch)
			out += h.Sum64()
		}
	}
	return out
}
