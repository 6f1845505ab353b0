package autoscaler

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
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
	// Plimsoll takes the group that package expander of adapters/clusterautoscaler chooses.
	Plimsoll
)

// Peer is the imitation with one expander.
type Peer struct {
	Expander Expander
	// SpotFirst leaves groups on demand out of each choice that has groups on spot, as the expander "priority" does before
	// another one.
	SpotFirst bool
}

// Name implements [peer.Peer].
func (p Peer) Name() string {
	switch p.Expander {
	case Price:
		return "autoscaler price"
	case Plimsoll:
		return "autoscaler plimsoll"
	}
	return "autoscaler least-waste"
}

// Load implements [peer.Peer].
func (p Peer) Load(problem scheduling.Problem) (peer.Run, error) {
	if err := packing.Supported(problem); err != nil {
		return nil, err
	}
	return &run{peer: p, problem: problem}, nil
}

type run struct {
	peer    Peer
	problem scheduling.Problem
	shop    *packing.Shop
	bins    []*packing.Bin
	late    bool
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
		var ups []*scaleUp
		for i := range s.Options {
			if r.late = ctx.Err() != nil; r.late {
				return nil // the decisions made so far count
			}
			if up := e.estimate(&s.Options[i], pending); up != nil {
				ups = append(ups, up)
			}
		}
		best, err := r.choose(ctx, ups)
		if err != nil {
			return err
		}
		if best == nil {
			return nil
		}
		for c, n := range best.classes() {
			pending[c] -= n
		}
		r.bins = append(r.bins, best.bins...)
	}
}

// choose is the choice of the expander; nil where there is no scale-up.
func (r *run) choose(ctx context.Context, ups []*scaleUp) (*scaleUp, error) {
	if spot := onSpot(ups); r.peer.SpotFirst && len(spot) > 0 {
		ups = spot
	}
	if r.peer.Expander == Plimsoll && len(ups) > 0 {
		return r.ask(ctx, ups)
	}
	var best *scaleUp
	for _, up := range ups {
		if best == nil || up.score(r.peer.Expander) < best.score(r.peer.Expander) {
			best = up
		}
	}
	return best, nil
}

// onSpot are the scale-ups of groups on spot.
func onSpot(ups []*scaleUp) []*scaleUp {
	return slices.DeleteFunc(slices.Clone(ups), func(u *scaleUp) bool { return u.option.Offering.CapacityType != offerings.Spot })
}

// Outcome implements [peer.Run].
func (r *run) Outcome() (peer.Outcome, error) {
	return peer.Outcome{Machines: r.shop.Machines(r.bins), Late: r.late}, nil
}
