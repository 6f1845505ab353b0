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

// pods are all pods that a cluster has to hold.
func (s *Subject) pods() []*corev1.Pod {
	return slices.DeleteFunc(slices.Concat(s.problem().Running, s.problem().Pods), func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
}

// noRequests returns the workloads with containers that request no CPU or no memory: the scheduler
// ignores their usage, and they are evicted and throttled first.
func (s *Subject) noRequests() (out []Finding) {
	type lack struct {
		containers map[string]bool
		pods       int
	}
	lacks := map[string]*lack{}
	see := func(workload string, spec *corev1.PodSpec) {
		found := map[string]bool{}
		if spec.Resources == nil || len(spec.Resources.Requests) == 0 {
			for i := range spec.Containers {
				c := &spec.Containers[i]
				for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
					_, requested := c.Resources.Requests[name]
					if _, limited := c.Resources.Limits[name]; !requested && !limited {
						found[fmt.Sprintf("%s of %s", name, c.Name)] = true
					}
				}
			}
		}
		if len(found) == 0 {
			return
		}
		if lacks[workload] == nil {
			lacks[workload] = &lack{containers: map[string]bool{}}
		}
		lacks[workload].pods++
		maps.Copy(lacks[workload].containers, found)
	}
	for _, pod := range s.pods() {
		if !costs.Daemon(pod) {
			see(s.Workload(scheduling.PodName(pod)), &pod.Spec)
		}
	}
	for _, set := range s.problem().DaemonSets {
		see("DaemonSet/"+cmp.Or(set.Namespace, "default")+"/"+set.Name, &set.Spec.Template.Spec)
	}
	for workload, l := range lacks {
		names := slices.Sorted(maps.Keys(l.containers))
		out = append(out, Finding{
			Severity: Warning, Code: NoRequests, Object: workload, Field: "spec.containers[*].resources.requests",
			Message: fmt.Sprintf("requests no %s, so that its pods (%d) count for too little, and too little is bought for them", strings.Join(names, ", no "), l.pods),
			Advice:  "request what they use, or set a LimitRange for the namespace",
		})
	}
	return out
}

// daemonSets returns a finding if the input has no DaemonSets.
func (s *Subject) daemonSets() []Finding {
	p := s.problem()
	if len(p.DaemonSets) > 0 || len(p.Nodes) == 0 && !s.OwnPools || len(s.pods()) == 0 {
		return nil
	}
	return []Finding{{
		Severity: Warning, Code: NoDaemonSets, Object: "DaemonSets",
		Message: "there is none in the input, so that new nodes are planned without the pods that run on every node",
		Advice:  "add what kubectl get ds -A -o json prints",
	}}
}
