package schedulingtest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Resized gives the running pods of a cluster the statuses that kubelets write, and resizes some of the pods in place:
// down, up, beyond the node's resources, or for the pod as a whole. The pods are copies. A pod may use more than its
// node has.
func Resized(c disruption.Cluster, seed uint64) disruption.Cluster {
	r := dice.New(seed ^ 0x726573697a65)
	running := make([]*corev1.Pod, len(c.Running))
	for i, pod := range c.Running {
		if running[i] = pod; !r.OneIn(4) {
			running[i] = resized(r, pod.DeepCopy())
		}
	}
	c.Running = running
	return c
}

// resized writes a pod's status, and resizes half of the pods: many are about to become smaller, and still take their
// old resources.
func resized(r dice.Dice, pod *corev1.Pod) *corev1.Pod {
	s := &pod.Status
	scale := dice.Pick(r, 1, 1, 1, 1, 2, 2, 2, 3, 0.5, 0)
	if scale == 2 && !r.OneIn(4) {
		askFor(&pod.Spec, 1/scale)
	}
	for i := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, containerStatus(r, &pod.Spec.Containers[i], scale))
	}
	for i := range pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, containerStatus(r, &pod.Spec.InitContainers[i], scale))
	}
	if level := pod.Spec.Resources; level != nil && r.OneIn(2) {
		s.AllocatedResources = scaled(level.Requests, scale)
		s.Resources = &corev1.ResourceRequirements{Requests: scaled(level.Requests, dice.Pick(r, scale, 1))}
	}
	if scale != 1 {
		c := corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: dice.Pick(r, corev1.PodReasonInfeasible, corev1.PodReasonDeferred)}
		if r.OneIn(2) {
			c = corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue}
		}
		s.Conditions = append(s.Conditions, c)
	}
	return pod
}

// askFor makes a pod ask for so many times as much.
func askFor(spec *corev1.PodSpec, by float64) {
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			list[i].Resources.Requests = scaled(list[i].Resources.Requests, by)
		}
	}
	if spec.Resources != nil {
		spec.Resources.Requests = scaled(spec.Resources.Requests, by)
	}
}

// containerStatus returns the status of a container that has scale times its requests.
func containerStatus(r dice.Dice, c *corev1.Container, scale float64) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: c.Name, Ready: true}
	if r.OneIn(8) {
		return s // from before in-place resizes
	}
	s.Resources = &corev1.ResourceRequirements{Requests: scaled(c.Resources.Requests, scale)}
	if s.AllocatedResources = s.Resources.Requests; r.OneIn(4) {
		s.AllocatedResources = scaled(c.Resources.Requests, 1)
	}
	return s
}

// scaled is a list with so many times the CPU and the memory.
func scaled(list corev1.ResourceList, by float64) corev1.ResourceList {
	out := maps.Clone(list)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		q, ok := out[name]
		if !ok || by == 1 {
			continue
		}
		if name == corev1.ResourceCPU {
			q.SetMilli(int64(by * float64(q.MilliValue())))
		} else {
			q.Set(int64(by * float64(q.Value())))
		}
		out[name] = q
	}
	return out
}
