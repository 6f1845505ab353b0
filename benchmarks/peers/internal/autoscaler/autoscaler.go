package autoscaler

import (
	"context"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Expander chooses among node groups.
type Expander int

// The expanders.
const (
	// LeastWaste takes the group whose nodes would have the smallest share of CPU and
	// memory unused.
	LeastWaste Expander = iota
	// Price takes the group whose nodes have the lowest price in proportion to the list
	// price of the resources that their pods request.
	Price
)

// Peer is the imitation with one expander.
type Peer struct{ Expander Expander }

// Name implements [peer.Peer].
func (p Peer) Name() string {
	if p.Expander == Price {
		return "autoscaler price"
	}
	return "autoscaler least-waste"
}

// Load implements [peer.Peer].
func (p Peer) Load(problem scheduling.Problem) (peer.Run, error) {
	if err := packing.Supported(problem); err != nil {
		return nil, err
	}
	return &run{expander: p.Expander, problem: problem}, nil
}

type run struct {
	expander Expander
	problem  scheduling.Problem
	shop     *packing.Shop
	bins     []*packing.Bin
	late     bool
}

// Solve implements [peer.Run].
func (r *run) Solve(ctx context.Context) error {
	s, err := packing.NewShop(r.problem)
	if err != nil {
		return err
	}
	r.shop = s
	pending := make([]int, len(s.Classes))
	for c := range s.Classes {
		pending[c] = len(s.Classes[c].Pods)
	}
	e := newEstimator(s)
	for {
		var best *scaleUp
		for i := range s.Options {
			if r.late = ctx.Err() != nil; r.late {
				return nil // the decisions made so far count
			}
			up := e.estimate(&s.Options[i], pending)
			if up != nil && (best == nil || up.score(r.expander) < best.score(r.expander)) {
				best = up
			}
		}
		if best == nil {
			return nil
		}
		for _, b := range best.bins {
			for _, l := range b.Loads {
				pending[l.Class] -= l.Count
			}
		}
		r.bins = append(r.bins, best.bins...)
	}
}

// Outcome implements [peer.Run].
func (r *run) Outcome() (peer.Outcome, error) {
	return peer.Outcome{Machines: r.shop.Machines(r.bins), Late: r.late}, nil
}
