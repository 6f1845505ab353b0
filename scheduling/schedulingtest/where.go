package schedulingtest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// WhereOption is a conjunction of requirements of a pod, a NodePool, a volume or a
// storage class.
type WhereOption struct{ exprs []requirements.Selector }

// Where asks for all of the requirements. A pod with several Where options asks
// for any one of them (they are the terms of its required node affinity); a
// NodePool asks for all. Volumes and storage classes offer themselves where any one of
// their Where options holds.
func Where(exprs ...requirements.Selector) WhereOption { return WhereOption{exprs} }

func (w WhereOption) applyPod(p *corev1.Pod) {
	na := nodeAffinity(p)
	if na.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		na.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := na.RequiredDuringSchedulingIgnoredDuringExecution
	required.NodeSelectorTerms = append(required.NodeSelectorTerms, term(w.exprs))
}

func (w WhereOption) applyNodePool(p *scheduling.NodePool) {
	s := &p.Spec.Template.Spec
	for _, e := range w.exprs {
		e.Values = slices.Clone(e.Values)
		s.Requirements = append(s.Requirements, e)
	}
}

// applyVolume makes the conjunction a term of the volume's node affinity.
func (w WhereOption) applyVolume(v *corev1.PersistentVolume) {
	if v.Spec.NodeAffinity == nil {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	}
	required := v.Spec.NodeAffinity.Required
	required.NodeSelectorTerms = append(required.NodeSelectorTerms, term(w.exprs))
}

// applyClass makes the conjunction an allowed topology of the class, which knows
// values only.
func (w WhereOption) applyClass(c *storagev1.StorageClass) {
	var t corev1.TopologySelectorTerm
	for _, e := range w.exprs {
		t.MatchLabelExpressions = append(t.MatchLabelExpressions, corev1.TopologySelectorLabelRequirement{
			Key: e.Key, Values: slices.Clone(e.Values),
		})
	}
	c.AllowedTopologies = append(c.AllowedTopologies, t)
}

// Prefer adds a preferred node-affinity term of the weight.
func Prefer(weight int32, exprs ...requirements.Selector) PodOption {
	return podFunc(func(p *corev1.Pod) {
		na := nodeAffinity(p)
		na.PreferredDuringSchedulingIgnoredDuringExecution = append(na.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: term(exprs)})
	})
}

// Select adds an entry to the pod's node selector.
func Select(key, value string) PodOption {
	return podFunc(func(p *corev1.Pod) {
		p.Spec.NodeSelector = LabelOption{key, value}.into(p.Spec.NodeSelector)
	})
}

func nodeAffinity(p *corev1.Pod) *corev1.NodeAffinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	if p.Spec.Affinity.NodeAffinity == nil {
		p.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return p.Spec.Affinity.NodeAffinity
}
