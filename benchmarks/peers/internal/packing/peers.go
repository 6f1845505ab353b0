package packing

import (
	"context"
	"math"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Peer is one of the heuristics.
type Peer struct {
	// BestFit prefers the open machine with the least room left; otherwise the one
	// opened first is filled first.
	BestFit bool
	// AllTypes opens, for each pod that fits nowhere, the type that costs least for
	// the room that can be used, and in the end replaces each machine by the cheapest
	// that holds its pods. Otherwise every type is tried alone, and the one wins that
	// places most pods, then the cheapest.
	AllTypes bool
}

// Name implements [peer.Peer].
func (h Peer) Name() string {
	name := "first-fit"
	if h.BestFit {
		name = "best-fit"
	}
	if h.AllTypes {
		return name + " all types"
	}
	return name + " one type"
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
	late      bool
}

// Solve implements [peer.Run]. Reading the problem counts, as it does for Plimsoll.
func (r *run) Solve(ctx context.Context) error {
	s, err := NewShop(r.problem)
	if err != nil {
		return err
	}
	r.shop = s
	p := newPacker(s, r.heuristic.BestFit)
	if r.heuristic.AllTypes {
		r.bins, _ = p.run(p.cheapestRoom, math.MaxInt64)
		p.retype(r.bins)
		return nil
	}
	r.bins, r.late = p.oneType(ctx)
	return nil
}

// Outcome implements [peer.Run].
func (r *run) Outcome() (peer.Outcome, error) {
	return peer.Outcome{Machines: r.shop.Machines(r.bins), Late: r.late}, nil
}

// cheapestRoom is the option that costs least for the room that what is left can use.
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

// oneType tries every option alone.
func (p *packer) oneType(ctx context.Context) (bins []*Bin, late bool) {
	placed, price := -1, offerings.Price(math.MaxInt64)
	for i := range p.Options {
		if ctx.Err() != nil {
			return bins, true
		}
		o := &p.Options[i]
		can := 0
		for c, class := range p.Classes {
			if o.Admits[c] {
				can += len(class.Pods)
			}
		}
		if can < placed {
			continue
		}
		over := offerings.Price(math.MaxInt64)
		if can == placed {
			over = price - 1
		}
		found, ok := p.run(func(class int, _ []int64) *Option {
			if o.Admits[class] {
				return o
			}
			return nil
		}, over)
		if ok {
			bins, placed = found, can
			price, _ = o.Offering.Price.Times(int64(len(found)))
		}
	}
	return bins, false
}
