package instancetypes

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/brackets"
)

// The figures of this file are the ones of the EKS node bootstrap, because Karpenter's AWS provider
// estimates the status of a node by them.
const (
	// mib is the number of bytes in a mebibyte.
	mib = 1 << 20
	// memoryPerPod and memoryBase are reserved for the kubelet and the runtime.
	memoryPerPod, memoryBase = 11 * mib, 255 * mib
	// storageReserved is kept of the node's disk for the kubelet and the runtime.
	storageReserved = 1 << 30
	// evictionMemory is the kubelet's default hard threshold memory.available on EKS.
	evictionMemory = 100 * mib
	// firmwareArm64 is the memory that the firmware of arm64 machines hides from the system.
	firmwareArm64 = 64 * mib
)

// reservedCPU is the CPU that the kubelet reserves of a number of millicores: 6 % of the first
// core, 1 % of the second, 0.5 % of the third and fourth, 0.25 % of the rest.
func reservedCPU(milli int64) int64 {
	return brackets.Reserve(milli, brackets.Bracket{UpTo: 1000, Share: 600}, brackets.Bracket{UpTo: 2000, Share: 100},
		brackets.Bracket{UpTo: 4000, Share: 50}, brackets.Bracket{UpTo: 1 << 40, Share: 25})
}

// KubeReserved returns the resources reserved for the kubelet and the container runtime of an EKS
// node: cpu by brackets of cores (6 % of the first, 1 % of the second, 0.5 % of the next two, 0.25
// % of the rest, each rounded down to a millicore), 11 MiB of memory per pod and 255 MiB besides,
// and 1 GiB of ephemeral storage. pods is the number of pods that the node admits; for nodes
// limited by network interfaces it is [ENIPods] without reserved interfaces, also where a smaller
// maximum is configured. Memory is never more than memoryBytes, the node's own. Negative
// arguments count as zero.
func KubeReserved(cpuMilli, memoryBytes, pods int64) corev1.ResourceList {
	memory := max(memoryBytes, 0)
	// Compared by division: pods may be any number.
	if pods = max(pods, 0); pods < (memory-memoryBase)/memoryPerPod+1 && memory >= memoryBase {
		memory = min(memory, pods*memoryPerPod+memoryBase)
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(reservedCPU(cpuMilli), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(storageReserved, resource.BinarySI),
	}
}

// EvictionThreshold returns the resources that the kubelet of an EKS node keeps free by evicting
// pods: 100 MiB of memory and a tenth of the ephemeral storage, rounded up to a byte.
func EvictionThreshold(storageBytes int64) corev1.ResourceList {
	storageBytes = max(storageBytes, 0)
	tenth := storageBytes / 10
	if storageBytes%10 > 0 {
		tenth++
	}
	return corev1.ResourceList{
		corev1.ResourceMemory:           *resource.NewQuantity(evictionMemory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(tenth, resource.BinarySI),
	}
}

// VMMemoryOverhead returns how many bytes of a virtual machine's advertised memory
// its operating system does not see: 7.5 %, rounded up to a whole MiB, and on arm64
// another 64 MiB, which are taken off before. The capacity of a node is the
// advertised memory less this. The share is Karpenter's default; it errs on the
// side of too much, so that no pod is planned onto memory that is not there.
func VMMemoryOverhead(memoryBytes int64, arch string) int64 {
	memoryBytes = max(memoryBytes, 0)
	firmware := int64(0)
	if arch == "arm64" {
		firmware = min(firmwareArm64, memoryBytes)
	}
	rest := memoryBytes - firmware
	// ceil(rest × 0.075 ÷ MiB) without overflow: 0.075 = 3/40.
	const unit = 40 * mib
	share := rest / unit * 3
	share += (rest%unit*3 + unit - 1) / unit
	return firmware + min(share*mib, rest)
}

// defaultPods is how many pods a kubelet admits unless it is told otherwise.
const defaultPods = 110

// defaultVolume is the size of an EKS node's root volume, in bytes.
const defaultVolume = 20 << 30

// ENIPods returns the number of pods that fit an EC2 node whose pods take their addresses from
// its network interfaces: one address of each interface is its own, and two pods (the CNI's and
// kube-proxy) use the node's. enis counts the interfaces of the default network card; reserved are
// the interfaces kept for other uses, e.g. pods with an interface of their own or EFA-only traffic.
// It is 0 if no interface is left.
func ENIPods(enis, addressesPerENI, reserved int64) int64 {
	usable := enis - max(reserved, 0)
	if usable <= 0 || addressesPerENI <= 0 {
		return 0
	}
	return usable*(addressesPerENI-1) + 2
}

// MaxPods returns how many pods a kubelet admits. configured is the kubelet's
// maxPods and is used as it is; where it is 0 the limit is that of the network
// interfaces (see [ENIPods]), and 110 where that does not apply (0). podsPerCore, if
// not 0, bounds the result by the number of virtual cores.
func MaxPods(configured, byENI, podsPerCore, cores int64) int64 {
	pods := int64(defaultPods)
	switch {
	case configured > 0:
		pods = configured
	case byENI > 0:
		pods = byENI
	}
	if podsPerCore > 0 && cores > 0 && podsPerCore < pods/cores+1 {
		pods = min(pods, podsPerCore*cores)
	}
	return pods
}

// EphemeralStorage returns the size in bytes of the file system that pods write to:
// all local disks together where they are joined into one (localDisksGB, in units
// of 10^9 bytes; 0 if there are none or they are left alone), else the root volume,
// which is 20 GiB where volumeBytes is 0.
func EphemeralStorage(localDisksGB, volumeBytes int64) int64 {
	const gb = 1_000_000_000
	switch {
	case localDisksGB > 0:
		return localDisksGB * gb
	case volumeBytes > 0:
		return volumeBytes
	}
	return defaultVolume
}
