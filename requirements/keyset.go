package requirements

import "slices"

// KeySet is an immutable set of label keys; the zero value is empty.
type KeySet struct{ keys []string }

// NewKeySet returns the set of the keys, each in its stable form.
func NewKeySet(keys ...string) KeySet { return KeySet{}.With(keys...) }

// Has reports whether key, or the stable key that it stands for, is in the set.
func (s KeySet) Has(key string) bool {
	_, found := slices.BinarySearch(s.keys, NormalizeKey(key))
	return found
}

// With returns a set that also holds keys.
func (s KeySet) With(keys ...string) KeySet {
	out := slices.Clone(s.keys)
	for _, k := range keys {
		out = append(out, NormalizeKey(k))
	}
	slices.Sort(out)
	return KeySet{keys: slices.Compact(out)}
}

// Keys returns the keys, sorted, in a slice of the caller's own.
func (s KeySet) Keys() []string { return slices.Clone(s.keys) }

// Len returns the number of keys.
func (s KeySet) Len() int { return len(s.keys) }
