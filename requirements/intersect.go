package requirements

import "slices"

// Intersect returns the requirement that holds where r and o both hold. The key is that of r, or
// that of o when r has none; keys that differ are the caller's mistake and are not noticed. The
// larger minValues wins, and stays even when fewer values are left, because only the launch, which
// chooses the values, can tell whether it is met.
func (r Requirement) Intersect(o Requirement) Requirement {
	out := Requirement{
		key:       r.key,
		listed:    r.listed || o.listed,
		present:   r.present || o.present,
		minValues: max(r.minValues, o.minValues),
	}
	if out.key == "" {
		out.key = o.key
	}
	switch {
	case r.listed:
		out.values = keep(r.values, o.has)
	case o.listed:
		out.values = keep(o.values, r.has)
	default:
		out.intersectRanges(&r, &o)
	}
	return out
}

// intersectRanges sets the bounds and exclusions of two complements.
func (r *Requirement) intersectRanges(a, b *Requirement) {
	r.numeric, r.lower, r.upper = combine(a, b)
	if r.numeric && r.lower > r.upper {
		*r = Requirement{key: r.key, listed: true, present: true, minValues: r.minValues}
		return
	}
	r.values = keep(union(a.values, b.values), r.within)
}

// combine returns the tighter of the bounds of two complements.
func combine(a, b *Requirement) (numeric bool, lower, upper int64) {
	switch {
	case a.numeric && b.numeric:
		return true, max(a.lower, b.lower), min(a.upper, b.upper)
	case a.numeric:
		return true, a.lower, a.upper
	default:
		return b.numeric, b.lower, b.upper
	}
}

// keep returns the values for which ok holds. It returns its argument when all
// of them stay: values are never written to, so requirements may share them.
func keep(values []string, ok func(string) bool) []string {
	first := slices.IndexFunc(values, func(v string) bool { return !ok(v) })
	if first < 0 {
		return values
	}
	var out []string
	out = append(out, values[:first]...)
	for _, v := range values[first+1:] {
		if ok(v) {
			out = append(out, v)
		}
	}
	return out
}

// union merges two sorted lists, without copying when one holds the other's values alone.
func union(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0 || slices.Equal(a, b):
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Overlaps reports whether a value satisfies both r and o, or a missing label does. It is exact:
// exclusions that leave no integer of the common range make it false. It allocates nothing.
func (r Requirement) Overlaps(o Requirement) bool { return r.overlaps(&o) }

func (r *Requirement) overlaps(o *Requirement) bool {
	if !r.present && !o.present {
		return true
	}
	switch {
	case r.listed && (!o.listed || len(r.values) <= len(o.values)):
		return anyOf(r.values, o)
	case o.listed:
		return anyOf(o.values, r)
	}
	numeric, lower, upper := combine(r, o)
	return !numeric || !covered(lower, upper, r.values, o.values)
}

// anyOf reports whether r has one of the values.
func anyOf(values []string, r *Requirement) bool {
	for _, v := range values {
		if r.has(v) {
			return true
		}
	}
	return false
}

// covered reports whether the range is empty once the plainly spelled integers
// of two sorted lists are taken out of it.
func covered(lower, upper int64, a, b []string) bool {
	if lower > upper {
		return true
	}
	span := uint64(upper) - uint64(lower) // one less than the integers in the range
	if span >= uint64(len(a)+len(b)) {
		return false
	}
	var taken uint64
	count := func(v string) {
		if n, ok := plainInt(v); ok && lower <= n && n <= upper {
			taken++
		}
	}
	for _, v := range a {
		count(v)
	}
	for _, v := range b {
		if _, both := slices.BinarySearch(a, v); !both {
			count(v)
		}
	}
	return taken > span
}
