package prove

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
