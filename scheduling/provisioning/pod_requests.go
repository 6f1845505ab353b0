package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// PodRequests is what each pod takes up on a machine, in the order of the pods: per resource
// what its containers and sidecars request together, or what its hungriest init container
// needs if that is more, with its overhead, and one of "pods". Requests that are missing
// are filled from limits. Resources of which a pod asks for nothing are left out; no pod (nil)
// takes up nothing.
func PodRequests(pods []*corev1.Pod) []corev1.ResourceList {
	out := make([]corev1.ResourceList, len(pods))
	t := podspec.NewResourceTable()
	r := podspec.RequestReader{Table: t}
	for i, pod := range pods {
		if pod != nil {
			out[i] = t.List(r.Read(&pod.Spec))
		}
	}
	return out
}
