package instancetypes

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ObservedNode describes the real nodes of an instance type, where they are known, e.g. because
// running ones exist and new ones have the same settings.
type ObservedNode struct {
	// Capacity and Allocatable are the ones of the node's status. Of resources that they lack, cpu,
	// memory, ephemeral-storage and pods are the type's, and others are absent.
	// attachable-volumes-csi-DRIVER may be included for the limits of a CSINode.
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	// Labels are added to the labels of the type, or replace them.
	Labels map[string]string
}

// WithTemplates returns a catalog with the templates applied to types, by the name of the type:
// with their allocatable, and without devices that a template lacks. They override amounts of
// offerings. Names that the catalog lacks are ignored. c itself is returned if there is no change,
// and is never changed. The error reports every fault of [InstanceType.Validate] in the resulting
// types at once.
func (c *Catalog) WithTemplates(templates map[string]ObservedNode) (*Catalog, error) {
	types, changed := make([]*InstanceType, 0, c.Len()), false
	var errs []error
	for old := range c.All() {
		t := old
		if template, ok := templates[old.Name]; ok {
			t, changed = template.of(old), true
			errs = append(errs, t.Validate())
		}
		types = append(types, t)
	}
	if err := errors.Join(errs...); err != nil || !changed {
		return c, err
	}
	return c.derive(types), nil
}

// of returns a type as the template has it.
func (n *ObservedNode) of(old *InstanceType) *InstanceType {
	t := old.DeepCopy()
	t.Capacity, t.Overhead = corev1.ResourceList{}, Overhead{KubeReserved: corev1.ResourceList{}}
	allocatable := old.Allocatable()
	maps.DeleteFunc(allocatable, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}, name)
	})
	maps.Copy(allocatable, n.Allocatable)
	for name, q := range allocatable {
		whole, stated := n.Capacity[name]
		if !stated || whole.Cmp(q) < 0 {
			whole = q
		}
		t.Capacity[name] = whole.DeepCopy()
	}
	huge := hugePages(t.Capacity)
	for name, whole := range t.Capacity {
		kept := whole.DeepCopy()
		kept.Sub(allocatable[name])
		if name == corev1.ResourceMemory {
			kept.Sub(huge) // which are taken out of memory by themselves; see AllocatableOf
			if kept.Sign() < 0 {
				whole.Sub(kept)
				t.Capacity[name], kept = whole, resource.Quantity{}
			}
		}
		if kept.Sign() > 0 {
			t.Overhead.KubeReserved[name] = kept
		}
	}
	if len(n.Labels) > 0 {
		t.Labels = maps.Clone(old.Labels)
		maps.Copy(t.Labels, n.Labels)
	}
	for i := range t.Offerings {
		t.Offerings[i].Capacity, t.Offerings[i].Overhead = nil, nil
	}
	return t
}
