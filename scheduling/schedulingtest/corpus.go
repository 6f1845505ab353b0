package schedulingtest

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
)

// MixedSizes is n pods of thirty sizes, drawn evenly: 100m, 250m, 500m, 1 or 1.5
// cores with 100, 256, 512, 1024, 2048 or 4096 MiB. Karpenter's own packing
// benchmark draws from the same sizes.
func MixedSizes(n int, seed uint64) []*corev1.Pod {
	d := dice.New(seed)
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		cpu := dice.Pick[int64](d, 100, 250, 500, 1000, 1500)
		memory := dice.Pick[int64](d, 100, 256, 512, 1024, 2048, 4096)
		pods = append(pods, Pod(fmt.Sprintf("pod-%06d", i), Requests(MilliCPU(cpu), MiB(memory))))
	}
	return pods
}

// Diverse returns n pods as Karpenter's scheduling benchmark draws them, of sizes like those of [MixedSizes]: a fifth
// each of plain pods, of pods that spread over zones and of pods that spread over hosts, by a label which need not be
// their own, of pods with affinity to each other in a zone, and of pods with anti-affinity over hosts.
func Diverse(n int, seed uint64) []*corev1.Pod {
	d := dice.New(seed)
	letter := func() string { return dice.Pick(d, "a", "b", "c", "d", "e", "f", "g") }
	labelled := func() []PodOption { return []PodOption{Label("my-label", letter())} }
	kinds := []func() []PodOption{
		labelled,
		func() []PodOption {
			return append(labelled(), Spread(corev1.LabelTopologyZone, Of("my-label", letter())))
		},
		func() []PodOption { return append(labelled(), Spread(corev1.LabelHostname, Of("my-label", letter()))) },
		func() []PodOption {
			return []PodOption{Label("my-affinity", letter()), Near(corev1.LabelTopologyZone)}
		},
		func() []PodOption { return []PodOption{Label("app", "nginx"), Apart(corev1.LabelHostname)} },
	}
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		// The remainder of a division by five is plain pods.
		kind := min(i/max(n/len(kinds), 1), len(kinds)) % len(kinds)
		cpu := dice.Pick[int64](d, 100, 250, 500, 1000, 1500)
		memory := dice.Pick[int64](d, 100, 256, 512, 1024, 2048, 4096)
		pods = append(pods, Pod(fmt.Sprintf("pod-%06d", i), append(kinds[kind](), Requests(MilliCPU(cpu), MiB(memory)))...))
	}
	return pods
}

// Workloads returns n pods of a number of classes. As in most clusters, a few classes have most of the pods. CPU is
// log-normal around 400m, memory around 2 GiB for each core with a wide spread.
func Workloads(n, classes int, seed uint64) []*corev1.Pod {
	d := dice.New(seed)
	classes = max(1, min(classes, n))
	share := make([]float64, classes)
	var total float64
	for i := range share {
		share[i] = math.Exp(1.2 * d.NormFloat64())
		total += share[i]
	}
	pods := make([]*corev1.Pod, 0, max(n, 0))
	for i := range classes {
		// Each remaining class needs one pod.
		room := n - len(pods) - (classes - i - 1)
		count := min(max(1, int(share[i]/total*float64(n))), room)
		if i == classes-1 {
			count = room
		}
		name := fmt.Sprintf("class-%04d", i)
		cpu := clamp(400*math.Exp(0.9*d.NormFloat64()), 10, 12_000)
		memory := clamp(cpu/1000*2048*math.Exp(0.8*d.NormFloat64()), 16, 60_000)
		pods = append(pods, Pods(count, name, Label("app", name), Requests(MilliCPU(cpu5(cpu)), MiB(int64(memory))))...)
	}
	return pods
}

// cpu5 rounds to 5m, as people do.
func cpu5(milli float64) int64 { return int64(math.Round(milli/5)) * 5 }

func clamp(x, lo, hi float64) float64 { return math.Min(math.Max(x, lo), hi) }
