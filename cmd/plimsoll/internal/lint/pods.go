package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// podsOf are all pods that a cluster must hold: running and pending pods that have not ended.
func podsOf(p *scheduling.Problem) []*corev1.Pod {
	return slices.DeleteFunc(slices.Concat(p.Running, p.Pods), func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
}

// noRequests returns the workloads with containers that request no CPU or no memory: the scheduler
// ignores their usage, and they are evicted and throttled first.
func noRequests(p *scheduling.Problem, workload func(pod string) string) (out []Finding) {
	type lack struct {
		containers map[string]bool
		pods       int
	}
	lacks := map[string]*lack{}
	see := func(name string, spec *corev1.PodSpec) {
		found := map[string]bool{}
		if spec.Resources == nil || len(spec.Resources.Requests) == 0 {
			for i := range spec.Containers {
				c := &spec.Containers[i]
				for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
					_, requested := c.Resources.Requests[resource]
					if _, limited := c.Resources.Limits[resource]; !requested && !limited {
						found[fmt.Sprintf("%s of %s", resource, c.Name)] = true
					}
				}
			}
		}
		if len(found) == 0 {
			return
		}
		if lacks[name] == nil {
			lacks[name] = &lack{containers: map[string]bool{}}
		}
		lacks[name].pods++
		maps.Copy(lacks[name].containers, found)
	}
	for _, pod := range podsOf(p) {
		if !costs.Daemon(pod) {
			see(workload(scheduling.PodName(pod)), &pod.Spec)
		}
	}
	for _, set := range p.DaemonSets {
		see("DaemonSet/"+cmp.Or(set.Namespace, "default")+"/"+set.Name, &set.Spec.Template.Spec)
	}
	for name, l := range lacks {
		names := slices.Sorted(maps.Keys(l.containers))
		out = append(out, Finding{
			Severity: Warning, Code: NoRequests, Object: name, Field: "spec.containers[*].resources.requests",
			Message: fmt.Sprintf("requests no %s, so that plans and kube-scheduler reserve too little for its pods (%d)", strings.Join(names, ", no "), l.pods),
			Advice:  "set requests to the actual usage, or add a LimitRange to the namespace",
		})
	}
	return out
}

// noDaemonSets returns a finding if the input has pods and no DaemonSets.
func noDaemonSets(p *scheduling.Problem) []Finding {
	if len(p.DaemonSets) > 0 || len(podsOf(p)) == 0 {
		return nil
	}
	return []Finding{{
		Severity: Warning, Code: NoDaemonSets, Object: "DaemonSets",
		Message: "none in the input, so that new nodes are planned without DaemonSet pods",
		Advice:  "add the output of kubectl get ds -A -o json",
	}}
}
