package corpus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// sized is a pod of a kind.
func sized(name string, milliCPU, mib int64, opts ...schedulingtest.PodOption) *corev1.Pod {
	opts = append(opts, schedulingtest.Requests(schedulingtest.MilliCPU(milliCPU), schedulingtest.MiB(mib)))
	return schedulingtest.Pod(name, opts...)
}

// BigMemory is n batch jobs that need much memory for each core: 40 classes around
// five sizes.
func BigMemory(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	sizes := []kind{
		{share: 30, milliCPU: 1000, mib: 12 << 10},
		{share: 30, milliCPU: 2000, mib: 32 << 10},
		{share: 20, milliCPU: 4000, mib: 96 << 10},
		{share: 15, milliCPU: 8000, mib: 200 << 10},
		{share: 5, milliCPU: 16000, mib: 480 << 10},
	}
	classes := make([]kind, 40)
	for i := range classes {
		k := draw(d, sizes)
		classes[i] = kind{share: 1 + d.Int64N(20), milliCPU: jitter(d, k.milliCPU, 10, 100), mib: jitter(d, k.mib, 25, 512)}
	}
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		k := draw(d, classes)
		pods = append(pods, sized(fmt.Sprintf("batch-%06d", i), k.milliCPU, k.mib))
	}
	return pods
}

// CI is n build jobs. Most ask for a power of two of cores, as people do who think of
// a machine and forget what the kubelet keeps of it.
func CI(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	kinds := []kind{
		{share: 15, milliCPU: 500, mib: 1 << 10},
		{share: 15, milliCPU: 1000, mib: 4 << 10},
		{share: 20, milliCPU: 2000, mib: 4 << 10},
		{share: 15, milliCPU: 4000, mib: 8 << 10},
		{share: 10, milliCPU: 4000, mib: 16 << 10},
		{share: 10, milliCPU: 7500, mib: 28 << 10},
		{share: 8, milliCPU: 8000, mib: 16 << 10},
		{share: 4, milliCPU: 16000, mib: 32 << 10},
		{share: 2, milliCPU: 15000, mib: 60 << 10},
		{share: 1, milliCPU: 32000, mib: 64 << 10},
	}
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		k := draw(d, kinds)
		pods = append(pods, sized(fmt.Sprintf("job-%06d", i), k.milliCPU, k.mib))
	}
	return pods
}

// GPUJobs is n jobs of a GPU cluster. Shares and sizes round the statistics that
// Alibaba published of a production cluster of some 1,500 nodes (cluster-trace-gpu-v2023,
// Weng et al., ATC '23): 13 % of the pods use no GPU, 86 % use one or a part of one,
// which takes one here, and the rest use 2, 4 or 8.
func GPUJobs(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	kinds := []kind{ // shares are per 10,000 pods
		{share: 230, milliCPU: 8000, mib: 29 << 10},
		{share: 750, milliCPU: 13800, mib: 53 << 10},
		{share: 355, milliCPU: 32000, mib: 48 << 10},
		{share: 60, milliCPU: 1000, mib: 4 << 10, gpus: 1},
		{share: 1950, milliCPU: 3150, mib: 5600, gpus: 1},
		{share: 1010, milliCPU: 4000, mib: 20 << 10, gpus: 1},
		{share: 1300, milliCPU: 8000, mib: 30 << 10, gpus: 1},
		{share: 1080, milliCPU: 11300, mib: 48 << 10, gpus: 1},
		{share: 1350, milliCPU: 11900, mib: 46 << 10, gpus: 1},
		{share: 1030, milliCPU: 13200, mib: 48 << 10, gpus: 1},
		{share: 690, milliCPU: 16000, mib: 60 << 10, gpus: 1},
		{share: 100, milliCPU: 24200, mib: 91 << 10, gpus: 1},
		{share: 20, milliCPU: 16200, mib: 62 << 10, gpus: 2},
		{share: 18, milliCPU: 32200, mib: 129 << 10, gpus: 4},
		{share: 49, milliCPU: 75000, mib: 286 << 10, gpus: 8},
		{share: 6, milliCPU: 120000, mib: 680 << 10, gpus: 8},
	}
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		k := draw(d, kinds)
		var opts []schedulingtest.PodOption
		if k.gpus > 0 {
			opts = append(opts,
				schedulingtest.Requests(schedulingtest.Count(GPU, k.gpus)),
				schedulingtest.TolerateKey(string(GPU), corev1.TaintEffectNoSchedule))
		}
		pods = append(pods, sized(fmt.Sprintf("train-%06d", i), k.milliCPU, k.mib, opts...))
	}
	return pods
}
