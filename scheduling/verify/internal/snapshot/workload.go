package snapshot

import (
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

// WorkloadCounts are how many pods of each workload there are, running or pending, and of those that run
// and stay, by node.
type WorkloadCounts struct {
	Sizes map[string]int
	On    map[string]map[string]int
}

// CountWorkloads counts them.
func (w *State) CountWorkloads() *WorkloadCounts {
	c := &WorkloadCounts{Sizes: make(map[string]int), On: make(map[string]map[string]int)}
	for _, t := range w.Pods {
		c.Sizes[w.WorkloadOf(t.Object)]++
	}
	for _, pod := range w.Running {
		if workload, node := w.WorkloadOf(pod), pod.Spec.NodeName; Live(pod) {
			if c.On[node] == nil {
				c.On[node] = make(map[string]int)
			}
			c.On[node][workload]++
			c.Sizes[workload]++
		}
	}
	return c
}

// MostTogether is how many pods of a workload of that size may share a node.
func (w *State) MostTogether(size int) int { return max(1, size*w.Policy.WorkloadShare/100) }
