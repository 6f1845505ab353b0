package packing

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Bin is a machine that is being filled.
type Bin struct {
	Option *Option
	Left   []int64
	// Loads are the pods in it, class by class.
	Loads []Load
}

// Load is so many pods of a class.
type Load struct{ Class, Count int }

// Open is an empty machine.
func Open(o *Option) *Bin { return &Bin{Option: o, Left: append([]int64(nil), o.Room...)} }

// Fit is how many pods of the class, up to n, still fit.
func (b *Bin) Fit(class int, requests []int64, n int) int {
	if !b.Option.Admits[class] {
		return 0
	}
	return min(n, fits(requests, b.Left))
}

// Put puts n pods of the class in.
func (b *Bin) Put(class int, requests []int64, n int) {
	if n == 0 {
		return
	}
	for i, q := range requests {
		b.Left[i] -= q * int64(n)
	}
	b.Loads = append(b.Loads, Load{class, n})
}

// Machines gives the bins their pods. Each class hands its pods out in order.
func (s *Shop) Machines(bins []*Bin) []peer.Machine {
	next := make([]int, len(s.Classes))
	out := make([]peer.Machine, 0, len(bins))
	for _, b := range bins {
		m := peer.Machine{NodePool: b.Option.Pool, InstanceType: b.Option.InstanceType, Offering: b.Option.Offering}
		var pods []*corev1.Pod
		for _, l := range b.Loads {
			pods = append(pods, s.Classes[l.Class].Pods[next[l.Class]:next[l.Class]+l.Count]...)
			next[l.Class] += l.Count
		}
		m.Pods = pods
		out = append(out, m)
	}
	return out
}
