package instancetypes

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// InstanceType is an instance type: its capacity, the labels of its nodes, and
// its offerings. Values that came out of a [Catalog] are shared and
// must not be changed; [InstanceType.DeepCopy] makes one that may be.
type InstanceType struct {
	// Name is the provider's name, e.g. "m7i.large". It is the value of the label
	// node.kubernetes.io/instance-type and must be a valid label value.
	Name string `json:"name"`
	// Labels are carried by every node of this type. [NewCatalog] fills in
	// node.kubernetes.io/instance-type, and kubernetes.io/arch (amd64) and
	// kubernetes.io/os (linux) where they are absent. Zone and capacity type belong
	// to the offerings.
	Labels map[string]string `json:"labels,omitempty"`
	// Capacity is the whole capacity of the node: cpu and memory (both required), pods,
	// ephemeral-storage, huge pages and extended resources. The node has none of a resource that
	// is absent.
	Capacity corev1.ResourceList `json:"capacity"`
	// Overhead is the part of the capacity that pods cannot use.
	Overhead Overhead `json:"overhead,omitzero"`
	// Offerings are the zones and prices at which the type is sold. A type without offerings cannot
	// be launched, but describes running nodes.
	Offerings []offerings.Offering `json:"offerings,omitempty"`
}

// Overhead is the part of a node's capacity that pods cannot use, in the
// three parts that the kubelet knows.
type Overhead struct {
	// KubeReserved is set aside for the kubelet and the container runtime.
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitempty"`
	// SystemReserved is set aside for the operating system's daemons.
	SystemReserved corev1.ResourceList `json:"systemReserved,omitempty"`
	// EvictionThreshold is the part that the kubelet keeps free by evicting pods.
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold,omitempty"`
}

// Total returns the sum of the three parts, resource by resource. The caller
// owns the result.
func (o Overhead) Total() corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, part := range o.parts() {
		for name, q := range part {
			// Quantity.Add writes through to the receiver's big number, if it has one.
			sum := total[name].DeepCopy()
			sum.Add(q)
			total[name] = sum
		}
	}
	return total
}

// parts are the lists that add up.
func (o Overhead) parts() [3]corev1.ResourceList {
	return [...]corev1.ResourceList{o.KubeReserved, o.SystemReserved, o.EvictionThreshold}
}

// DeepCopy returns a copy that shares no memory with o.
func (o Overhead) DeepCopy() Overhead {
	return Overhead{
		KubeReserved:      o.KubeReserved.DeepCopy(),
		SystemReserved:    o.SystemReserved.DeepCopy(),
		EvictionThreshold: o.EvictionThreshold.DeepCopy(),
	}
}

// NodeLabels returns the labels that a node of this type launched at o carries:
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

// CapacityOf returns the capacity of a node launched at o: the type's, with the
// resources that o overrides replaced or added. The caller owns the result.
func (t *InstanceType) CapacityOf(o offerings.Offering) corev1.ResourceList {
	return merged(t.Capacity.DeepCopy(), o.Capacity)
}

// Allocatable returns the resources that pods may request on a node of this type: capacity less
// kube-reserved, system-reserved and eviction threshold; memory also less the huge pages, which are
// taken out of it. No amount is below zero. The caller owns the result.
//
// The rule is the kubelet's; see "Reserve Compute Resources for System Daemons"
// in the Kubernetes documentation.
func (t *InstanceType) Allocatable() corev1.ResourceList {
	return t.AllocatableOf(offerings.Offering{})
}

// AllocatableOf returns the resources that pods may request on a node launched at o. The capacity
// is the one of [InstanceType.CapacityOf]; the overhead is the type's sum, with the resources
// replaced that o overrides. The caller owns the result.
func (t *InstanceType) AllocatableOf(o offerings.Offering) corev1.ResourceList {
	allocatable := t.CapacityOf(o)
	huge := hugePages(allocatable)
	for name, q := range allocatable {
		if reserved, ok := o.Overhead[name]; ok {
			q.Sub(reserved)
		} else {
			for _, part := range t.Overhead.parts() {
				q.Sub(part[name])
			}
		}
		if name == corev1.ResourceMemory {
			q.Sub(huge)
		}
		if q.Sign() < 0 {
			q = *resource.NewQuantity(0, q.Format)
		}
		allocatable[name] = q
	}
	return allocatable
}

// hugePages sums the memory that is handed out as huge pages of any size.
func hugePages(capacity corev1.ResourceList) resource.Quantity {
	var sum resource.Quantity
	for name, q := range capacity {
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			sum.Add(q)
		}
	}
	return sum
}

// merged puts the entries of over into base, which it may change, and returns it.
func merged(base, over corev1.ResourceList) corev1.ResourceList {
	if base == nil {
		base = corev1.ResourceList{}
	}
	maps.Copy(base, over.DeepCopy())
	return base
}
