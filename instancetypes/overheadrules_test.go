package instancetypes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

func TestKubeReserved(t *testing.T) {
	for _, tc := range []struct {
		name              string
		cpu, memory, pods int64
		wantCPU, wantMiB  int64
	}{
		// A21
		{name: "no core", memory: 8 * gib, wantCPU: 0, wantMiB: 255},
		{name: "half a core", cpu: 500, memory: 8 * gib, wantCPU: 30, wantMiB: 255},
		{name: "1 core", cpu: 1000, memory: 8 * gib, wantCPU: 60, wantMiB: 255},
		{name: "2 cores", cpu: 2000, memory: 8 * gib, wantCPU: 70, wantMiB: 255},
		{name: "3 cores", cpu: 3000, memory: 8 * gib, wantCPU: 75, wantMiB: 255},
		{name: "4 cores, 58 pods", cpu: 4000, memory: 16 * gib, pods: 58, wantCPU: 80, wantMiB: 893},
		{name: "8 cores", cpu: 8000, memory: 16 * gib, wantCPU: 90, wantMiB: 255},
		{name: "96 cores", cpu: 96000, memory: 16 * gib, wantCPU: 310, wantMiB: 255},
		{name: "each bracket is cut to millicores", cpu: 1199, memory: 16 * gib, wantCPU: 61, wantMiB: 255},
		// A20
		{name: "t3.large", cpu: 2000, memory: 8 * gib, pods: 35, wantCPU: 70, wantMiB: 640},
		{name: "t3.large with maxPods 10", cpu: 2000, memory: 8 * gib, pods: 10, wantCPU: 70, wantMiB: 365},
		{name: "110 pods", cpu: 2000, memory: 8 * gib, pods: 110, wantCPU: 70, wantMiB: 1465},
		// bounds
		{name: "machine smaller than the formula", cpu: 1000, memory: 512 * mib, pods: 110, wantCPU: 60, wantMiB: 512},
		{name: "machine smaller than the base", cpu: 1000, memory: 128 * mib, wantCPU: 60, wantMiB: 128},
		{name: "absurd pods", cpu: 1000, memory: gib, pods: 1 << 62, wantCPU: 60, wantMiB: 1024},
		{name: "negative", cpu: -1, memory: -1, pods: -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := instancetypes.KubeReserved(tc.cpu, tc.memory, tc.pods)
			assert.Equal(t, tc.wantCPU, got.Cpu().MilliValue(), "cpu")
			assert.Equal(t, tc.wantMiB*mib, got.Memory().Value(), "memory")
			assert.Equal(t, gib, got.StorageEphemeral().Value(), "A22")
			assert.Len(t, got, 3)
		})
	}
}

func TestEvictionThreshold(t *testing.T) {
	for _, tc := range []struct{ storage, want int64 }{ // A23
		{storage: 20 * gib, want: 2 * gib},
		{storage: 1, want: 1},
		{storage: 10, want: 1},
		{storage: 11, want: 2},
		{storage: 0, want: 0},
		{storage: -5, want: 0},
	} {
		got := instancetypes.EvictionThreshold(tc.storage)
		assert.Equal(t, 100*mib, got.Memory().Value())
		assert.Equal(t, tc.want, got.StorageEphemeral().Value(), "storage %d", tc.storage)
	}
}

func TestVMMemoryOverhead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		memory int64
		arch   string
		want   int64
	}{ // A16
		{name: "8 GiB", memory: 8 * gib, arch: "amd64", want: 615 * mib}, // 614.4 rounded up
		{name: "2 GiB arm64", memory: 2 * gib, arch: "arm64", want: (64 + 149) * mib},
		{name: "exact", memory: 40 * mib, arch: "amd64", want: 3 * mib},
		{name: "1 byte", memory: 1, arch: "amd64", want: 1},
		{name: "less than the firmware", memory: 10 * mib, arch: "arm64", want: 10 * mib},
		{name: "none", memory: 0, arch: "arm64", want: 0},
		{name: "negative", memory: -1, arch: "amd64", want: 0},
		{name: "24 TiB", memory: 24 << 40, arch: "amd64", want: 1887437 * mib}, // 1887436.8
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, instancetypes.VMMemoryOverhead(tc.memory, tc.arch))
		})
	}
}

// A25: if the estimate were above the allocatable resources that the kubelet reports, pods would be planned that do not
// fit.
func TestAllocatableIsNotAboveWhatKubeletsReport(t *testing.T) {
	for _, tc := range []struct {
		name                string
		arch                string
		cores, memoryMiB    int64
		enis, addresses     int64
		maxMemoryKi, maxCPU int64
	}{
		{name: "t4g.small", arch: "arm64", cores: 2, memoryMiB: 2048, enis: 3, addresses: 4, maxMemoryKi: 1408312, maxCPU: 1930},
		{name: "t4g.medium", arch: "arm64", cores: 2, memoryMiB: 4096, enis: 3, addresses: 6, maxMemoryKi: 3377496, maxCPU: 1930},
		{name: "t4g.xlarge", arch: "arm64", cores: 4, memoryMiB: 16384, enis: 4, addresses: 15, maxMemoryKi: 15136012, maxCPU: 3920},
		{name: "m5.large", arch: "amd64", cores: 2, memoryMiB: 8192, enis: 3, addresses: 10, maxMemoryKi: 7220184, maxCPU: 1930},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pods := instancetypes.ENIPods(tc.enis, tc.addresses, 0)
			memory := tc.memoryMiB*mib - instancetypes.VMMemoryOverhead(tc.memoryMiB*mib, tc.arch)
			it := &instancetypes.InstanceType{
				Name: tc.name,
				Capacity: corev1.ResourceList{
					corev1.ResourceCPU:    quantity(tc.cores),
					corev1.ResourceMemory: quantity(memory),
				},
				Overhead: instancetypes.Overhead{
					KubeReserved:      instancetypes.KubeReserved(tc.cores*1000, memory, pods),
					EvictionThreshold: instancetypes.EvictionThreshold(20 * gib),
				},
			}
			got := it.Allocatable()
			assert.LessOrEqual(t, got.Memory().Value(), tc.maxMemoryKi*1024)
			assert.LessOrEqual(t, got.Cpu().MilliValue(), tc.maxCPU)
			// And not so far below that machines are wasted.
			assert.Greater(t, got.Memory().Value(), tc.maxMemoryKi*1024*9/10)
		})
	}
}
