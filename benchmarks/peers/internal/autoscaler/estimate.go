package autoscaler

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
)

// The price expander's values of a core, a GiB and any other device, in USD per hour:
// the order of magnitude of list prices, because only proportions matter.
const (
	coreWorth   = 0.033
	gibWorth    = 0.0045
	deviceWorth = 0.7
)

// scaleUp is the estimate for one node group: the nodes that it would add, with their pods.
type scaleUp struct {
	option *packing.Option
	bins   []*packing.Bin
	// waste is the unused share of CPU plus that of memory; rate is the price divided by
	// the value of the requested resources.
	waste, rate float64
}

func (u *scaleUp) score(e Expander) float64 {
	if e == Price {
		return u.rate
	}
	return u.waste
}

// classes are the numbers of pods that the scale-up places, by class.
func (u *scaleUp) classes() map[int]int {
	counts := map[int]int{}
	for _, b := range u.bins {
		for _, l := range b.Loads {
			counts[l.Class] += l.Count
		}
	}
	return counts
}

type estimator struct {
	*packing.Shop
	cpu, memory int // columns, -1 if no pod requests the resource
	worth       []float64
}

func newEstimator(s *packing.Shop) *estimator {
	e := &estimator{Shop: s, cpu: slices.Index(s.Resources, corev1.ResourceCPU), memory: slices.Index(s.Resources, corev1.ResourceMemory)}
	for _, name := range s.Resources {
		switch name {
		case corev1.ResourceCPU:
			e.worth = append(e.worth, coreWorth/1000)
		case corev1.ResourceMemory:
			e.worth = append(e.worth, gibWorth/(1<<30))
		case corev1.ResourcePods, corev1.ResourceEphemeralStorage:
			e.worth = append(e.worth, 0)
		default:
			e.worth = append(e.worth, deviceWorth)
		}
	}
	return e
}

// estimate fills nodes of one group with the pending pods that it can take; nil where
// it can take none. Pods go in order of the share that they take of a node. A node that
// turned a pod down is offered the smaller ones that follow, from the newest node back
// to the oldest.
func (e *estimator) estimate(o *packing.Option, pending []int) *scaleUp {
	var order []int
	size := map[int]float64{}
	for c, n := range pending {
		if n > 0 && o.Admits[c] {
			order = append(order, c)
			size[c] = e.share(e.cpu, e.Classes[c].Requests, o.Room) + e.share(e.memory, e.Classes[c].Requests, o.Room)
		}
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	least := e.Least(order)
	up := &scaleUp{option: o}
	var open []*packing.Bin
	for _, c := range order {
		n := pending[c]
		for _, b := range slices.Backward(open) {
			n -= e.Put(b, c, n)
		}
		for n > 0 {
			b := packing.NewBin(o)
			n -= e.Put(b, c, n)
			up.bins, open = append(up.bins, b), append(open, b)
		}
		open = packing.Open(open, least)
	}
	e.rate(up, o)
	return up
}

func (e *estimator) share(column int, part, of []int64) float64 {
	if column < 0 || of[column] <= 0 {
		return 0
	}
	return float64(part[column]) / float64(of[column])
}

// rate sets waste and rate of a scale-up, the figures by which expanders compare groups.
func (e *estimator) rate(up *scaleUp, o *packing.Option) {
	left := make([]int64, len(e.Resources))
	room := make([]int64, len(e.Resources))
	worth := 0.0
	for _, b := range up.bins {
		for i := range left {
			left[i] += b.Left[i]
			room[i] += o.Room[i]
			worth += e.worth[i] * float64(o.Room[i]-b.Left[i])
		}
	}
	up.waste = e.share(e.cpu, left, room) + e.share(e.memory, left, room)
	// Half a core's worth on both sides keeps tiny scale-ups from looking extreme.
	const steady = coreWorth / 2
	up.rate = (float64(len(up.bins))*o.Offering.Price.USD() + steady) / (worth + steady)
}
