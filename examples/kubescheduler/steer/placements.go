package steer

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// LaunchLabel is the label by which the node of a launch is known. Its value is the
// launch's name, such as "default-1".
const LaunchLabel = "plimsoll-go.github.io/launch"

// Placements say where pods are to go: the pod as namespace/name, and the name of a
// node or of a launch. Pods that are not in the map go where kube-scheduler likes.
type Placements map[string]string

// FromPlan returns the placements of a plan: pods of launches go to the node with the
// launch's label, the others to the node that they were planned onto. Pods that the
// plan gives up on are not in it.
func FromPlan(plan *scheduling.Plan) Placements {
	p := Placements{}
	for i := range plan.Launches {
		for _, pod := range plan.Launches[i].Pods {
			p[pod] = plan.Launches[i].Name
		}
	}
	for i := range plan.Existing {
		for _, pod := range plan.Existing[i].Pods {
			p[pod] = plan.Existing[i].Node
		}
	}
	return p
}

// target returns where a pod is to go.
func (p Placements) target(pod *corev1.Pod) (string, bool) {
	t, ok := p[pod.Namespace+"/"+pod.Name]
	return t, ok
}

// reaches reports whether the node is what a placement means.
func reaches(target string, node *corev1.Node) bool {
	return node.Name == target || node.Labels[LaunchLabel] == target
}
