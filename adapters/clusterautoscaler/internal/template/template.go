package template

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// Allocatable is the allocatable of a node, or its capacity where it states no allocatable.
func Allocatable(node *corev1.Node) corev1.ResourceList {
	if len(node.Status.Allocatable) == 0 {
		return node.Status.Capacity
	}
	return node.Status.Allocatable
}

// InstanceType is an instance type of a name whose nodes have an allocatable. It has no labels and no offerings.
func InstanceType(name string, allocatable corev1.ResourceList) *instancetypes.InstanceType {
	capacity := allocatable.DeepCopy()
	for name, q := range allocatable {
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			// The memory of an instance type includes huge pages, the allocatable memory of a node does not.
			memory := capacity[corev1.ResourceMemory]
			memory.Add(q)
			capacity[corev1.ResourceMemory] = memory
		}
	}
	return &instancetypes.InstanceType{Name: name, Capacity: capacity}
}
