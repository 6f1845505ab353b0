package peer

import (
	corev1 "k8s.io/api/core/v1"
)

// Admitted is a copy of the pod as the API server stores it: containers that have a
// limit on a resource and no request for it request the limit. Planners other than
// Plimsoll expect pods in that form.
func Admitted(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	AdmitSpec(&out.Spec)
	return out
}

// AdmitSpec does to a pod's specification, in place, what [Admitted] does to a copy.
func AdmitSpec(spec *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, q := range r.Limits {
				if _, ok := r.Requests[name]; ok {
					continue
				}
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[name] = q.DeepCopy()
			}
		}
	}
}
