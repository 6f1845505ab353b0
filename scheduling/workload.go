package scheduling

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// workloads knows which pods belong together, for [Policy.WorkloadShare]: pods of one
// controller, or without one, those that the same Services select.
type workloads struct {
	percent  int64
	services map[string][]*corev1.Service // by namespace
	pods     map[string]int64             // by workload, how many there are
}

// workloadKey stands for a label that tells the workload; no label can be called so.
const workloadKey = "workload:"

// newWorkloads counts the pods of every workload: those to be placed and those that run
// and are not being deleted. It returns nil where shares are not bounded.
func newWorkloads(c *compiler) *workloads {
	if c.solver.WorkloadShare <= 0 || c.solver.WorkloadShare >= 100 {
		return nil
	}
	w := &workloads{percent: int64(c.solver.WorkloadShare), services: map[string][]*corev1.Service{}, pods: map[string]int64{}}
	for _, s := range c.problem.Services {
		if len(s.Spec.Selector) > 0 {
			ns := serviceNamespace(s)
			w.services[ns] = append(w.services[ns], s)
		}
	}
	for _, pod := range c.problem.Pods {
		if pending(pod) {
			w.count(pod)
		}
	}
	for _, h := range c.cluster.hosts {
		for _, pod := range h.pods {
			if pod.DeletionTimestamp == nil {
				w.count(pod)
			}
		}
	}
	return w
}

func serviceNamespace(s *corev1.Service) string {
	if s.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return s.Namespace
}

func (w *workloads) count(pod *corev1.Pod) {
	if name := w.of(pod); name != "" {
		w.pods[name]++
	}
}

// of names the workload of a pod, "" for none. Pods of DaemonSets and those that a
// kubelet runs by itself belong to none: each node has its own.
func (w *workloads) of(pod *corev1.Pod) string {
	ns := namespaceOf(pod)
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == "DaemonSet" || ref.Kind == "Node" {
			return ""
		}
		return ref.Kind + "/" + ns + "/" + ref.Name
	}
	var names []string
	for _, s := range w.services[ns] {
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

// most is how many pods of a workload may share a machine: its share, rounded down, and
// never less than one.
func (w *workloads) most(name string) int64 { return max(1, w.pods[name]*w.percent/100) }

// tie bounds how many pods of a pod's workload may be on one machine; ok is false where
// that is no bound.
func (r *bondReader) shareTie(pod *corev1.Pod) (t tie, name string, ok bool) {
	if r.workloads == nil {
		return tie{}, "", false
	}
	name = r.workloads.of(pod)
	if name == "" || r.workloads.most(name) >= r.workloads.pods[name] {
		return tie{}, "", false
	}
	own := namespaceOf(pod)
	t = tie{kind: spreadTie, key: corev1.LabelHostname, maxSkew: r.workloads.most(name), honorAffinity: true, share: true}
	t.target = r.targets.add(string(appendText([]byte{'w'}, name)), func() target {
		return target{[]podSelector{{
			namespaces: map[string]bool{own: true}, labels: labels.SelectorFromValidatedSet(labels.Set{workloadKey: name}),
		}}}
	})
	return t, name, true
}

// labelsOf are a pod's labels, and its workload where that matters.
func (r *bondReader) labelsOf(pod *corev1.Pod) map[string]string {
	if r.workloads == nil {
		return pod.Labels
	}
	name := r.workloads.of(pod)
	if name == "" {
		return pod.Labels
	}
	out := make(map[string]string, len(pod.Labels)+1)
	for k, v := range pod.Labels {
		out[k] = v
	}
	out[workloadKey] = name
	return out
}
