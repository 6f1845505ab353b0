package compile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// newWorkloads counts the pods of every workload: those to be placed and those that run
// and are not being deleted. It returns nil where shares are not bounded.
func newWorkloads(c *Compiler) *podspec.Workloads {
	if c.Solver.WorkloadShare <= 0 || c.Solver.WorkloadShare >= 100 {
		return nil
	}
	w := &podspec.Workloads{Percent: int64(c.Solver.WorkloadShare), Services: map[string][]*corev1.Service{}, Pods: map[string]int64{}}
	for _, s := range c.Problem.Services {
		if len(s.Spec.Selector) > 0 {
			ns := podspec.OrDefault(s.Namespace)
			w.Services[ns] = append(w.Services[ns], s)
		}
	}
	for _, pod := range c.Problem.Pods {
		if podspec.Pending(pod) {
			w.Count(pod)
		}
	}
	for _, h := range c.Cluster.Hosts {
		for _, pod := range h.Pods {
			if pod.DeletionTimestamp == nil {
				w.Count(pod)
			}
		}
	}
	return w
}

// tie bounds how many pods of a pod's workload may be on one machine; ok is false where
// that is no bound.
func shareTie(r *termReader, pod *corev1.Pod) (t podspec.Tie, name string, ok bool) {
	if r.workloads == nil {
		return podspec.Tie{}, "", false
	}
	name = r.workloads.Of(pod)
	if name == "" || r.workloads.Most(name) >= r.workloads.Pods[name] {
		return podspec.Tie{}, "", false
	}
	own := podspec.NamespaceOf(pod)
	t = podspec.Tie{Kind: podspec.SpreadTie, Key: corev1.LabelHostname, MaxSkew: r.workloads.Most(name), HonorAffinity: true, Share: true}
	t.Target = r.Targets.Add(string(podspec.AppendText([]byte{'w'}, name)), func() podspec.Target {
		return podspec.Target{Selectors: []podspec.PodSelector{{
			Namespaces: map[string]bool{own: true}, Labels: labels.SelectorFromValidatedSet(labels.Set{podspec.WorkloadKey: name}),
		}}}
	})
	return t, name, true
}

// labelsOf are a pod's labels, and its workload where that matters.
func labelsOf(r *termReader, pod *corev1.Pod) map[string]string {
	if r.workloads == nil {
		return pod.Labels
	}
	name := r.workloads.Of(pod)
	if name == "" {
		return pod.Labels
	}
	out := make(map[string]string, len(pod.Labels)+1)
	for k, v := range pod.Labels {
		out[k] = v
	}
	out[podspec.WorkloadKey] = name
	return out
}
