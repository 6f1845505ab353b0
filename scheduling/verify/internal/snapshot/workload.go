package snapshot

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadOf names the pods that belong together: those of one controller, or without
// one, those that the same Services select; "" where a pod stands alone, or where every
// node has its own.
func (w *State) WorkloadOf(pod *corev1.Pod) string {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + NamespaceOf(pod) + "/" + ref.Name
	}
	var names []string
	for _, s := range w.servicesOf(pod) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return "Services/" + NamespaceOf(pod) + "/" + strings.Join(names, ",")
}

// WorkloadCounts counts the pods that run on nodes and stay, by workload.
type WorkloadCounts struct {
	sizes map[string]int
	On    map[string]map[string]int // by node and workload
}

// NewWorkloadCounts counts nobody yet.
func NewWorkloadCounts() *WorkloadCounts {
	return &WorkloadCounts{sizes: make(map[string]int), On: make(map[string]map[string]int)}
}

// CountWorkload counts n pods more such as this one on a node.
func (w *State) CountWorkload(pod *corev1.Pod, node string, n int) {
	if w.Policy.WorkloadShare <= 0 || node == "" || !Live(pod) {
		return
	}
	r, workload := w.Workloads, w.WorkloadOf(pod)
	r.sizes[workload] += n
	if r.On[node] == nil {
		r.On[node] = make(map[string]int)
	}
	r.On[node][workload] += n
}

// WorkloadSizes is how many pods of a workload there are, running and pending.
func (w *State) WorkloadSizes() map[string]int {
	size := maps.Clone(w.Workloads.sizes)
	for _, t := range w.Pods {
		size[w.WorkloadOf(t.Object)]++
	}
	return size
}

// MostTogether is how many pods of a workload of that size may share a node.
func (w *State) MostTogether(size int) int { return max(1, size*w.Policy.WorkloadShare/100) }
