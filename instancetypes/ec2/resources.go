package ec2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
)

// Extended resources beside the accelerators, whose names the tables hold.
const (
	neuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	podENI     corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
)

const mib = 1 << 20

// maxPods is how many pods a node takes whose pods have addresses of the VPC.
func maxPods(s *ec2facts.Shape) int64 {
	return instancetypes.MaxPods(0, instancetypes.ENIPods(s.Interfaces, s.Addresses, 0), 0, s.VCPU)
}

// memory is what the operating system of a node sees, in bytes.
func memory(s *ec2facts.Shape) int64 {
	advertised := s.MemoryMiB * mib
	return advertised - instancetypes.VMMemoryOverhead(advertised, s.Arch)
}

// storage is the size of the root volume: local disks are left alone unless a node
// class says otherwise.
func storage() int64 { return instancetypes.EphemeralStorage(0, 0) }

// capacity returns what a node of this shape reports before anything is reserved.
func capacity(s *ec2facts.Shape) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(s.VCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory(s), resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(storage(), resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(maxPods(s), resource.DecimalSI),
	}
	count := func(name corev1.ResourceName, n int64) {
		if n > 0 {
			list[name] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	count(podENI, s.BranchInterfaces)
	count(corev1.ResourceName(s.Accelerator.Resource), s.Accelerator.Count)
	count(neuronCore, s.Accelerator.Count*s.Accelerator.Cores)
	return list
}

// overhead returns what an EKS node of this shape keeps from pods.
func overhead(s *ec2facts.Shape) instancetypes.Overhead {
	return instancetypes.Overhead{
		KubeReserved:      instancetypes.KubeReserved(s.VCPU*1000, memory(s), maxPods(s)),
		EvictionThreshold: instancetypes.EvictionThreshold(storage()),
	}
}
