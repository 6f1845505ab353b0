package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// reportAutoscalers warns of workloads that their HorizontalPodAutoscalers will give more
// replicas than the input asks for. One that is scaled to none is left alone by them.
func (c *collector) reportAutoscalers() {
	replicas := map[workload]int32{}
	note := func(kind, namespace, name string, n *int32) {
		replicas[workload{kind, namespace, name}] = 1
		if n != nil {
			replicas[workload{kind, namespace, name}] = *n
		}
	}
	for _, f := range c.deployments {
		note("Deployment", f.obj.Namespace, f.obj.Name, f.obj.Spec.Replicas)
	}
	for _, f := range c.statefulSets {
		note("StatefulSet", f.obj.Namespace, f.obj.Name, f.obj.Spec.Replicas)
	}
	for _, f := range c.replicaSets {
		note("ReplicaSet", f.obj.Namespace, f.obj.Name, f.obj.Spec.Replicas)
	}
	slices.SortFunc(c.autoscalers, byName)
	var first, message string
	var workloads, pods int32
	for _, a := range c.autoscalers {
		target := a.Spec.ScaleTargetRef
		planned := replicas[workload{target.Kind, a.Namespace, target.Name}]
		if a.Spec.MinReplicas == nil || planned == 0 || *a.Spec.MinReplicas <= planned {
			continue
		}
		if workloads == 0 {
			first = a.Namespace + "/" + target.Name
			message = fmt.Sprintf("the HorizontalPodAutoscaler of this %s keeps at least %d replicas, and the input asks for %d: %d more will come that are not planned",
				target.Kind, *a.Spec.MinReplicas, planned, *a.Spec.MinReplicas-planned)
		}
		workloads, pods = workloads+1, pods+*a.Spec.MinReplicas-planned
	}
	if workloads > 1 {
		message += fmt.Sprintf(" (and %d more; %d such pods in all)", workloads-1, pods)
	}
	if workloads > 0 {
		c.warn(first, message)
	}
}

// reportQuotas warns of ResourceQuotas for which the pods that do not exist yet are too
// many. Quotas with scopes are for some of a namespace's pods only, and left alone.
func (c *collector) reportQuotas(p *scheduling.Problem) {
	pods := map[string][]*corev1.Pod{} // by namespace
	if len(c.quotas) > 0 {
		pods = lo.GroupBy(slices.Concat(p.Pods, p.Running), func(pod *corev1.Pod) string { return pod.Namespace })
	}
	for _, quota := range c.quotas {
		if len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
			continue
		}
		fresh, there := lo.FilterReject(pods[quota.Namespace], func(pod *corev1.Pod, _ int) bool { return pod.UID == "" })
		used, more := quota.Status.Used, consumption(fresh)
		if len(used) == 0 && len(fresh) > 0 {
			used = consumption(there)
		}
		var over []string
		for _, name := range slices.Sorted(maps.Keys(quota.Spec.Hard)) {
			hard, sum := quota.Spec.Hard[name], used[name].DeepCopy()
			added := more[name]
			sum.Add(added)
			if added.Sign() > 0 && sum.Cmp(hard) > 0 {
				over = append(over, fmt.Sprintf("%s %s of %s", name, sum.String(), hard.String()))
			}
		}
		if len(over) > 0 {
			c.warn(qualified(quota), "this ResourceQuota allows less than the planned pods of its namespace come to, so that some will not be created: "+strings.Join(over, ", "))
		}
	}
}

// consumption is what pods take of a ResourceQuota, by the names that it has for it.
func consumption(pods []*corev1.Pod) corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(prefix string, lists []corev1.ResourceList) {
		for _, list := range lists {
			for name, q := range list {
				total := sum[corev1.ResourceName(prefix)+name]
				total.Add(q)
				sum[corev1.ResourceName(prefix)+name] = total
			}
		}
	}
	requests := scheduling.PodRequests(pods)
	add("", requests)
	add("requests.", requests)
	add("count/", requests)
	limited := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		limited[i] = pod.DeepCopy()
		for _, containers := range [][]corev1.Container{limited[i].Spec.InitContainers, limited[i].Spec.Containers} {
			for j := range containers {
				containers[j].Resources.Requests = containers[j].Resources.Limits
			}
		}
	}
	add("limits.", scheduling.PodRequests(limited))
	return sum
}
