package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"

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

// CI is n build jobs. Most request a power of two of cores, e.g. all 4 cores of a machine,
// which then fits no 4-core machine because of the kubelet's reservation.
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

// dice draws from a seeded stream, the same on every machine.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice {
	// The second word is arbitrary; it keeps small seeds from starting alike.
	return dice{rand.New(rand.NewPCG(seed, 0xd1b54a32d192ed03))}
}

// kind is a size of pod with its share of all pods, in any unit.
type kind struct {
	share, milliCPU, mib, gpus int64
}

// draw picks a kind by its share.
func draw(d dice, kinds []kind) kind {
	var total int64
	for _, k := range kinds {
		total += k.share
	}
	at := d.Int64N(total)
	for _, k := range kinds {
		if at -= k.share; at < 0 {
			return k
		}
	}
	return kinds[len(kinds)-1]
}

// jitter is n, give or take the percentage, rounded to the step and at least one step.
func jitter(d dice, n, percent, step int64) int64 {
	spread := n * percent / 100
	n += d.Int64N(2*spread+1) - spread
	return max((n+step/2)/step*step, step)
}

// RandomSizes is n pods, no two of which need be alike: 50m to 4 cores and 64 MiB to
// 16 GiB, each drawn evenly in steps of 10m and 1 MiB.
func RandomSizes(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		pods = append(pods, sized(fmt.Sprintf("pod-%06d", i), 10*(5+d.Int64N(396)), 64+d.Int64N(16<<10-63)))
	}
	return pods
}

// LargeCI is n build and test jobs of which only a few share a machine: 3 to 15 cores
// with 5 to 60 GiB, in forty sizes that are no fractions of machines.
func LargeCI(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	kinds := make([]kind, 40)
	for i := range kinds {
		cores := 3 + d.Int64N(13)
		kinds[i] = kind{share: 1 + d.Int64N(10), milliCPU: 1000*cores - 250*d.Int64N(4), mib: cores * (1700 + d.Int64N(2400))}
	}
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		k := draw(d, kinds)
		pods = append(pods, sized(fmt.Sprintf("build-%06d", i), k.milliCPU, k.mib))
	}
	return pods
}

// Services is n pods of Deployments as a company has them: requests are log-normal around
// 400m and 2 GiB a core, and replicas have a heavy tail, so that most services have a few
// and a few have most of the pods.
func Services(n int, seed uint64) []*corev1.Pod { return services(n, seed, false) }

// ServicesWithTerms is the same pods. A third of the services spread over zones, and a sixth
// of those with up to thirty replicas want a host for each.
func ServicesWithTerms(n int, seed uint64) []*corev1.Pod { return services(n, seed, true) }

func services(n int, seed uint64, terms bool) []*corev1.Pod {
	d := newDice(seed)
	pods := make([]*corev1.Pod, 0, n)
	for i := 0; len(pods) < n; i++ {
		name := fmt.Sprintf("service-%04d", i)
		replicas := min(heavy(d, max(n/10, 1)), n-len(pods))
		milliCPU := clamp(400*math.Exp(0.9*d.NormFloat64()), 10, 12_000)
		mib := clamp(milliCPU/1000*2048*math.Exp(0.8*d.NormFloat64()), 16, 60_000)
		spread, alone := d.IntN(3) == 0, d.IntN(6) == 0
		opts := []schedulingtest.PodOption{
			schedulingtest.Label("app", name),
			schedulingtest.Requests(schedulingtest.MilliCPU(int64(math.Round(milliCPU/5))*5), schedulingtest.MiB(int64(mib))),
		}
		if terms && spread {
			opts = append(opts, schedulingtest.Spread(corev1.LabelTopologyZone))
		}
		if terms && alone && replicas <= 30 {
			opts = append(opts, schedulingtest.Apart(corev1.LabelHostname))
		}
		pods = append(pods, schedulingtest.Pods(replicas, name, opts...)...)
	}
	return pods
}

// heavy is a number from 2 to the limit with a Pareto tail: half of the draws are below
// 4, and their mean grows with the limit.
func heavy(d dice, limit int) int {
	return min(int(2/math.Pow(1-d.Float64(), 1/1.1)), max(limit, 2))
}

func clamp(x, low, high float64) float64 { return math.Min(math.Max(x, low), high) }
