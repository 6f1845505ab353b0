package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spreadOf returns the spread constraints of a pod: its own, or if it states none at
// all, the defaults of the cluster with a selector that is deduced.
func (w *world) spreadOf(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || len(w.problem.DefaultSpread) == 0 {
		return pod.Spec.TopologySpreadConstraints
	}
	key := fmt.Sprintf("%q %s %v", namespaceOf(pod), labelText(pod.Labels), metav1.GetControllerOfNoCopy(pod))
	s := w.deduced[key]
	if s == nil {
		s = w.deducedSelector(pod)
		w.deduced[key] = s
	}
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return nil // nobody knows who belongs together
	}
	constraints := slices.Clone(w.problem.DefaultSpread)
	for i := range constraints {
		constraints[i].LabelSelector = s
	}
	return constraints
}

// deducedSelector says which pods belong with this one: those that the same Services
// of its namespace select and that the selector of its controller selects. Labels
// that a ReplicationController asks for replace those of the Services; what
// ReplicaSets and StatefulSets ask for comes on top of them.
func (w *world) deducedSelector(pod *corev1.Pod) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	space := namespaceOf(pod)
	for _, service := range w.problem.Services {
		if service != nil && service.Spec.Selector != nil && inSpace(service, space) && allOn(sameLabels(service.Spec.Selector), pod.Labels) {
			maps.Copy(s.MatchLabels, service.Spec.Selector)
		}
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return s
	}
	owners := &w.problem.Owners
	switch ref.APIVersion + " " + ref.Kind {
	case "v1 ReplicationController":
		for _, o := range owners.ReplicationControllers {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				maps.Copy(s.MatchLabels, o.Spec.Selector)
			}
		}
	case "apps/v1 ReplicaSet":
		for _, o := range owners.ReplicaSets {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				addSelector(s, o.Spec.Selector)
			}
		}
	case "apps/v1 StatefulSet":
		for _, o := range owners.StatefulSets {
			if o != nil && o.Name == ref.Name && inSpace(o, space) {
				addSelector(s, o.Spec.Selector)
			}
		}
	}
	return s
}

func inSpace(o metav1.Object, space string) bool {
	return cmp.Or(o.GetNamespace(), metav1.NamespaceDefault) == space
}

// addSelector adds what another selector asks for; one that is missing adds nothing.
func addSelector(s, more *metav1.LabelSelector) {
	if more == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(more.MatchLabels)) {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{more.MatchLabels[key]},
		})
	}
	s.MatchExpressions = append(s.MatchExpressions, more.MatchExpressions...)
}
