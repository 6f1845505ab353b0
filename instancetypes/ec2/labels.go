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

// labels returns the labels of every node of a shape in a region. A fact that is not
// known or does not apply has no label, so that selectors can tell.
func labels(s *facts.Shape, region string) map[string]string {
	family, size, _ := strings.Cut(s.Name, ".")
	list := map[string]string{
		corev1.LabelInstanceTypeStable: s.Name,
		corev1.LabelArchStable:         s.Arch,
		corev1.LabelOSStable:           string(corev1.Linux),
		corev1.LabelTopologyRegion:     region,
		labelFamily:                    family,
		labelSize:                      size,
		labelFlex:                      strconv.FormatBool(strings.Contains(family, "-flex")),
		labelCPU:                       strconv.FormatInt(s.VCPU, 10),
		labelMemory:                    strconv.FormatInt(s.MemoryMiB, 10),
	}
	text := func(key, value string) {
		if value != "" {
			list[key] = value
		}
	}
	number := func(key string, value int64) {
		if value > 0 {
			list[key] = strconv.FormatInt(value, 10)
		}
	}
	category, generation := splitFamily(family)
	text(labelCategory, category)
	text(labelGeneration, generation)
	text(labelCPUMaker, s.CPUMaker)
	text(labelHypervisor, s.Hypervisor)
	number(labelLocalNVMe, s.LocalDiskGB)
	number(labelNetwork, s.NetworkMbps)
	number(labelEBS, s.EBSMbps)
	if a := s.Accelerator; a.Resource == neuron {
		text(labelAcceleratorName, a.Name)
		text(labelAcceleratorMaker, a.Maker)
		number(labelAcceleratorCount, a.Count)
	} else {
		text(labelGPUName, a.Name)
		text(labelGPUMaker, a.Maker)
		number(labelGPUCount, a.Count)
		number(labelGPUMemory, a.MemoryMiB)
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

// memory is what the operating system of a node sees, in bytes.
func memory(s *facts.Shape) int64 {
	advertised := s.MemoryMiB * mib
	return advertised - instancetypes.VMMemoryOverhead(advertised, s.Arch)
}

// storage is the size of the root volume: local disks are left alone unless a node
// class says otherwise.
func storage() int64 { return instancetypes.EphemeralStorage(0, 0) }

// capacity returns what a node of this shape reports before anything is reserved.
func capacity(s *facts.Shape) corev1.ResourceList {
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
func overhead(s *facts.Shape) instancetypes.Overhead {
	return instancetypes.Overhead{
		KubeReserved:      instancetypes.KubeReserved(s.VCPU*1000, memory(s), maxPods(s)),
		EvictionThreshold: instancetypes.EvictionThreshold(storage()),
	}
}
