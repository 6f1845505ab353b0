package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// reportMissing warns of kinds that pods to be placed depend on and of which the input
// has no object at all: then it is more likely that they were not asked for than that
// the cluster has none. Claims for ephemeral volumes do not count, as they are made with
// the pod.
func reportMissing(found *findings, p *scheduling.Problem) {
	bound := map[string]bool{} // claims of the input, and whether they are
	for _, claim := range p.Claims {
		bound[qualified(claim)] = claim.Spec.VolumeName != ""
	}
	missing := func(none bool, does, kind, short string, depends func(claim string) bool) {
		if !none {
			return
		}
		var seen sighting
		for _, pod := range p.Pods {
			if lo.SomeBy(pod.Spec.Volumes, func(v corev1.Volume) bool {
				return v.PersistentVolumeClaim != nil && depends(pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
			}) {
				seen.see(qualified(pod))
			}
		}
		if seen.count > 0 {
			found.warn(seen.object, fmt.Sprintf("uses PersistentVolumeClaims%s, but the input has no %s; add the output of kubectl get %s -A -o json%s", does, kind, short, seen.others()))
		}
	}
	missing(len(p.Claims) == 0, "", "PersistentVolumeClaim", "pvc,pv,sc", func(string) bool { return true })
	missing(len(p.Volumes) == 0, " that are bound", "PersistentVolume", "pv", func(claim string) bool { return bound[claim] })
	missing(len(p.StorageClasses) == 0, " that are not bound yet", "StorageClass", "sc", func(claim string) bool {
		isBound, known := bound[claim]
		return known && !isBound
	})
	reportCSINodes(found, p)
}

// reportCSINodes warns of nodes whose CSINode is not in the input, if pods have volumes that
// drivers attach to nodes: their attach limit is then unknown, and not applied.
func reportCSINodes(found *findings, p *scheduling.Problem) {
	unattached := map[string]bool{} // claims of volumes that no driver attaches
	for _, v := range p.Volumes {
		if ref := v.Spec.ClaimRef; ref != nil && (v.Spec.NFS != nil || v.Spec.HostPath != nil || v.Spec.Local != nil) {
			unattached[ref.Namespace+"/"+ref.Name] = true
		}
	}
	attaches := func(pod *corev1.Pod) bool {
		return lo.SomeBy(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Ephemeral != nil || v.PersistentVolumeClaim != nil && !unattached[pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName]
		})
	}
	if !lo.SomeBy(p.Pods, attaches) && !lo.SomeBy(p.Running, attaches) {
		return
	}
	known := lo.SliceToMap(p.CSINodes, func(n *storagev1.CSINode) (string, bool) { return n.Name, true })
	lacking := lo.Reject(p.Nodes, func(n *corev1.Node, _ int) bool {
		c := lifecycle.Ready(n)
		return known[n.Name] || c != nil && c.Status != corev1.ConditionTrue // drivers may not have registered yet
	})
	if len(lacking) == 0 {
		return
	}
	const unknown = "so how many volumes %s can attach is not known, and no limit is assumed; add the output of kubectl get csinodes -o json"
	if len(known) == 0 {
		found.warn("CSINodes", fmt.Sprintf("the input has none, "+unknown, "nodes"))
		return
	}
	var seen sighting
	for _, node := range lacking {
		seen.see(node.Name)
	}
	found.warn(seen.object, fmt.Sprintf("its CSINode is not in the input, "+unknown+"%s", "it", seen.others()))
}

