package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resourceTable numbers the resources that pods ask for. What nobody asks for
// takes no part in the decision.
type resourceTable struct {
	names []corev1.ResourceName
	index map[corev1.ResourceName]int
	asked []bool // by number, whether anybody asked for it
}

func newResourceTable() *resourceTable {
	t := &resourceTable{index: map[corev1.ResourceName]int{}}
	t.number(corev1.ResourcePods)
	return t
}

// number returns the number of a resource, a new one if need be.
func (t *resourceTable) number(name corev1.ResourceName) int {
	if i, ok := t.index[name]; ok {
		t.asked[i] = true
		return i
	}
	i := len(t.names)
	t.names = append(t.names, name)
	t.asked = append(t.asked, true)
	t.index[name] = i
	return i
}

// clone returns a table that can grow without changing t, and in which nobody has asked
// for anything yet but a place.
func (t *resourceTable) clone() *resourceTable {
	c := &resourceTable{names: slices.Clone(t.names), index: maps.Clone(t.index), asked: make([]bool, len(t.names))}
	c.number(corev1.ResourcePods)
	return c
}

// sort drops what nobody asks for, renumbers the rest in name order and returns where
// each old number went, -1 for nowhere, so that nothing depends on the order in which
// they were met.
func (t *resourceTable) sort() []int {
	old, asked := t.names, t.asked
	t.names, t.asked = nil, nil
	for i, name := range old {
		if asked[i] {
			t.names = append(t.names, name)
			t.asked = append(t.asked, true)
		}
	}
	slices.Sort(t.names)
	clear(t.index)
	for i, name := range t.names {
		t.index[name] = i
	}
	moved := make([]int, len(old))
	for i, name := range old {
		moved[i] = -1
		if asked[i] {
			moved[i] = t.index[name]
		}
	}
	return moved
}

// renumbered is a vector after sort.
func (t *resourceTable) renumbered(v []int64, moved []int) []int64 {
	out := make([]int64, len(t.names))
	for i, n := range v {
		if moved[i] >= 0 {
			out[moved[i]] = n
		}
	}
	return out
}

// amount is a quantity in base units: millicores for CPU, rounded up as
// kube-scheduler rounds, whole units (bytes, devices) for everything else.
func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// quantity is the inverse of amount.
func quantity(name corev1.ResourceName, n int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// vector reads the numbered resources out of a list of what a machine has. Parts of
// a unit do not count: they hold nothing.
func (t *resourceTable) vector(list corev1.ResourceList) []int64 {
	v := make([]int64, len(t.names))
	for i, name := range t.names {
		q, ok := list[name]
		if !ok {
			continue
		}
		v[i] = amount(name, q)
		if whole := quantity(name, v[i]); v[i] > 0 && whole.Cmp(q) > 0 {
			v[i]--
		}
	}
	return v
}

// list is the inverse of vector; zeros are left out, and so are attachments of volumes,
// which nobody requests by that name.
func (t *resourceTable) list(v []int64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i, n := range v {
		if n != 0 && attachDriver(t.names[i]) == "" {
			out[t.names[i]] = quantity(t.names[i], n)
		}
	}
	return out
}
