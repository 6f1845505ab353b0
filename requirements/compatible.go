package requirements

import "slices"

// Compatible reports whether something that is constrained by s can serve what
// o asks for: nil, or every [*Conflict], joined when there are several. It has
// a direction. A key of o that s does not define is a conflict, unless a
// missing label satisfies o's requirement or the key is in allowUndefined;
// keys of s that o does not have are free. Keys of both must overlap.
//
// Pass [WellKnown] for what is yet to be bought, whose labels follow from the
// purchase, and nothing for running nodes, whose labels are all known.
func (s Set) Compatible(o Set, allowUndefined ...KeySet) error {
	var conflicts []error
	for i := range o.reqs {
		want := &o.reqs[i]
		have := s.find(want.key)
		switch {
		case have != nil:
			if !have.overlaps(want) {
				conflicts = append(conflicts, &Conflict{Key: want.key, Left: *have, Right: *want})
			}
		case want.Impossible():
			conflicts = append(conflicts, &Conflict{Key: want.key, Left: Requirement{key: want.key}, Right: *want})
		case want.present && !slices.ContainsFunc(allowUndefined, func(ks KeySet) bool { return ks.Has(want.key) }):
			conflicts = append(conflicts, &Conflict{
				Key: want.key, Left: Requirement{key: want.key}, Right: *want, Undefined: true, receiver: s,
			})
		}
	}
	return joinErrors(conflicts)
}

// Overlaps reports whether one node could satisfy s and o, as far as the keys of
// both go: nil, or every [*Conflict], joined when there are several. It is
// symmetric, and keys that only one side has do not count.
func (s Set) Overlaps(o Set) error {
	var conflicts []error
	a, b := s.reqs, o.reqs
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].key < b[0].key:
			a = a[1:]
		case a[0].key > b[0].key:
			b = b[1:]
		default:
			if !a[0].overlaps(&b[0]) {
				conflicts = append(conflicts, &Conflict{Key: a[0].key, Left: a[0], Right: b[0]})
			}
			a, b = a[1:], b[1:]
		}
	}
	return joinErrors(conflicts)
}
