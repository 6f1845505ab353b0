package instancetypes

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The figures of this file are those of the EKS node bootstrap, which Karpenter's
// AWS provider follows when it estimates what a node will report.
const (
	// mib is the number of bytes in a mebibyte.
	mib = 1 << 20
	// memoryPerPod and memoryBase are reserved for the kubelet and the runtime.
	memoryPerPod, memoryBase = 11 * mib, 255 * mib
	// storageReserved is kept of the node's disk for the kubelet and the runtime.
	storageReserved = 1 << 30
	// evictionMemory is the kubelet's default hard threshold memory.available on EKS.
	evictionMemory = 100 * mib
	// firmwareArm64 is what the firmware of arm64 machines hides from the system.
	firmwareArm64 = 64 * mib
)

// cpuBrackets lists how much of each further stretch of cores is reserved, in
// hundredths of a percent.
var cpuBrackets = [...]struct{ upTo, share int64 }{
	{upTo: 1000, share: 600},   // 6 % of the first core
	{upTo: 2000, share: 100},   // 1 % of the second
	{upTo: 4000, share: 50},    // 0.5 % of the third and fourth
	{upTo: 1 << 40, share: 25}, // 0.25 % of the rest
}

// KubeReserved returns what the kubelet and the container runtime of an EKS node
// keep for themselves: cpu by brackets of cores (6 % of the first, 1 % of the
// second, 0.5 % of the next two, 0.25 % of the rest, each rounded down to a
// millicore), 11 MiB of memory per pod and 255 MiB besides, and 1 GiB of ephemeral
// storage. pods is the number of pods that the node admits; for machines limited by
// network interfaces it is [ENIPods] without reserved interfaces, whatever maximum
// is configured. Memory is never more than memoryBytes, the machine's own. Negative
// arguments count as zero.
func KubeReserved(cpuMilli, memoryBytes, pods int64) corev1.ResourceList {
	cpu, from := int64(0), int64(0)
	for _, b := range cpuBrackets {
		stretch := min(max(cpuMilli, 0), b.upTo) - from
		if stretch <= 0 {
			break
		}
		cpu += stretch * b.share / 10_000
		from = b.upTo
	}
	memory := max(memoryBytes, 0)
	// Compared by division: pods may be any number.
	if pods = max(pods, 0); pods < (memory-memoryBase)/memoryPerPod+1 && memory >= memoryBase {
		memory = min(memory, pods*memoryPerPod+memoryBase)
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(storageReserved, resource.BinarySI),
	}
}

// EvictionThreshold returns what the kubelet of an EKS node keeps free by evicting
// pods: 100 MiB of memory and a tenth of the ephemeral storage, rounded up to a
// byte.
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
