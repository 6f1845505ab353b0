package oracle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// nominator is the pods without a node that have a nominated one, as the filters ask for
// them. The scheduler's own belongs to its queue, which [Scheduler] does without, and
// copies every pod each time it is asked.
type nominator struct {
	on map[string][]fwk.PodInfo // by the name of the nominated node
	of map[types.UID]*corev1.Pod
}

func newNominator() *nominator {
	return &nominator{on: map[string][]fwk.PodInfo{}, of: map[types.UID]*corev1.Pod{}}
}

// AddNominatedPod implements [fwk.PodNominator]. The node is the one in the pod's status
// unless the information overrides it.
func (n *nominator) AddNominatedPod(_ klog.Logger, info fwk.PodInfo, nominating *fwk.NominatingInfo) {
	pod := info.GetPod()
	n.DeleteNominatedPodIfExists(pod)
	node := pod.Status.NominatedNodeName
	if nominating.Mode() == fwk.ModeOverride {
		node = nominating.NominatedNodeName
	}
	if node != "" {
		n.on[node] = append(n.on[node], info)
		n.of[pod.UID] = pod
	}
}

// DeleteNominatedPodIfExists implements [fwk.PodNominator].
func (n *nominator) DeleteNominatedPodIfExists(pod *corev1.Pod) {
	if _, ok := n.of[pod.UID]; !ok {
		return
	}
	delete(n.of, pod.UID)
	for node, infos := range n.on {
		n.on[node] = slices.DeleteFunc(infos, func(info fwk.PodInfo) bool { return info.GetPod().UID == pod.UID })
	}
}

// UpdateNominatedPod implements [fwk.PodNominator].
func (n *nominator) UpdateNominatedPod(logger klog.Logger, old *corev1.Pod, info fwk.PodInfo) {
	n.DeleteNominatedPodIfExists(old)
	n.AddNominatedPod(logger, info, nil)
}

// NominatedPodsForNode implements [fwk.PodNominator].
func (n *nominator) NominatedPodsForNode(node string) []fwk.PodInfo { return n.on[node] }
