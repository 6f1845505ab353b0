package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workloadOf names the pods that belong together: those of one controller, or without
// one, those that the same Services select; "" where a pod stands alone, or where every
// node has its own.
func (w *world) workloadOf(pod *corev1.Pod) string {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + namespaceOf(pod) + "/" + ref.Name
	}
	var names []string
	for _, s := range w.servicesOf(pod) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	return "Services/" + namespaceOf(pod) + "/" + strings.Join(names, ",")
}

// workloadCounts counts the pods that run on nodes and stay, by workload.
type workloadCounts struct {
	sizes map[string]int
	on    map[string]map[string]int // by node and workload
}

func newWorkloadCounts() *workloadCounts {
	return &workloadCounts{sizes: make(map[string]int), on: make(map[string]map[string]int)}
}

// countWorkload counts n pods more such as this one on a node.
func (w *world) countWorkload(pod *corev1.Pod, node string, n int) {
	if w.policy.WorkloadShare <= 0 || node == "" || !live(pod) {
		return
	}
	r, workload := w.workloads, w.workloadOf(pod)
	r.sizes[workload] += n
	if r.on[node] == nil {
		r.on[node] = make(map[string]int)
	}
	r.on[node][workload] += n
}

// workloadSize is how many pods of a workload there are, running and pending.
func (w *world) workloadSizes() map[string]int {
	size := maps.Clone(w.workloads.sizes)
	for _, t := range w.pods {
		size[w.workloadOf(t.pod)]++
	}
	return size
}

// mostTogether is how many pods of a workload of that size may share a node.
func (w *world) mostTogether(size int) int { return max(1, size*w.policy.WorkloadShare/100) }
