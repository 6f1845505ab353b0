package gcp

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/brackets"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// Keys of the labels that GKE and Karpenter's provider for Google Cloud put on nodes.
const (
	group = "karpenter.k8s.gcp/instance-"

	labelFamily     = group + "family"
	labelShape      = group + "shape"
	labelGeneration = group + "generation"
	labelSize       = group + "size"
	labelCPU        = group + "cpu"
	labelMemory     = group + "memory"
	labelGPUName    = group + "gpu-name"
	labelGPUCount   = group + "gpu-count"

	labelZoneID       = "topology.k8s.gcp/zone-id"
	labelProvisioning = "gke-provisioning"

	gke = "cloud.google.com/"

	labelSpot          = gke + "gke-spot"
	labelMachineFamily = gke + "machine-family"
	labelAccelerator   = gke + "gke-accelerator"
	labelScalingLevel  = gke + "gke-cpu-scaling-level"
	labelOS            = gke + "gke-os-distribution"

	labelDisk = "disk-type.gke.io/"
)

// labels returns the labels of every node of a machine type.
func labels(s *facts.Shape) map[string]string {
	list := map[string]string{labelCPU: facts.Text(s.VCPU), labelMemory: facts.Text(s.MemoryMiB), labelOS: "cos"}
	for _, disk := range s.DiskTypes {
		list[labelDisk+disk] = "true"
	}
	if parts := strings.Split(s.Name, "-"); len(parts) > 1 {
		list[labelFamily], list[labelMachineFamily], list[labelShape] = parts[0], parts[0], parts[1]
		list[labelGeneration] = generation(parts[0])
		size := len(parts) - 1
		if len(parts) > 3 {
			size--
		}
		list[labelSize] = parts[size]
	}
	if a := s.Accelerator; a.Count > 0 {
		list[labelGPUName], list[labelAccelerator] = a.Name, a.Name
		list[labelGPUCount], list[labelScalingLevel] = facts.Text(a.Count), list[labelCPU]
	}
	return list
}

// generation is the digit in the name of a family: 2 of "n2" and "n2d"; empty if there is none.
func generation(family string) string {
	for _, c := range family {
		if '0' <= c && c <= '9' {
			return string(c)
		}
	}
	return ""
}

const (
	mib = 1 << 20
	gib = 1 << 30
	// bootDisk is the size of the boot disk in GiB.
	bootDisk = 100
)

// capacity returns the capacity that a node of this type reports.
func capacity(s *facts.Shape) corev1.ResourceList {
	advertised := s.MemoryMiB * mib
	storage := resource.NewQuantity(storageOf(s).gib*gib, resource.BinarySI)
	return s.Capacity(advertised-advertised*7/100, storage, instancetypes.MaxPods(0, 0, 0, s.VCPU))
}

// overhead returns the resources that a GKE node of this type reserves.
func overhead(s *facts.Shape) instancetypes.Overhead {
	cpu := instancetypes.KubeReserved(s.VCPU*1000, 0, 0)[corev1.ResourceCPU] // GKE has the brackets of EKS
	if slices.Contains([]string{"e2-micro", "e2-small", "e2-medium"}, s.Name) {
		cpu = *resource.NewMilliQuantity(1060, resource.DecimalSI)
	}
	memory := int64(255)
	if s.MemoryMiB > 1024 {
		memory = brackets.Memory(s.MemoryMiB, 1024)
	}
	disk := storageOf(s)
	return instancetypes.Overhead{
		KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU:              cpu,
			corev1.ResourceMemory:           *resource.NewQuantity(memory*mib, resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(disk.reserved()*gib, resource.BinarySI),
		},
		SystemReserved: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(kubeProxy, resource.DecimalSI)},
		EvictionThreshold: corev1.ResourceList{
			corev1.ResourceMemory:           *resource.NewQuantity(100*mib, resource.BinarySI),
			corev1.ResourceEphemeralStorage: instancetypes.EvictionThreshold(disk.gib * gib)[corev1.ResourceEphemeralStorage],
		},
	}
}

// kubeProxy is the request of kube-proxy on every node, in millicores: it is a static pod and
// belongs to no DaemonSet.
const kubeProxy = 100

// storage is the ephemeral storage of pods: local disks, or a boot disk where there are none.
type storage struct{ gib, localDisks int64 }

func storageOf(s *facts.Shape) storage {
	if s.LocalDiskGiB > 0 {
		return storage{s.LocalDiskGiB, s.LocalDisks}
	}
	return storage{gib: bootDisk}
}

// reserved is how much of it GKE keeps, in GiB: by the number of local disks, or of a boot disk
// half of it, or 35 % and 6 GiB if that is less, and 100 GiB at most.
func (s storage) reserved() int64 {
	switch {
	case s.localDisks == 1:
		return 50
	case s.localDisks == 2:
		return 75
	case s.localDisks > 2:
		return 100
	}
	return min((s.gib+1)/2, (35*s.gib+650)/100, 100)
}
