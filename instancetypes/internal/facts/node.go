package facts

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// node is the type of a shape in a region without its offerings.
func (c Cloud) node(s *Shape, region string) *instancetypes.InstanceType {
	labels := c.Labels(s)
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelArchStable] = s.Name, s.Arch
	labels[corev1.LabelOSStable], labels[corev1.LabelTopologyRegion] = string(corev1.Linux), region
	return &instancetypes.InstanceType{Name: s.Name, Labels: labels, Capacity: c.Capacity(s), Overhead: c.Overhead(s)}
}

// Capacity returns the capacity of a node of the shape with the given memory, in bytes, ephemeral
// storage and number of pods; cores and accelerators are those of the shape.
func (s *Shape) Capacity(memory int64, storage *resource.Quantity, pods int64) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(s.VCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *storage,
		corev1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
	}
	if a := s.Accelerator; a.Count > 0 {
		list[corev1.ResourceName(a.Resource)] = *resource.NewQuantity(a.Count, resource.DecimalSI)
	}
	return list
}

// Text returns a number as a label value; "" for 0, because 0 stands for unknown or none.
func Text(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
