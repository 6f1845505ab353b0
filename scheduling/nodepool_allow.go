package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Allow changes the pool's requirements so that they admit a value of a label, and reports whether
// one of them had ruled it out: lists gain the value, and other requirements that exclude it are
// removed. The labels of the template stay. The error names the fault of the key or the value.
func (p *NodePool) Allow(key, value string) (changed bool, err error) {
	if err := (requirements.Selector{Key: key, Operator: requirements.In, Values: []string{value}}).Validate(); err != nil {
		return false, err
	}
	spec := &p.Spec.Template.Spec
	var kept []requirements.Selector
	for _, s := range spec.Requirements {
		r, err := s.Requirement()
		if err != nil || r.Key() != requirements.NormalizeKey(key) || r.Has(value) {
			kept = append(kept, s)
			continue
		}
		if changed = true; s.Operator == requirements.In {
			s.Values = append(slices.Clone(s.Values), value)
			kept = append(kept, s)
		}
	}
	spec.Requirements = kept
	return changed, nil
}
