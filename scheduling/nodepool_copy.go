package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// DeepCopy returns a copy that shares no memory with p; nil for nil.
func (p *NodePool) DeepCopy() *NodePool {
	if p == nil {
		return nil
	}
	out := *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Limits = p.Spec.Limits.DeepCopy()
	out.Spec.Weight = clone(p.Spec.Weight)
	out.Spec.Replicas = clone(p.Spec.Replicas)

	out.Spec.Template.Metadata.Labels = maps.Clone(p.Spec.Template.Metadata.Labels)
	out.Spec.Template.Metadata.Annotations = maps.Clone(p.Spec.Template.Metadata.Annotations)
	t := &out.Spec.Template.Spec
	t.Requirements = cloneEach(t.Requirements, func(s *requirements.Selector) {
		s.Values, s.MinValues = slices.Clone(s.Values), clone(s.MinValues)
	})
	t.Taints = cloneEach(t.Taints, cloneTaint)
	t.StartupTaints = cloneEach(t.StartupTaints, cloneTaint)
	t.NodeClassRef = clone(t.NodeClassRef)
	t.ExpireAfter = t.ExpireAfter.deepCopy()
	t.TerminationGracePeriod = clone(t.TerminationGracePeriod)

	d := &out.Spec.Disruption
	d.ConsolidateAfter = d.ConsolidateAfter.deepCopy()
	d.Budgets = cloneEach(d.Budgets, func(b *Budget) {
		b.Schedule, b.Duration, b.Reasons = clone(b.Schedule), clone(b.Duration), slices.Clone(b.Reasons)
	})
	return &out
}

func (d *NillableDuration) deepCopy() *NillableDuration {
	if d == nil {
		return nil
	}
	return &NillableDuration{Duration: clone(d.Duration)}
}

func cloneTaint(t *corev1.Taint) { t.TimeAdded = t.TimeAdded.DeepCopy() }

// clone copies the value behind a pointer, for values without pointers inside.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// cloneEach copies a list and lets deep copy the rest of every entry.
func cloneEach[T any](list []T, deep func(*T)) []T {
	out := slices.Clone(list)
	for i := range out {
		deep(&out[i])
	}
	return out
}
