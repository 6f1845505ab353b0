package disruption

import (
	"cmp"
	"context"
	"slices"
)

// enough is how much dearer than the bound, as a share, a cluster may be without a look at
// machines that waste little. In clusters of at most fewNodes, which take no time worth
// mentioning, a search that goes on at all goes on until it is at closer.
const (
	enough = 0.025
	// enoughTied is the same where pods depend on each other, in clusters of more than mostWhole.
	enoughTied = 0.03
	closer     = 0.012
	fewNodes   = 300
	// mostLoose is the number of nodes up to which a cluster is tried with nodes filled loosely.
	mostLoose = 100
)

// near reports whether the cluster costs about what it has to.
func (x *search) near() bool {
	if x.walks && x.many() {
		return x.within(enoughTied)
	}
	return x.within(enough)
}

// within reports whether the cluster costs at most so much more than the bound, as a share.
func (x *search) within(share float64) bool {
	return float64(x.price()) <= (1+share)*float64(x.target.bound)
}

// best runs the search from several beginnings and returns the one that ends cheapest, in
// large clusters the first that ends near the bound: with nodes that are to stay, whatever
// else goes, since they are worth it (see surplus), and with none. If none ends near the
// bound, the cheapest goes on until nothing finds a move. Where pods do not depend on each other,
// all that is only done if moves of many nodes at once do not end near the bound.
//
// Where that leads none near the bound, small clusters are tried with nodes filled loosely.
func (x *search) best(ctx context.Context) (*search, error) {
	if x.near() {
		y := x.scratch()
		if err := y.run(ctx, 0); err != nil || over(ctx) || x.walks {
			return y, err
		}
		return x.again(ctx, y, 0)
	}
	if x.walks {
		return x.steadily(ctx)
	}
	if x.together = false; x.patient && !x.piecemeal && len(x.state.nodes) <= mostWhole && !x.single {
		best, err := x.wholly(ctx)
		if err != nil || best.near() || over(ctx) {
			x.together = true
			return best, err
		}
	}
	goal := enough
	if len(x.state.nodes) <= fewNodes && !x.single {
		goal = closer
	}
	x.loosens = x.mayLoosen()
	var best *search
	level := 0
	for _, begin := range x.beginnings() {
		if best != nil && best.near() && begin.loosely != best.loosened {
			continue
		}
		y, at, err := begin.run(ctx, goal)
		if err != nil {
			return nil, err
		}
		if y.near() {
			x.ends = append(x.ends, y)
		}
		if best == nil || x.better(y, best) {
			best, level = y, at
		}
		if over(ctx) {
			return best, nil
		}
		if best.within(goal) {
			break
		}
	}
	if best.near() {
		return x.again(ctx, best, level)
	}
	if err := best.exhaust(ctx); err != nil || over(ctx) {
		return best, err
	}
	x.ends = append(x.ends, best)
	return x.again(ctx, best, len(wastes())-1)
}

// better reports whether a search that began where x stands ends better than another one:
// cheaper, what is disrupted counted as well, or as cheap with fewer pods moved.
func (x *search) better(y, than *search) bool {
	if y.near() != than.near() && y.loosened == than.loosened {
		return y.near()
	}
	return cmp.Or(cmp.Compare(x.toll(y), x.toll(than)), cmp.Compare(y.moved(), than.moved())) < 0
}

// pains is what it is worth not to remove nodes, as a share of what they cost by what it
// costs to remove them, where one end of the search is compared with another: more where
// budgets of pools say that few are to go at once.
const (
	pains      = 0.01
	mostlyKept = 0.05
)

// toll is what the cluster costs where a search that began where x stands has ended, with what
// is disrupted on the way.
func (x *search) toll(y *search) float64 {
	price, cost, rate := 0.0, 0.0, pains
	for _, s := range x.frame.subjects {
		if s.pool != nil && !s.gone {
			price, cost = price+float64(s.price), cost+s.cost
		}
	}
	if x.frame.tight() {
		rate = mostlyKept
	}
	return float64(y.price()) + rate*price/max(cost, 1e-9)*y.disrupted()
}

// tight reports whether budgets of pools do not let all of their nodes go at once.
func (f *frame) tight() bool {
	return slices.ContainsFunc(f.ordered, func(p *poolState) bool { return f.room(p, Underutilized) < p.counted })
}

// disrupted is what it costs to move all pods that move.
func (x *search) disrupted() float64 {
	cost := 0.0
	for name := range x.movers() {
		if pod := x.state.pods[name]; pod != nil {
			cost += x.frame.podCost(pod)
		}
	}
	return cost
}

// mayLoosen reports whether it may help to fill nodes loosely: steps become large, and save
// much at their end only, which is no gain where budgets cut them into parts.
func (x *search) mayLoosen() bool {
	return len(x.state.nodes) <= mostLoose && !x.single && !x.frame.tight()
}

