package manifest

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// objects are the objects of an input, each in the list of its kind.
type objects struct {
	// problem holds the objects that become part of it unchanged; pods and the pods of workloads
	// are added when the whole input was read, because they depend on other objects.
	problem         scheduling.Problem
	pods            []*corev1.Pod
	workloads       []*workload
	claims          []*NodeClaim
	overlays        []*instancetypes.NodeOverlay
	classes         map[scheduling.NodeClassRef]nodeClass
	limitRanges     []*corev1.LimitRange
	priorityClasses []*schedulingv1.PriorityClass
	runtimeClasses  []*nodev1.RuntimeClass
	budgets         []*policyv1.PodDisruptionBudget
	quotas          []*corev1.ResourceQuota
	computeClasses  map[string][]string // names of their NodePools
	classParts      map[string]ComputeClassPart
	autoscalers     []*autoscaler
	buffers         []*capacityBuffer
	templates       []*corev1.PodTemplate
}

// sortWorkloads puts workloads that name each of their pods (StatefulSets, indexed Jobs) first, so
// that the names of other pods avoid theirs, and each kind in the order of names, because the pods
// must not depend on the order of the input.
func (o *objects) sortWorkloads() {
	kinds := []string{"StatefulSet", "Deployment", "ReplicaSet", "ReplicationController", "Job", "CronJob"}
	slices.SortFunc(o.workloads, func(a, b *workload) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)), byName(a.obj, b.obj))
	})
}

// controllers are the owners of pods that have selectors.
func (o *objects) controllers() (out scheduling.Owners) {
	for _, w := range o.workloads {
		switch obj := w.obj.(type) {
		case *appsv1.ReplicaSet:
			out.ReplicaSets = append(out.ReplicaSets, obj)
		case *appsv1.StatefulSet:
			out.StatefulSets = append(out.StatefulSets, obj)
		case *corev1.ReplicationController:
			out.ReplicationControllers = append(out.ReplicationControllers, obj)
		}
	}
	return out
}
