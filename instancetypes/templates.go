package instancetypes

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// NodeTemplate is what nodes of an instance type are in truth, where that is known: e.g. because some
// run, and further ones will be set up alike.
type NodeTemplate struct {
	// Capacity and Allocatable are those of the node's status. Of resources that they do not name
	// cpu, memory, ephemeral-storage and pods are those of the type, and others are not there.
	// attachable-volumes-csi-DRIVER may be among them for what a CSINode says.
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	// Labels are carried besides those that the type has, or in place of them.
	Labels map[string]string
}

// WithTemplates returns a catalog in which types are what templates say, by the name of the type: as
// much is allocatable, and no device is there that the template lacks. What offerings say of resources
// themselves gives way. Names that the catalog does not have are left out. c itself comes back if
// nothing changes; it stays as it is. The error reports every fault at once: what
// [InstanceType.Validate] says of the types as templates have them.
func (c *Catalog) WithTemplates(templates map[string]NodeTemplate) (*Catalog, error) {
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
func (n *NodeTemplate) of(old *InstanceType) *InstanceType {
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