// beginning is a way in which the search begins.
type beginning struct {
	// run searches until it is so near the bound or finds nothing more, and tells at which
	// level it ended.
	run func(ctx context.Context, goal float64) (*search, int, error)
	// loosely says that nodes are filled loosely, which is for clusters that nothing else
	// brings near the bound.
	loosely bool
}

// beginnings are the ways in which the search begins.
func (x *search) beginnings() []beginning {
	var tight, loose []beginning
	var known [][]string
	for _, share := range shares() {
		leave := x.surplus(share)
		if slices.ContainsFunc(known, func(other []string) bool { return slices.Equal(leave, other) }) {
			continue
		}
		known = append(known, leave)
		tight = append(tight, beginning{run: func(ctx context.Context, goal float64) (*search, int, error) { return x.from(ctx, leave, goal) }})
		loose = append(loose, beginning{loosely: true, run: func(ctx context.Context, goal float64) (*search, int, error) { return x.loosely(ctx, leave, goal) }})
	}
	if x.loosens {
		tight = append(tight, loose...)
	}
	return append(tight, beginning{run: x.fromNothing})
}

// loosely is from with nodes filled loosely at first.
func (x *search) loosely(ctx context.Context, leave []string, goal float64) (*search, int, error) {
	z := x.scratch()
	z.loose = true
	y, level, err := z.from(ctx, leave, goal)
	if err != nil || over(ctx) {
		return y, level, err
	}
	err = y.tighten(ctx, level)
	return y, level, err
}

// tighten goes on with nodes filled well, as the next plan will.
func (x *search) tighten(ctx context.Context, level int) error {
	if !x.loose {
		return nil
	}
	x.loose, x.loosened = false, true
	return x.run(ctx, level)
}

// from runs the search with nodes that are to go, level after level.
func (x *search) from(ctx context.Context, leave []string, goal float64) (*search, int, error) {
	y := x.scratch()
	if err := y.guided(ctx, leave); err != nil {
		return nil, 0, err
	}
	for level := 0; ; level++ {
		if err := y.run(ctx, level); err != nil {
			return nil, 0, err
		}
		if y.within(goal) || level == len(wastes())-1 || over(ctx) {
			return y, level, nil
		}
	}
}

// fromNothing runs the search at level after level until one ends near the bound. Each
// begins anew: nodes that go only at a later level should not receive pods at an earlier
// one. It returns the cheapest.
func (x *search) fromNothing(ctx context.Context, goal float64) (best *search, at int, err error) {
	for level := range wastes() {
		y := x.scratch()
		if err := y.run(ctx, level); err != nil {
			return nil, 0, err
		}
		if best == nil || y.price() < best.price() || y.price() == best.price() && y.moved() < best.moved() {
			best, at = y, level
		}
		if best.within(goal) || over(ctx) {
			break
		}
	}
	return best, at, nil
}

// exhaust goes on until no beginning and no level finds a move, so that the next plan finds
// none either.
func (x *search) exhaust(ctx context.Context) error {
	ways := []bool{false}
	if x.loosens {
		ways = []bool{true, false}
	}
	for {
		before := len(x.moves)
		for _, x.loose = range ways {
			for _, share := range shares() {
				if err := x.guided(ctx, x.surplus(share)); err != nil || over(ctx) {
					return past(ctx, err)
				}
			}
		}
		if err := x.run(ctx, len(wastes())-1); err != nil || over(ctx) || len(x.moves) == before {
			return err
		}
	}
}

// run looks for moves, round after round, until rounds find none. Rounds begin with nodes
// that waste the share of that level, and look at those of the levels before as well. What
// they do depends on the cluster as it stands alone, so that the next plan begins with the
// rounds that found nothing.
func (x *search) run(ctx context.Context, level int) error {
	for idle, at := 0, level; idle <= level; at = (at + 1) % (level + 1) {
		before := len(x.moves)
		if err := x.round(ctx, wastes()[at]); err != nil || over(ctx) {
			return past(ctx, err)
		}
		if idle++; len(x.moves) > before {
			idle, at = 0, level-1
		}
	}
	return nil
}

// again runs a search once more, in all but the largest clusters, with what it has found out
// about which nodes go, so that pods go at once where they stay, and steps are small. It
// returns the better of both.
func (x *search) again(ctx context.Context, y *search, level int) (*search, error) {
	if len(y.moves) == 0 || len(x.state.nodes) > 2*manyNodes {
		return y, nil
	}
	z := x.scratch()
	z.loose = y.loosened
	if err := z.guided(ctx, y.gone(x)); err != nil {
		return nil, err
	}
	if err := z.run(ctx, level); err != nil {
		return nil, err
	}
	if err := z.tighten(ctx, level); err != nil {
		return nil, err
	}
	if over(ctx) || !x.better(z, y) {
		return y, nil
	}
	var err error
	if !y.near() {
		err = z.exhaust(ctx)
	}
	return z, err
}
