package reading

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (r *Reader) affinity(a *corev1.Affinity) {
	if a == nil {
		r.word(1)
		return
	}
	if n := a.NodeAffinity; n != nil {
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			for i := range n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				r.nodeTerm(&n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i])
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			p := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			r.word(uint64(p.Weight))
			r.nodeTerm(&p.Preference)
		}
	}
	if p := a.PodAffinity; p != nil {
		r.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		r.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (r *Reader) nodeTerm(t *corev1.NodeSelectorTerm) {
	for _, list := range [...][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		r.word(uint64(len(list)))
		for i := range list {
			r.strings(list[i].Key, string(list[i].Operator))
			r.strings(list[i].Values...)
		}
	}
}

func (r *Reader) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	r.word(uint64(len(required)))
	for i := range required {
		r.podTerm(&required[i])
	}
	for i := range preferred {
		r.word(uint64(preferred[i].Weight))
		r.podTerm(&preferred[i].PodAffinityTerm)
	}
}

func (r *Reader) podTerm(t *corev1.PodAffinityTerm) {
	r.strings(t.TopologyKey)
	r.strings(t.Namespaces...)
	r.selector(t.LabelSelector)
	r.selector(t.NamespaceSelector)
	r.word(uint64(len(t.MatchLabelKeys)))
	r.strings(t.MatchLabelKeys...)
	r.strings(t.MismatchLabelKeys...)
}

func (r *Reader) spread(c *corev1.TopologySpreadConstraint) {
	r.word(uint64(c.MaxSkew))
	r.strings(c.TopologyKey, string(c.WhenUnsatisfiable))
	r.selector(c.LabelSelector)
	number(r, c.MinDomains)
	text(r, c.NodeAffinityPolicy)
	text(r, c.NodeTaintsPolicy)
	r.strings(c.MatchLabelKeys...)
}

func (r *Reader) selector(s *metav1.LabelSelector) {
	if s == nil {
		r.word(1)
		return
	}
	r.labels(s.MatchLabels)
	for i := range s.MatchExpressions {
		r.strings(s.MatchExpressions[i].Key, string(s.MatchExpressions[i].Operator))
		r.strings(s.MatchExpressions[i].Values...)
	}
}
