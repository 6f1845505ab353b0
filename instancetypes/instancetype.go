package instancetypes

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// InstanceType is a kind of machine: its shape, the labels its nodes carry and
// where it can be bought. Values that came out of a [Catalog] are shared and
// must not be changed; [InstanceType.DeepCopy] makes one that may be.
type InstanceType struct {
	// Name is the provider's name, such as "m7i.large". It is the value of the label
	// node.kubernetes.io/instance-type and must be a valid label value.
	Name string `json:"name"`
	// Labels are carried by every node of this type. [NewCatalog] fills in
	// node.kubernetes.io/instance-type, and kubernetes.io/arch (amd64) and
	// kubernetes.io/os (linux) where they are absent. Zone and capacity type belong
	// to the offerings.
	Labels map[string]string `json:"labels,omitempty"`
	// Capacity is what the machine has before anything is reserved: cpu and memory
	// (both required), pods, ephemeral-storage, huge pages and extended resources.
	// A resource that is absent is one the machine does not have.
	Capacity corev1.ResourceList `json:"capacity"`
	// Overhead is what pods cannot use of the capacity.
	Overhead Overhead `json:"overhead,omitzero"`
	// Offerings say where the type can be bought and at what price. A type without
	// offerings cannot be launched; it is still useful to describe running nodes.
	Offerings []offerings.Offering `json:"offerings,omitempty"`
}

// Overhead is the part of a machine's capacity that pods cannot use, in the
// three parts that the kubelet knows.
type Overhead struct {
	// KubeReserved is set aside for the kubelet and the container runtime.
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitempty"`
	// SystemReserved is set aside for the operating system's daemons.
	SystemReserved corev1.ResourceList `json:"systemReserved,omitempty"`
	// EvictionThreshold is what the kubelet keeps free by evicting pods.
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold,omitempty"`
}

// Total returns the sum of the three parts, resource by resource. The caller
// owns the result.
func (o Overhead) Total() corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, part := range []corev1.ResourceList{o.KubeReserved, o.SystemReserved, o.EvictionThreshold} {
		for name, q := range part {
			// Quantity.Add writes through to the receiver's big number, if it has one.
			sum := total[name].DeepCopy()
			sum.Add(q)
			total[name] = sum
		}
	}
	return total
}

// DeepCopy returns a copy that shares no memory with o.
func (o Overhead) DeepCopy() Overhead {
	return Overhead{
		KubeReserved:      o.KubeReserved.DeepCopy(),
		SystemReserved:    o.SystemReserved.DeepCopy(),
		EvictionThreshold: o.EvictionThreshold.DeepCopy(),
	}
}

// NodeLabels returns the labels that a node of this type bought at o carries:
// the type's and the offering's. Where both set a key the offering's value
// stands. The zero offering adds none. The caller owns the map.
func (t *InstanceType) NodeLabels(o offerings.Offering) map[string]string {
	labels := o.NodeLabels()
	if o.Zone == "" {
		delete(labels, offerings.ZoneLabel)
	}
	if o.CapacityType == "" {
		delete(labels, offerings.CapacityTypeLabel)
	}
	for key, value := range t.Labels {
		if _, ok := labels[key]; !ok {
			labels[key] = value
		}
	}
	return labels
}

// DeepCopy returns a copy that shares no memory with t; nil for nil.
func (t *InstanceType) DeepCopy() *InstanceType {
	if t == nil {
		return nil
	}
	c := *t
	c.Labels = maps.Clone(t.Labels)
	c.Capacity = t.Capacity.DeepCopy()
	c.Overhead = t.Overhead.DeepCopy()
	c.Offerings = slices.Clone(t.Offerings)
	for i, o := range c.Offerings {
		c.Offerings[i] = o.DeepCopy()
	}
	return &c
}
