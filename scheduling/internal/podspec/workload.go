package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Workloads knows which pods belong together, for [Policy.WorkloadShare]: pods of one
// controller, or without one, those that the same Services select.
type Workloads struct {
	Percent  int64
	Services map[string][]*corev1.Service // by namespace
	Pods     map[string]int64             // by workload, how many there are
}

// WorkloadKey stands for a label that tells the workload; no label can be called so.
const WorkloadKey = "workload:"

// Count counts a pod to its workload, if it has one.
func (w *Workloads) Count(pod *corev1.Pod) {
	if name := w.Of(pod); name != "" {
		w.Pods[name]++
	}
}

// Of names the workload of a pod, "" for none. Pods of DaemonSets and those that a
// kubelet runs by itself belong to none: each node has its own.
func (w *Workloads) Of(pod *corev1.Pod) string {
	ns := NamespaceOf(pod)
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + ns + "/" + ref.Name
	}
	var names []string
	for _, s := range w.Services[ns] {
		if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "Service/" + ns + "/" + strings.Join(names, "+")
}

// Most is how many pods of a workload may share a machine: its share, rounded down, and
// never less than one.
func (w *Workloads) Most(name string) int64 { return max(1, w.Pods[name]*w.Percent/100) }
