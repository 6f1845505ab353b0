package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ResourceTable numbers the resources that pods ask for. What nobody asks for
// takes no part in the decision.
type ResourceTable struct {
	Names []corev1.ResourceName
	Index map[corev1.ResourceName]int
	Asked []bool // by number, whether anybody asked for it
}

// NewResourceTable returns a table of "pods" alone, which every pod takes one of.
func NewResourceTable() *ResourceTable {
	t := &ResourceTable{Index: map[corev1.ResourceName]int{}}
	t.Number(corev1.ResourcePods)
	return t
}

// Number returns the number of a resource, a new one if need be.
func (t *ResourceTable) Number(name corev1.ResourceName) int {
	if i, ok := t.Index[name]; ok {
		t.Asked[i] = true
		return i
	}
	i := len(t.Names)
	t.Names = append(t.Names, name)
	t.Asked = append(t.Asked, true)
	t.Index[name] = i
	return i
}

// Clone returns a table that can grow without changing t, and in which nobody has asked
// for anything yet but a place.
func (t *ResourceTable) Clone() *ResourceTable {
	c := &ResourceTable{Names: slices.Clone(t.Names), Index: maps.Clone(t.Index), Asked: make([]bool, len(t.Names))}
	c.Number(corev1.ResourcePods)
	return c
}

// Sort drops what nobody asks for, renumbers the rest in name order and returns where
// each old number went, -1 for nowhere, so that nothing depends on the order in which
// they were met.
func (t *ResourceTable) Sort() []int {
	old, asked := t.Names, t.Asked
	t.Names, t.Asked = nil, nil
	for i, name := range old {
		if asked[i] {
			t.Names = append(t.Names, name)
			t.Asked = append(t.Asked, true)
		}
	}
	slices.Sort(t.Names)
	clear(t.Index)
	for i, name := range t.Names {
		t.Index[name] = i
	}
	moved := make([]int, len(old))
	for i, name := range old {
		moved[i] = -1
		if asked[i] {
			moved[i] = t.Index[name]
		}
	}
	return moved
}

// Renumbered is a vector after sort.
func (t *ResourceTable) Renumbered(v []int64, moved []int) []int64 {
	out := make([]int64, len(t.Names))
	for i, n := range v {
		if moved[i] >= 0 {
			out[moved[i]] = n
		}
	}
	return out
}

// Amount is a quantity in base units: millicores for CPU, rounded up as
// kube-scheduler rounds, whole units (bytes, devices) for everything else.
func Amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// Quantity is the inverse of amount.
func Quantity(name corev1.ResourceName, n int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// Vector reads the numbered resources out of a list of what a machine has. Parts of
// a unit do not count: they hold nothing.
func (t *ResourceTable) Vector(list corev1.ResourceList) []int64 {
	v := make([]int64, len(t.Names))
	for i, name := range t.Names {
		q, ok := list[name]
		if !ok {
			continue
		}
		v[i] = Amount(name, q)
		if whole := Quantity(name, v[i]); v[i] > 0 && whole.Cmp(q) > 0 {
			v[i]--
		}
	}
	return v
}

// List is the inverse of vector; zeros are left out, and so are attachments of volumes,
// which nobody requests by that name.
func (t *ResourceTable) List(v []int64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i, n := range v {
		if n != 0 && AttachDriver(t.Names[i]) == "" {
			out[t.Names[i]] = Quantity(t.Names[i], n)
		}
	}
	return out
}
