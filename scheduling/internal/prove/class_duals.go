package prove

import "github.com/plimsoll-go/plimsoll/scheduling/internal/instance"

// ClassDuals is the dual of a pod of each planned class in the last bound, in nano-USD per hour; nil where the last
// bound has no duals by class.
func (p *Proofs) ClassDuals() []float64 {
	k := p.last
	if k == nil || k.prover == nil || len(k.assigned.Duals) == 0 {
		return nil
	}
	out := make([]float64, len(p.problem.Planned))
	duals := k.assigned.ClassDuals()
	for i, ids := range k.prover.classes {
		for _, id := range ids {
			out[id] = duals[i]
		}
	}
	return out
}

// Patterns is the pods on machines that the last bound has found to have nearly the value of their price by its duals, as
// portions of the first of the classes that the bound counts as one; nil where it has found none.
func (p *Proofs) Patterns() (out [][]instance.Member) {
	k := p.last
	if k == nil || k.prover == nil {
		return nil
	}
	for _, items := range k.assigned.Patterns {
		var portions []instance.Member
		for _, it := range items {
			portions = append(portions, instance.Member{Class: int(k.prover.classes[it.Class][0]), N: it.N})
		}
		out = append(out, portions)
	}
	return out
}
