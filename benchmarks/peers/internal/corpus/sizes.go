package corpus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

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
