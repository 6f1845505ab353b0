package disruption

import (
	"cmp"
	"context"
	"slices"
)

// consolidate looks for nodes whose pods cost less elsewhere, one node at a time, the
// dearest for its disruption first, until no node can go.
func consolidate(ctx context.Context, f *frame, s *state, emit func(*Step) bool) (*findings, error) {
	found := &findings{rejected: map[string]*Rejected{}, causes: map[string][]Cause{}}
	for again := true; again; {
		again = false
		may, _ := f.candidates(Underutilized)
		slices.SortStableFunc(may, func(a, b *subject) int {
			return cmp.Compare(float64(b.price)/b.cost, float64(a.price)/a.cost)
		})
		for _, x := range may {
			if x.gone || x.received || x.fresh || f.hopeless(x) != nil {
				continue
			}
			if ctx.Err() != nil {
				found.late = true
				return found, nil
			}
			o, err := s.drain(ctx, []string{x.name})
			if err != nil {
				return found, err
			}
			step, cause := f.admit(Underutilized, o)
			if cause != nil {
				found.causes[x.name] = []Cause{*cause}
				continue
			}
			if err := s.take(step); err != nil {
				return found, err
			}
			again = true
			if !emit(step) {
				return found, nil
			}
		}
	}
	return found, nil
}
