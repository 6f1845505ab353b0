package azure

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
)

const (
	mib = 1 << 20
	// osDisk is the size of the system disk of Karpenter's node class, in bytes.
	osDisk = 128_000_000_000
	// evictionMemory is the hard threshold memory.available of AKS.
	evictionMemory = 750 * mib
)

// Resources by which device plugins count GPUs.
const (
	nvidiaGPU corev1.ResourceName = "nvidia.com/gpu"
	amdGPU    corev1.ResourceName = "amd.com/gpu"
)

// capacity returns what a node of this size reports before anything is reserved.
func capacity(s *azurefacts.Size) corev1.ResourceList {
	advertised := s.MemoryMiB * mib
	// The firmware of EC2's arm64 machines, which the formula counts, is not here.
	memory := advertised - instancetypes.VMMemoryOverhead(advertised, "amd64")
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(s.VCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(osDisk, resource.DecimalSI),
		corev1.ResourcePods:             *resource.NewQuantity(instancetypes.MaxPods(0, 0, 0, s.VCPU), resource.DecimalSI),
	}
	if s.GPUs > 0 {
		name := nvidiaGPU
		if s.GPUMaker == "amd" {
			name = amdGPU
		}
		list[name] = *resource.NewQuantity(s.GPUs, resource.DecimalSI)
	}
	return list
}

// overhead returns what an AKS node of this size keeps from pods.
func overhead(s *azurefacts.Size) instancetypes.Overhead {
	return instancetypes.Overhead{
		KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(reservedCPU(s.VCPU*1000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(reservedMemory(s.MemoryMiB)*mib, resource.BinarySI),
		},
		EvictionThreshold: corev1.ResourceList{
			corev1.ResourceMemory: *resource.NewQuantity(evictionMemory, resource.BinarySI),
		},
	}
}