// reportAutoscalers warns of workloads that their HorizontalPodAutoscalers will give more
// replicas than the input asks for. One that is scaled to none is left alone by them.
func reportAutoscalers(found *findings, o *objects) {
	wanted := map[workloadKey]int{}
	for _, w := range o.workloads {
		if w.job == nil {
			wanted[w.workloadKey] = w.wanted()
		}
	}
	slices.SortFunc(o.autoscalers, byName)
	var first, message string
	var workloads, pods int
	for _, a := range o.autoscalers {
		target := a.Spec.ScaleTargetRef
		planned := wanted[workloadKey{target.Kind, a.Namespace, target.Name}]
		least := int(lo.FromPtr(a.Spec.MinReplicas))
		if planned == 0 || least <= planned {
			continue
		}
		if workloads == 0 {
			first = a.Namespace + "/" + target.Name
			message = fmt.Sprintf("the HorizontalPodAutoscaler of this %s keeps at least %d replicas, and the input asks for %d: %d more will come that are not planned",
				target.Kind, least, planned, least-planned)
		}
		workloads, pods = workloads+1, pods+least-planned
	}
	if workloads > 1 {
		message += fmt.Sprintf(" (and %d more; %d such pods in all)", workloads-1, pods)
	}
	if workloads > 0 {
		found.warn(first, message)
	}
}

// reportQuotas warns of ResourceQuotas that the pods to be created would exceed. Quotas with scopes
// are ignored, because they are for a part of a namespace's pods.
func reportQuotas(found *findings, quotas []*corev1.ResourceQuota, p *scheduling.Problem) {
	pods := map[string][]*corev1.Pod{} // by namespace
	if len(quotas) > 0 {
		pods = lo.GroupBy(lo.Reject(slices.Concat(p.Pods, p.Running), func(pod *corev1.Pod, _ int) bool { return scheduling.IsVirtual(pod) }), func(pod *corev1.Pod) string { return pod.Namespace })
	}
	for _, quota := range quotas {
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
			found.warn(qualified(quota), "this ResourceQuota allows less than the planned pods of its namespace request in total, so that some will not be created: "+strings.Join(over, ", "))
		}
	}
}

// consumption is the use of a ResourceQuota by pods, by the names of its resources.
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
	requests := provisioning.PodRequests(pods)
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
	add("limits.", provisioning.PodRequests(limited))
	return sum
}

// Labels and annotations by which pods are scheduled in groups or admitted by a queue.
const (
	kueueQueue        = "kueue.x-k8s.io/queue-name"
	kueueGroup        = "kueue.x-k8s.io/pod-group-name"
	coschedulingGroup = "scheduling.x-k8s.io/pod-group"
	formerGroup       = "pod-group.scheduling.sigs.k8s.io/name"
	volcanoGroup      = "scheduling.k8s.io/group-name"
)

// reportSchedulers warns of pods that something else than kube-scheduler alone decides
// about.
func reportSchedulers(found *findings, workloads []*workload, workloadRefs sighting, p *scheduling.Problem) {
	told := map[string]*sighting{}
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		if name := pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
			count(told, "asks for the scheduler "+name+", and is planned by the rules of "+corev1.DefaultSchedulerName, qualified(pod))
		}
		if by := groupedBy(pod); by != "" {
			count(told, "belongs to a scheduling group ("+by+"): its pods are planned one by one, not all or none", qualified(pod))
		}
		if pod.Labels[kueueQueue] != "" {
			count(told, queued, qualified(pod))
		}
	}
	for _, w := range workloads {
		if job, ok := w.obj.(*batchv1.Job); ok && job.Labels[kueueQueue] != "" && !jobFinished(job) {
			count(told, queued, qualified(job))
		}
	}
	if workloadRefs.count > 0 {
		told["belongs to a scheduling group (spec.workloadRef): its pods are planned one by one, not all or none"] = &workloadRefs
	}
	for message, seen := range told {
		found.warn(seen.object, message+seen.others())
	}
}

const queued = "is admitted by Kueue (label " + kueueQueue + "), whose queues and quotas are not read"

// groupedBy is the label, annotation or API group that puts a pod into a scheduling group; "" if it
// is in none.
func groupedBy(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup != nil {
		return "spec.schedulingGroup"
	}
	for _, key := range []string{coschedulingGroup, formerGroup, kueueGroup} {
		if pod.Labels[key] != "" {
			return "label " + key
		}
	}
	if pod.Annotations[volcanoGroup] != "" {
		return "annotation " + volcanoGroup
	}
	return ""
}
