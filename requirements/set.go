package requirements

import (
	"cmp"
	"iter"
	"slices"
)

// Set is a conjunction of requirements, at most one for each key. It is an
// immutable value; the zero value allows everything. Keys that it does not
// hold are free.
type Set struct {
	reqs []Requirement // sorted by key, keys differ
}

// NewSet returns the conjunction of the requirements; two of the same key intersect.
func NewSet(reqs ...Requirement) Set { return Set{}.With(reqs...) }

// FromLabels returns the set that asks for exactly these labels, as a nodeSelector does. Alias keys
// count as the stable key, so that a map which has both with different values cannot be satisfied.
// One exception: an alias without a value, as storage drivers set on nodes outside of every
// zone, is ignored when the stable key is there too.
func FromLabels(labels map[string]string) Set {
	reqs := make([]Requirement, 0, len(labels))
	for key, value := range labels {
		stable := NormalizeKey(key)
		if value == "" && stable != key {
			if _, both := labels[stable]; both {
				continue
			}
		}
		reqs = append(reqs, build(key, In, []string{value}))
	}
	return NewSet(reqs...)
}

func compareKey(r Requirement, key string) int { return cmp.Compare(r.key, key) }

// find returns the requirement of key, nil when there is none.
func (s Set) find(key string) *Requirement {
	if i, found := slices.BinarySearchFunc(s.reqs, key, compareKey); found {
		return &s.reqs[i]
	}
	return nil
}

// Keys returns the keys, sorted.
func (s Set) Keys() []string {
	keys := make([]string, len(s.reqs))
	for i := range s.reqs {
		keys[i] = s.reqs[i].key
	}
	return keys
}

// Len returns the number of keys.
func (s Set) Len() int { return len(s.reqs) }

// Get returns the requirement of key. A key that s does not hold yields one
// that allows every value and a missing label.
func (s Set) Get(key string) Requirement {
	key = NormalizeKey(key)
	if r := s.find(key); r != nil {
		return *r
	}
	return Requirement{key: key}
}

// Has reports whether s holds a requirement of key.
func (s Set) Has(key string) bool { return s.find(NormalizeKey(key)) != nil }

// With returns s narrowed by more requirements. The receiver does not change.
func (s Set) With(reqs ...Requirement) Set {
	switch len(reqs) {
	case 0:
		return s
	case 1:
		return s.Intersect(Set{reqs: reqs})
	}
	sorted := slices.Clone(reqs)
	slices.SortStableFunc(sorted, func(a, b Requirement) int { return cmp.Compare(a.key, b.key) })
	merged := sorted[:0] // never longer than the part of sorted that has been read
	for _, r := range sorted {
		if n := len(merged); n > 0 && merged[n-1].key == r.key {
			merged[n-1] = merged[n-1].Intersect(r)
			continue
		}
		merged = append(merged, r)
	}
	if len(s.reqs) == 0 {
		return Set{reqs: merged}
	}
	return s.Intersect(Set{reqs: merged})
}

// Without returns s without the requirements of keys. The receiver does not change.
func (s Set) Without(keys ...string) Set {
	drop := NewKeySet(keys...)
	if !slices.ContainsFunc(s.reqs, func(r Requirement) bool { return drop.Has(r.key) }) {
		return s
	}
	out := make([]Requirement, 0, len(s.reqs))
	for i := range s.reqs {
		if !drop.Has(s.reqs[i].key) {
			out = append(out, s.reqs[i])
		}
	}
	return Set{reqs: out}
}

// Intersect returns the set that holds where s and o both hold.
func (s Set) Intersect(o Set) Set {
	switch {
	case len(o.reqs) == 0:
		return s
	case len(s.reqs) == 0:
		return Set{reqs: slices.Clone(o.reqs)}
	}
	a, b := s.reqs, o.reqs
	out := make([]Requirement, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].key, b[0].key); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0].Intersect(b[0])), a[1:], b[1:]
		}
	}
	return Set{reqs: append(append(out, a...), b...)}
}

// Matches reports whether a node with these labels satisfies s, as
// kube-scheduler decides it: a missing label satisfies [NotIn] and
// [DoesNotExist] only. Where a stable label is missing its aliases count.
// Matches allocates nothing.
func (s Set) Matches(labels map[string]string) bool {
	for i := range s.reqs {
		r := &s.reqs[i]
		value, ok := lookup(labels, r.key)
		if ok && !r.has(value) || !ok && r.present {
			return false
		}
	}
	return true
}

// lookup finds the value of a stable key in the labels of a node.
func lookup(labels map[string]string, key string) (string, bool) {
	if value, ok := labels[key]; ok {
		return value, true
	}
	for _, alias := range aliases(key) {
		if value, ok := labels[alias]; ok {
			return normalizeValue(alias, value), true
		}
	}
	return "", false
}

// Impossible reports whether no node can satisfy s: one of its requirements is
// satisfied by neither a value nor a missing label.
func (s Set) Impossible() bool { return slices.ContainsFunc(s.reqs, Requirement.Impossible) }

// All yields the requirements in the order of their keys.
func (s Set) All() iter.Seq[Requirement] { return slices.Values(s.reqs) }

// Equal reports whether s and o hold the same requirements.
func (s Set) Equal(o Set) bool { return slices.EqualFunc(s.reqs, o.reqs, Requirement.Equal) }
