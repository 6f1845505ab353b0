package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

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
func (c *collector) reportSchedulers(p *scheduling.Problem) {
	told := map[string]*sighting{}
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		if name := pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
			count(told, "asks for the scheduler "+name+", and is planned by the rules of "+corev1.DefaultSchedulerName, qualified(pod), "")
		}
		if by := groupedBy(pod); by != "" {
			count(told, "belongs to a scheduling group ("+by+"): its pods are planned one by one, not all or none", qualified(pod), "")
		}
		if pod.Labels[kueueQueue] != "" {
			count(told, queued, qualified(pod), "")
		}
	}
	for _, f := range c.jobs {
		if f.obj.Labels[kueueQueue] != "" && !jobFinished(f.obj) {
			count(told, queued, qualified(f.obj), "")
		}
	}
	if c.workloadRefs.count > 0 {
		told["belongs to a scheduling group (spec.workloadRef): its pods are planned one by one, not all or none"] = &c.workloadRefs
	}
	for message, seen := range told {
		c.warn(seen.object, message+others(seen.count))
	}
}

const queued = "is admitted by Kueue (label " + kueueQueue + "), whose queues and quotas are not read"

// groupedBy says what puts a pod into a scheduling group; "" if nothing does.
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
