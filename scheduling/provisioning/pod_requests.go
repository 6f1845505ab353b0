package provisioning

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// PodRequests returns the resources that each pod takes on a node, in the order of the pods: per resource the sum over
// its containers and sidecars, or the largest need of an init container if that is more, or the request of the pod as a
// whole if it states one, with its overhead, and one of "pods". Missing requests have the value of the limits.
// Resources that a pod does not request are left out; a nil pod takes none.
//
// A running pod (spec.nodeName) takes the largest of its requests and of the resources that its status states as
// allocated and in use, e.g. while it is being resized in place; where the node has refused a resize for good, the
// request does not count. The rule is that of kube-scheduler (k8s.io/component-helpers/resource, PodRequests with
// UseStatusResources).
func PodRequests(pods []*corev1.Pod) []corev1.ResourceList {
	out := make([]corev1.ResourceList, len(pods))
	t := podspec.NewResourceTable()
	r := podspec.RequestReader{Table: t}
	for i, pod := range pods {
		switch {
		case pod == nil:
		case pod.Spec.NodeName == "":
			out[i] = t.List(r.Read(&pod.Spec))
		default:
			out[i] = t.List(r.ReadRunning(pod))
		}
	}
	return out
}
