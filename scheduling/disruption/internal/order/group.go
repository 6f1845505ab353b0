package order

import (
	"context"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// group is a set of nodes that are removed together, with the launches for their pods.
type group struct {
	nodes         []*leaving
	launches      []string
	unplaced      map[string][]string // pods that have no node yet, by kind
	unplacedCount int                 // how many these are
	saving        offerings.Price     // of the nodes minus the launches, in USD per hour
	cost          float64             // the disruption cost of the nodes
}

const (
	// mostBegun is how many nodes are tried as the first of a group.
	mostBegun = 6
	// mostJoined is how many nodes are tried as the next of a group, mostEasy the size of groups for which it is half
	// as many.
	mostJoined = 24
	mostEasy   = 16
	// patience is how rarely a refused group is tried again: when it has grown by this part of its size, because a try
	// takes time in proportion to the size.
	patience = 4
)

// RemoveGroup reports whether as few nodes as possible can be removed at once.
func (o *Order) RemoveGroup(ctx context.Context) (bool, error) {
	for i, first := range slices.Clone(o.remaining) {
		if i >= mostBegun || outOfTime(ctx) {
			break
		}
		mark := o.trial.Mark()
		g := &group{unplaced: map[string][]string{}}
		o.drainAndLaunch(g, first)
		for tried, again, last := 0, 0, false; ; {
			if n := len(g.nodes); n > tried && g.unplacedCount == 0 && (g.saving > 0 || !o.task.MustSave) && (n >= again || last) {
				if ok, err := o.decide(ctx, g, mark); ok || err != nil {
					o.lastLaunched = g.launches
					return ok, err
				}
				tried, again = n, n+1+n/patience
			}
			if last || outOfTime(ctx) {
				break
			}
			last = !o.grow(g)
		}
		o.trial.Undo(mark)
		if len(g.nodes) == len(o.remaining) {
			break // another first node leads to the same group
		}
	}
	return false, nil
}

// grow adds to a group the node that leaves the fewest pods without a destination, and saves most. It reports false
// if there is none.
func (o *Order) grow(g *group) bool {
	var best *leaving
	var most *group
	tried := 0
	for _, l := range o.remaining {
		if slices.Contains(g.nodes, l) {
			continue
		}
		if tried++; tried > max(1, mostJoined*mostEasy/(mostEasy+len(g.nodes))) {
			break
		}
		mark := o.trial.Mark()
		with := *g
		with.nodes, with.launches, with.unplaced = slices.Clip(g.nodes), slices.Clip(g.launches), maps.Clone(g.unplaced)
		if o.drainAndLaunch(&with, l); o.task.WithinBudgets(namesOf(with.nodes)) && (most == nil || with.betterThan(most)) {
			best, most = l, &with
		}
		o.trial.Undo(mark)
	}
	if best == nil {
		return false
	}
	o.drainAndLaunch(g, best)
	return true
}

// betterThan reports whether a group is nearer to a step than another: fewer pods without a destination, then the
// larger saving for its disruption cost.
func (g *group) betterThan(than *group) bool {
	if g.unplacedCount != than.unplacedCount {
		return g.unplacedCount < than.unplacedCount
	}
	if g.saving <= 0 || than.saving <= 0 {
		return g.saving > than.saving
	}
	return pricing.Ratio(g.saving, g.cost) > pricing.Ratio(than.saving, than.cost)
}

// drainAndLaunch adds a node to a group, and the launches for its pods.
func (o *Order) drainAndLaunch(g *group, l *leaving) {
	o.drain(g, l)
	o.placeAll(g)
	for more := g.unplacedCount > 0; more; {
		more = o.launchFor(g)
	}
}

// drain adds a node to a group and takes all pods off it.
func (o *Order) drain(g *group, l *leaving) {
	g.nodes = append(g.nodes, l)
	g.saving, g.cost = offerings.Sum(g.saving, l.node.Price), g.cost+l.node.Cost
	for _, kind := range l.kinds {
		for _, pod := range l.pods[kind] {
			o.trial.Move(o.trial.Pods[pod], "")
		}
		g.unplaced[kind] = slices.Concat(g.unplaced[kind], l.pods[kind])
		g.unplacedCount += len(l.pods[kind])
	}
	if len(l.kinds) == 0 {
		o.trial.CountNode(l.node.Name, -1)
		o.trial.OnUndo(func() { o.trial.CountNode(l.node.Name, 1) })
	}
}

// placeAll moves unplaced pods of a group to the destinations where they fit now.
func (o *Order) placeAll(g *group) {
	for again := true; again && g.unplacedCount > 0; {
		again = false
		for _, kind := range slices.Sorted(maps.Keys(g.unplaced)) {
			rest := g.unplaced[kind]
			for len(rest) > 0 && o.place(kind, o.trial.Pods[rest[0]]) {
				rest, again = rest[1:], true
				g.unplacedCount--
			}
			if g.unplaced[kind] = rest; len(rest) == 0 { // pods of a kind fit on the same nodes
				delete(g.unplaced, kind)
			}
		}
	}
}

// place moves a pod to a destination of its kind, and reports false if it fits on none now.
func (o *Order) place(kind string, a *landing.Pod) bool {
	places := o.destinations[kind]
	for _, node := range o.destinationOrder[kind] {
		if places[node] == 0 || o.launches[node] != nil && !o.launched[node] {
			continue
		}
		was := a.To
		a.To = node
		if !o.trial.Fits(a) {
			a.To = was
			continue
		}
		places[node]--
		o.trial.Move(a, node)
		o.trial.OnUndo(func() {
			places[node]++
			a.To = was
		})
		return true
	}
	return false
}

// launchFor adds the launch that the unplaced pods fill most for its price. It reports false if there is none.
func (o *Order) launchFor(g *group) bool {
	fill := map[string]float64{}
	for _, kind := range slices.Sorted(maps.Keys(g.unplaced)) { // in order, because sums of floats depend on it
		pods := g.unplaced[kind]
		for node, n := range o.destinations[kind] {
			if o.launches[node] != nil && !o.launched[node] && n > 0 {
				fill[node] += float64(min(len(pods), n)) * o.weight[kind]
			}
		}
	}
	best, most := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(fill)) {
		if share := pricing.Ratio(1, float64(o.task.Price(o.launches[name]))) * fill[name]; best == "" || share > most {
			best, most = name, share
		}
	}
	if best == "" {
		return false
	}
	g.launches = append(g.launches, best)
	o.setLaunched(g, best, true)
	o.placeAll(g)
	return true
}

// setLaunched notes that a launch exists, or no longer.
func (o *Order) setLaunched(g *group, name string, there bool) {
	sign := int64(1)
	if !there {
		sign = -1
	}
	set := func(there bool, by int64) {
		o.launched[name] = there
		o.trial.CountNode(name, by)
	}
	set(there, sign)
	o.trial.OnUndo(func() { set(!there, -sign) })
	g.saving = offerings.Sum(g.saving, offerings.Price(-sign)*o.task.Price(o.launches[name]))
}

// outOfTime reports whether the search for a part must end; no part is an answer then, and no error.
func outOfTime(ctx context.Context) bool { return ctx.Err() != nil }
