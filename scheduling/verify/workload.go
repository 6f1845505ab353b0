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
	for _, s := range w.problem.Services {
		if inSpace(s, namespaceOf(pod)) && len(s.Spec.Selector) > 0 && allOn(sameLabels(s.Spec.Selector), pod.Labels) {
			names = append(names, s.Name)
		}
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

// call counts n pods more such as this one on a node.
func (r *workloadCounts) call(w *world, pod *corev1.Pod, node string, n int) {
	if node == "" || !live(pod) {
		return
	}
	workload := w.workloadOf(pod)
	r.sizes[workload] += n
	if r.on[node] == nil {
		r.on[node] = make(map[string]int)
	}
	r.on[node][workload] += n
}

// running counts the pods of the problem.
func (w *world) running() *workloadCounts {
	if w.workloads != nil {
		return w.workloads
	}
	w.workloads = newWorkloadCounts()
	seen := make(map[string]bool)
	for _, pod := range slices.Concat(w.problem.Running, w.problem.Pods) {
		if pod.Spec.NodeName == "" || !live(pod) || seen[podName(pod)] {
			continue
		}
		seen[podName(pod)] = true
		w.workloads.call(w, pod, pod.Spec.NodeName, 1)
	}
	return w.workloads
}

// sizeOfWorkloads counts the pods of each workload.
func (w *world) sizeOfWorkloads() map[string]int {
	size := maps.Clone(w.running().sizes)
	for _, t := range w.pods {
		size[w.workloadOf(t.pod)]++
	}
	return size
}

// most is how many pods of a workload may share a machine.
func (w *world) most(size int) int { return max(1, size*w.policy.WorkloadShare/100) }

// shareOfWorkloads checks that no machine and no node that receives pods of a workload
// holds more of its pods than its share.
func (j *judge) shareOfWorkloads() {
	if j.policy.WorkloadShare <= 0 {
		return
	}
	size := j.sizeOfWorkloads()
	check := func(object string, pods []string, there map[string]int) {
		joins := make(map[string]int)
		var order []string
		for _, name := range pods {
			if t := j.pods[name]; t != nil {
				workload := j.workloadOf(t.pod)
				if joins[workload]++; joins[workload] == 1 {
					order = append(order, workload)
				}
			}
		}
		for _, workload := range order {
			if n, most := joins[workload]+there[workload], j.most(size[workload]); workload != "" && n > most {
				j.add(WorkloadShare, object, "%d pods of %s, %d of %d may share a machine", n, workload, most, size[workload])
			}
		}
	}
	for i := range j.plan.Launches {
		check(launchName(&j.plan.Launches[i]), j.plan.Launches[i].Pods, nil)
	}
	for _, a := range j.plan.Existing {
		check("node/"+a.Node, a.Pods, j.running().on[a.Node])
	}
}

// shareLeaves reports whether a node could take one more pod of a pod's workload.
func (j *judge) shareLeaves(t *tenant, s *station) bool {
	workload := j.workloadOf(t.pod)
	if j.policy.WorkloadShare <= 0 || workload == "" {
		return true
	}
	n := 1 + j.running().on[s.name][workload]
	for _, a := range j.plan.Existing {
		for _, name := range a.Pods {
			if other := j.pods[name]; a.Node == s.name && other != nil && j.workloadOf(other.pod) == workload {
				n++
			}
		}
	}
	return n <= j.most(j.sizeOfWorkloads()[workload])
}
