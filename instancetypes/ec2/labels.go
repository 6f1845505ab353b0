package ec2

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Keys of the labels that Karpenter's AWS provider puts on nodes.
const (
	group = "karpenter.k8s.aws/instance-"

	labelCategory         = group + "category"
	labelFamily           = group + "family"
	labelGeneration       = group + "generation"
	labelSize             = group + "size"
	labelFlex             = group + "capability-flex"
	labelCPU              = group + "cpu"
	labelCPUMaker         = group + "cpu-manufacturer"
	labelMemory           = group + "memory"
	labelHypervisor       = group + "hypervisor"
	labelLocalNVMe        = group + "local-nvme"
	labelNetwork          = group + "network-bandwidth"
	labelEBS              = group + "ebs-bandwidth"
	labelGPUName          = group + "gpu-name"
	labelGPUMaker         = group + "gpu-manufacturer"
	labelGPUCount         = group + "gpu-count"
	labelGPUMemory        = group + "gpu-memory"
	labelAcceleratorName  = group + "accelerator-name"
	labelAcceleratorMaker = group + "accelerator-manufacturer"
	labelAcceleratorCount = group + "accelerator-count"

	labelZoneID = offerings.ZoneIDLabel
)

// neuron counts AWS's own accelerators; all others are labelled as GPUs, Gaudi too.
const neuron = "aws.amazon.com/neuron"

// labels returns the labels of every node of a shape.
func labels(s *facts.Shape) map[string]string {
	family, size, _ := strings.Cut(s.Name, ".")
	category, generation := splitFamily(family)
	list := map[string]string{
		labelFamily: family, labelSize: size, labelCategory: category, labelGeneration: generation,
		labelFlex: strconv.FormatBool(strings.Contains(family, "-flex")),
		labelCPU:  facts.Text(s.VCPU), labelMemory: facts.Text(s.MemoryMiB), labelCPUMaker: s.CPUMaker, labelHypervisor: s.Hypervisor,
		labelLocalNVMe: facts.Text(s.LocalDiskGB), labelNetwork: facts.Text(s.NetworkMbps), labelEBS: facts.Text(s.EBSMbps),
	}
	a, count := &s.Accelerator, facts.Text(s.Accelerator.Count)
	if a.Resource == neuron {
		list[labelAcceleratorName], list[labelAcceleratorMaker], list[labelAcceleratorCount] = a.Name, a.Maker, count
	} else {
		list[labelGPUName], list[labelGPUMaker], list[labelGPUCount] = a.Name, a.Maker, count
		list[labelGPUMemory] = facts.Text(a.MemoryMiB)
	}
	return list
}

// splitFamily returns the letters that a family begins with and the digits that
// follow: "c7i-flex" is category c of generation 7. In names such as "u-12tb1" the
// size of the memory stands between them. Both are empty for a family that is built
// otherwise.
func splitFamily(family string) (category, generation string) {
	const digits = "0123456789"
	rest := strings.TrimLeft(family, "abcdefghijklmnopqrstuvwxyz")
	category = family[:len(family)-len(rest)]
	if memory, ok := strings.CutPrefix(rest, "-"); ok {
		after := strings.TrimLeft(memory, digits)
		if after, ok = strings.CutPrefix(after, "tb"); ok {
			rest = after
		}
	}
	generation = rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
	if category == "" || generation == "" {
		return "", ""
	}
	return category, generation
}

// Extended resources beside the accelerators, whose names the tables hold.
const (
	neuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	podENI     corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
)

const mib = 1 << 20

// maxPods is how many pods a node takes whose pods have addresses of the VPC.
func maxPods(s *facts.Shape) int64 {
	return instancetypes.MaxPods(0, instancetypes.ENIPods(s.Interfaces, s.Addresses, 0), 0, s.VCPU)
}

// memory is the memory that the operating system of a node sees, in bytes.
func memory(s *facts.Shape) int64 {
	advertised := s.MemoryMiB * mib
	return advertised - instancetypes.VMMemoryOverhead(advertised, s.Arch)
}

// storage is the size of the root volume: local disks are left alone unless a node
// class says otherwise.
func storage() int64 { return instancetypes.EphemeralStorage(0, 0) }

// capacity returns the capacity that a node of this shape reports.
func capacity(s *facts.Shape) corev1.ResourceList {
	list := s.Capacity(memory(s), resource.NewQuantity(storage(), resource.BinarySI), maxPods(s))
	for name, n := range map[corev1.ResourceName]int64{podENI: s.BranchInterfaces, neuronCore: s.Accelerator.Count * s.Accelerator.Cores} {
		if n > 0 {
			list[name] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	return list
}

// overhead returns the resources that an EKS node of this shape reserves.
func overhead(s *facts.Shape) instancetypes.Overhead {
	return instancetypes.Overhead{
		KubeReserved:      instancetypes.KubeReserved(s.VCPU*1000, memory(s), maxPods(s)),
		EvictionThreshold: instancetypes.EvictionThreshold(storage()),
	}
}
