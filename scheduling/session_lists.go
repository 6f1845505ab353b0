package scheduling

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (k objectKey) compare(o objectKey) int {
	return cmp.Or(strings.Compare(k.namespace, o.namespace), strings.Compare(k.name, o.name))
}

// keysOf are the keys of objects of a namespace.
func keysOf(names []types.NamespacedName) []objectKey {
	out := make([]objectKey, len(names))
	for i, n := range names {
		out[i] = keyOf(n)
	}
	return out
}

// keyOf is the key of an object of a namespace.
func keyOf(n types.NamespacedName) objectKey { return objectKey{orDefault(n.Namespace), n.Name} }

// plainKeys are the keys of objects that have no namespace.
func plainKeys(names []string) []objectKey {
	out := make([]objectKey, len(names))
	for i, n := range names {
		out[i] = objectKey{name: n}
	}
	return out
}

// change is what becomes of the objects of one kind.
type change[T metav1.Object] struct {
	list  string // as faults call it
	key   func(T) objectKey
	put   []T
	taken []objectKey
}

// inNamespace and anywhere are the keys of objects that have a namespace, or have none.
func inNamespace[T metav1.Object](o T) objectKey {
	return objectKey{orDefault(o.GetNamespace()), o.GetName()}
}
func anywhere[T metav1.Object](o T) objectKey { return objectKey{name: o.GetName()} }

// faults reports names that are removed though they are not there, twice, or while an
// object of that name comes. have tells which are there.
func (x *change[T]) faults(c *checker, have func(objectKey) bool) {
	if len(x.taken) == 0 {
		return
	}
	coming := make(map[objectKey]bool, len(x.put))
	for _, o := range x.put {
		coming[x.key(o)] = true
	}
	seen := make(map[objectKey]bool, len(x.taken))
	for _, k := range x.taken {
		c.at = position{list: "removed." + x.list, namespace: k.namespace, name: k.name}
		switch {
		case seen[k]:
			c.add("", "is removed more than once", "")
		case coming[k]:
			c.add("", "is removed and there at once", "")
		case !have(k):
			c.add("", "is not there", "")
		}
		seen[k] = true
	}
}

// merged returns a sorted list in which the change has been made. The old one stays as
// it is.
func (x *change[T]) merged(have []T) []T {
	if len(x.put) == 0 && len(x.taken) == 0 {
		return have
	}
	put := slices.SortedFunc(slices.Values(x.put), func(a, b T) int { return x.key(a).compare(x.key(b)) })
	taken := slices.SortedFunc(slices.Values(x.taken), objectKey.compare)
	out := make([]T, 0, len(have)+len(put))
	for len(put) > 0 || len(taken) > 0 {
		next, comes := objectKey{}, len(put) > 0
		if comes {
			next = x.key(put[0])
		}
		if len(taken) > 0 && (!comes || taken[0].compare(next) < 0) {
			next, comes, taken = taken[0], false, taken[1:]
		}
		at, found := x.find(have, next)
		out = append(out, have[:at]...)
		if found {
			at++
		}
		have = have[at:]
		if comes {
			out, put = append(out, put[0]), put[1:]
		}
	}
	return append(out, have...)
}

// find returns the place of a name in a sorted list, or where it would be.
func (x *change[T]) find(have []T, key objectKey) (int, bool) {
	return slices.BinarySearchFunc(have, key, func(o T, key objectKey) int { return x.key(o).compare(key) })
}

// apply checks the change against a list and returns the new one. It is to be used only
// where there was no fault.
func apply[T metav1.Object](c *checker, list string, key func(T) objectKey, have *[]T, put []T, taken []objectKey) {
	x := change[T]{list: list, key: key, put: put, taken: taken}
	old := *have
	x.faults(c, func(k objectKey) bool { _, ok := x.find(old, k); return ok })
	*have = x.merged(old)
}
