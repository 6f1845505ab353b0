package schedulingtest

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// WhereOption is an Option for each kind of object that has requirements: pods, NodePools, volumes
// and storage classes.
type WhereOption interface {
	PodOption
	NodePoolOption
	VolumeOption
	ClassOption
}

// Where adds requirements that must all hold. Several Where options of a pod are alternatives (the terms of its
// required node affinity), those of a NodePool must all hold. Of volumes and storage classes, which have values of
// labels only, they are alternatives.
func Where(exprs ...requirements.Selector) WhereOption {
	return either(
		on(func(p *corev1.Pod) {
			na := nodeAffinity(p)
			na.RequiredDuringSchedulingIgnoredDuringExecution = orTerm(na.RequiredDuringSchedulingIgnoredDuringExecution, exprs)
		}),
		on(func(p *scheduling.NodePool) {
			for _, e := range exprs {
				e.Values = slices.Clone(e.Values)
				p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, e)
			}
		}),
		on(func(v *corev1.PersistentVolume) {
			if v.Spec.NodeAffinity == nil {
				v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{}
			}
			v.Spec.NodeAffinity.Required = orTerm(v.Spec.NodeAffinity.Required, exprs)
		}),
		on(func(c *storagev1.StorageClass) {
			var t corev1.TopologySelectorTerm
			for _, e := range exprs {
				t.MatchLabelExpressions = append(t.MatchLabelExpressions, corev1.TopologySelectorLabelRequirement{Key: e.Key, Values: slices.Clone(e.Values)})
			}
			c.AllowedTopologies = append(c.AllowedTopologies, t)
		}),
	)
}

// orTerm adds an alternative to a selector.
func orTerm(s *corev1.NodeSelector, exprs []requirements.Selector) *corev1.NodeSelector {
	if s == nil {
		s = &corev1.NodeSelector{}
	}
	s.NodeSelectorTerms = append(s.NodeSelectorTerms, term(exprs))
	return s
}

// Prefer adds a preferred node-affinity term of the weight.
func Prefer(weight int32, exprs ...requirements.Selector) PodOption {
	return on(func(p *corev1.Pod) {
		na := nodeAffinity(p)
		na.PreferredDuringSchedulingIgnoredDuringExecution = append(na.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: term(exprs)})
	})
}

// Select adds an entry to the pod's node selector.
func Select(key, value string) PodOption {
	return on(func(p *corev1.Pod) {
		p.Spec.NodeSelector = put(p.Spec.NodeSelector, key, value)
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

// In asks for one of the values.
func In(key string, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
}

// NotIn asks for none of the values; a node without the label will do.
func NotIn(key string, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.NotIn, Values: values}
}

// Exists requires the label with any value.
func Exists(key string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.Exists}
}

// DoesNotExist asks for a node without the label.
func DoesNotExist(key string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.DoesNotExist}
}

// Gt asks for an integer above n.
func Gt(key string, n int64) requirements.Selector { return bound(key, requirements.Gt, n) }

// Lt asks for an integer below n.
func Lt(key string, n int64) requirements.Selector { return bound(key, requirements.Lt, n) }

// Gte asks for an integer of at least n. NodePools alone may ask for it.
func Gte(key string, n int64) requirements.Selector { return bound(key, requirements.Gte, n) }

// Lte asks for an integer of at most n. NodePools alone may ask for it.
func Lte(key string, n int64) requirements.Selector { return bound(key, requirements.Lte, n) }

// AtLeast asks that the instance types of every launch offer at least n values of
// the key. NodePools alone may ask for it.
func AtLeast(n int, s requirements.Selector) requirements.Selector {
	s.MinValues = &n
	return s
}

func bound(key string, op requirements.Operator, n int64) requirements.Selector {
	return requirements.Selector{Key: key, Operator: op, Values: []string{strconv.FormatInt(n, 10)}}
}

// term is the form in which pods write a conjunction. It drops minValues, which
// pods do not have.
func term(exprs []requirements.Selector) corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for _, e := range exprs {
		t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: e.Key, Operator: e.Operator, Values: slices.Clone(e.Values),
		})
	}
	return t
}
