package packing

import (
	"cmp"
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// packer fills machines with classes, the largest first.
type packer struct {
	*Shop
	order []int // of classes
	best  bool  // best fit rather than first fit
	// worth is the value of one unit of each resource: its share of all requests. Pod slots
	// have none, because small machines have more than enough of them.
	worth []float64
}

func newPacker(s *Shop, best bool) *packer {
	p := &packer{Shop: s, best: best, worth: make([]float64, len(s.Resources))}
	demand := s.demand()
	for i, total := range demand {
		if total > 0 && s.Resources[i] != corev1.ResourcePods {
			p.worth[i] = 1 / float64(total)
		}
	}
	size := make([]float64, len(s.Classes))
	for c, class := range s.Classes {
		p.order = append(p.order, c)
		size[c] = p.value(class.Requests)
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return p
}

// demand is the sum of all requests.
func (s *Shop) demand() []int64 {
	sum := make([]int64, len(s.Resources))
	for _, c := range s.Classes {
		for i, q := range c.Requests {
			sum[i] += q * int64(len(c.Pods))
		}
	}
	return sum
}

func (p *packer) value(v []int64) float64 {
	sum := 0.0
	for i, n := range v {
		sum += p.worth[i] * float64(n)
	}
	return sum
}

// run packs every class. A class that fits no open machine opens the option that costs least
// for the room that the pods left can use.
func (p *packer) run() []*Bin {
	var all, open []*Bin
	left, least := p.demand(), p.Least(p.order)
	for _, c := range p.order {
		class := &p.Classes[c]
		n := len(class.Pods)
		if p.best {
			slices.SortStableFunc(open, func(a, b *Bin) int { return cmp.Compare(p.value(a.Left), p.value(b.Left)) })
		}
		for _, b := range open {
			n -= p.Put(b, c, n)
		}
		for n > 0 {
			option := p.cheapestRoom(c, left)
			if option == nil {
				break
			}
			b := NewBin(option)
			k := p.Put(b, c, n)
			n -= k
			for i, q := range class.Requests {
				left[i] -= q * int64(k)
			}
			all, open = append(all, b), append(open, b)
		}
		open = Open(open, least)
	}
	return all
}

// retype replaces the option of each machine by the cheapest that holds its pods.
func (p *packer) retype(bins []*Bin) {
	for _, b := range bins {
		used := make([]int64, len(p.Resources))
		for _, l := range b.Loads {
			for i, q := range p.Classes[l.Class].Requests {
				used[i] += q * int64(l.Count)
			}
		}
		for i := range p.Options { // the cheapest first
			o := &p.Options[i]
			if fits(used, o.Room) > 0 && !slices.ContainsFunc(b.Loads, func(l Load) bool { return !o.Admits[l.Class] }) {
				b.Option = o
				break
			}
		}
	}
}

// Peer is first-fit or best-fit decreasing over all types: a pod that fits nowhere opens the
// type that costs least for the room that can be used, and in the end each machine becomes the
// cheapest that holds its pods.
type Peer struct {
	// BestFit prefers the open machine with the least room left; otherwise the one
	// opened first is filled first.
	BestFit bool
}

// Name implements [peer.Peer].
func (h Peer) Name() string {
	if h.BestFit {
		return "best-fit all types"
	}
	return "first-fit all types"
}

// Load implements [peer.Peer].
func (h Peer) Load(p scheduling.Problem) (peer.Run, error) {
	if err := Supported(p); err != nil {
		return nil, err
	}
	return &run{heuristic: h, problem: p}, nil
}

type run struct {
	heuristic Peer
	problem   scheduling.Problem
	shop      *Shop
	bins      []*Bin
}

// Solve implements [peer.Run]. Reading the problem counts, as it does for Plimsoll.
func (r *run) Solve(context.Context) error {
	s, err := NewShop(r.problem)
	if err != nil {
		return err
	}
	r.shop = s
	p := newPacker(s, r.heuristic.BestFit)
	r.bins = p.run()
	p.retype(r.bins)
	return nil
}

// Outcome implements [peer.Run].
func (r *run) Outcome() (peer.Outcome, error) {
	return peer.Outcome{Machines: r.shop.Machines(r.bins)}, nil
}

// cheapestRoom is the option that costs least for the room that the pods left can use.
func (p *packer) cheapestRoom(class int, left []int64) *Option {
	var best *Option
	score := math.Inf(1)
	for i := range p.Options {
		o := &p.Options[i]
		if !o.Admits[class] {
			continue
		}
		usable := 0.0
		for j, n := range o.Room {
			usable += p.worth[j] * float64(max(0, min(n, left[j])))
		}
		if s := float64(o.Offering.Price) / usable; s < score || best == nil {
			best, score = o, s
		}
	}
	return best
}
