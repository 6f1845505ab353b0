package provisioning

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

func compare(k, o types.NamespacedName) int {
	return cmp.Or(strings.Compare(k.Namespace, o.Namespace), strings.Compare(k.Name, o.Name))
}

// keysOf are the keys of objects of a namespace.
func keysOf(names []types.NamespacedName) []types.NamespacedName {
	out := make([]types.NamespacedName, len(names))
	for i, n := range names {
		out[i] = podspec.KeyOf(n)
	}
	return out
}

// plainKeys are the keys of objects that have no namespace.
func plainKeys(names []string) []types.NamespacedName {
	out := make([]types.NamespacedName, len(names))
	for i, n := range names {
		out[i] = types.NamespacedName{Name: n}
	}
	return out
}

// change is the additions and removals of objects of one kind.
type change[T metav1.Object] struct {
	list  string // as faults call it
	key   func(T) types.NamespacedName
	put   []T
	taken []types.NamespacedName
}

// inNamespace and anywhere are the keys of objects that have a namespace, or have none.
func inNamespace[T metav1.Object](o T) types.NamespacedName {
	return types.NamespacedName{Namespace: podspec.OrDefault(o.GetNamespace()), Name: o.GetName()}
}

func anywhere[T metav1.Object](o T) types.NamespacedName {
	return types.NamespacedName{Name: o.GetName()}
}

// faults reports removals of names that have no object, that are removed twice, or that get a new object in the same
// change. have reports whether a name has an object.
func (x *change[T]) faults(c *validate.Checker, have func(types.NamespacedName) bool) {
	if len(x.taken) == 0 {
		return
	}
	coming := make(map[types.NamespacedName]bool, len(x.put))
	for _, o := range x.put {
		coming[x.key(o)] = true
	}
	seen := make(map[types.NamespacedName]bool, len(x.taken))
	for _, k := range x.taken {
		c.MoveTo(validate.Position{List: "removed." + x.list, Namespace: k.Namespace, Name: k.Name})
		switch {
		case seen[k]:
			c.Faults.Add("", "is removed more than once", "")
		case coming[k]:
			c.Faults.Add("", "is removed and there at once", "")
		case !have(k):
			c.Faults.Add("", "is not there", "")
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
	put := slices.SortedFunc(slices.Values(x.put), func(a, b T) int { return compare(x.key(a), x.key(b)) })
	taken := slices.SortedFunc(slices.Values(x.taken), compare)
	out := make([]T, 0, len(have)+len(put))
	for len(put) > 0 || len(taken) > 0 {
		next, comes := types.NamespacedName{}, len(put) > 0
		if comes {
			next = x.key(put[0])
		}
		if len(taken) > 0 && (!comes || compare(taken[0], next) < 0) {
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
func (x *change[T]) find(have []T, key types.NamespacedName) (int, bool) {
	return slices.BinarySearchFunc(have, key, func(o T, key types.NamespacedName) int { return compare(x.key(o), key) })
}

// apply checks the change against a list and returns the new one. It is to be used only
// where there was no fault.
func apply[T metav1.Object](c *validate.Checker, list string, key func(T) types.NamespacedName, have *[]T, put []T, taken []types.NamespacedName) {
	x := change[T]{list: list, key: key, put: put, taken: taken}
	old := *have
	x.faults(c, func(k types.NamespacedName) bool { _, ok := x.find(old, k); return ok })
	*have = x.merged(old)
}
