package disruption

import (
	"context"
	"maps"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// leavingGroup is a set of nodes that are removed together, with the launches for their pods.
type leavingGroup struct {
	nodes         []*leavingNode
	launches      []string
	unplaced      map[string][]string // pods that have no node yet, by kind
	unplacedCount int                 // how many these are
	saving        offerings.Price
	cost          float64
}

// stepForOne is the step in which a node is removed by itself and nothing is launched, nil if there is none.
func (w *ordering) stepForOne(ctx context.Context, l *leavingNode) (*Step, error) {
	mark := w.simulation.Mark()
	g := &leavingGroup{unplaced: map[string][]string{}}
	w.drainNode(g, l)
	w.placeAll(g)
	if g.unplacedCount == 0 {
		if final, err := w.stepOf(ctx, g, mark); final != nil || err != nil {
			return final, err
		}
	}
	w.simulation.Undo(mark)
	return nil, nil //nolint:nilnil // no step is an answer
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

// stepForGroup is the step in which as few nodes as possible are removed at once, nil if there is none.
func (w *ordering) stepForGroup(ctx context.Context) (*Step, error) {
	for i, first := range slices.Clone(w.remaining) {
		if i >= mostBegun || outOfTime(ctx) {
			break
		}
		mark := w.simulation.Mark()
		g := &leavingGroup{unplaced: map[string][]string{}}
		w.drainAndLaunch(g, first)
		for again, last := 0, false; ; {
			if n := len(g.nodes); g.unplacedCount == 0 && (g.saving > 0 || w.reason != Underutilized) && (n >= again || last) {
				if final, err := w.stepOf(ctx, g, mark); final != nil || err != nil {
					w.lastLaunched = g.launches
					return final, err
				}
				again = n + 1 + n/patience
			}
			if last || outOfTime(ctx) {
				break
			}
			last = !w.grow(g)
		}
		w.simulation.Undo(mark)
		if len(g.nodes) == len(w.remaining) {
			break // another first node leads to the same group
		}
	}
	return nil, nil //nolint:nilnil // no step is an answer
}

// grow adds to a group the node that leaves the fewest pods without a destination, and saves most. It reports false
// if there is none.
func (w *ordering) grow(g *leavingGroup) bool {
	var best *leavingNode
	var most *leavingGroup
	tried := 0
	for _, l := range w.remaining {
		if slices.Contains(g.nodes, l) {
			continue
		}
		if tried++; tried > max(1, mostJoined*mostEasy/(mostEasy+len(g.nodes))) {
			break
		}
		mark := w.simulation.Mark()
		with := *g
		with.nodes, with.launches, with.unplaced = slices.Clip(g.nodes), slices.Clip(g.launches), maps.Clone(g.unplaced)
		if w.drainAndLaunch(&with, l); withinBudgets(w.state, w.reason, leavingNames(with.nodes)) && (most == nil || with.betterThan(most)) {
			best, most = l, &with
		}
		w.simulation.Undo(mark)
	}
	if best == nil {
		return false
	}
	w.drainAndLaunch(g, best)
	return true
}

// betterThan reports whether a group is nearer to a step than another: fewer pods without a destination, then the
// larger saving for its disruption cost.
func (g *leavingGroup) betterThan(than *leavingGroup) bool {
	if g.unplacedCount != than.unplacedCount {
		return g.unplacedCount < than.unplacedCount
	}
	if g.saving <= 0 || than.saving <= 0 {
		return g.saving > than.saving
	}
	return ratio(g.saving, g.cost) > ratio(than.saving, than.cost)
}

// drainAndLaunch adds a node to a group, and the launches for its pods.
func (w *ordering) drainAndLaunch(g *leavingGroup, l *leavingNode) {
	w.drainNode(g, l)
	w.placeAll(g)
	for more := g.unplacedCount > 0; more; {
		more = w.launchFor(g)
	}
}

// drainNode adds a node to a group and takes all pods off it.
func (w *ordering) drainNode(g *leavingGroup, l *leavingNode) {
	g.nodes = append(g.nodes, l)
	g.saving, g.cost = offerings.Sum(g.saving, l.price), g.cost+l.cost
	for _, kind := range l.kinds {
		for _, pod := range l.pods[kind] {
			w.simulation.Move(w.simulation.Pods[pod], "")
		}
		g.unplaced[kind] = slices.Concat(g.unplaced[kind], l.pods[kind])
		g.unplacedCount += len(l.pods[kind])
	}
	if len(l.kinds) == 0 {
		w.simulation.CountNode(l.name, -1)
		w.simulation.OnUndo(func() { w.simulation.CountNode(l.name, 1) })
	}
}

// placeAll moves unplaced pods of a group to the destinations where they fit now.
func (w *ordering) placeAll(g *leavingGroup) {
	for again := true; again && g.unplacedCount > 0; {
		again = false
		for _, kind := range slices.Sorted(maps.Keys(g.unplaced)) {
			rest := g.unplaced[kind]
			for len(rest) > 0 && w.place(kind, w.simulation.Pods[rest[0]]) {
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
func (w *ordering) place(kind string, a *landing.Pod) bool {
	places := w.destinations[kind]
	for _, node := range w.destinationOrder[kind] {
		if places[node] == 0 || w.launches[node] != nil && !w.launched[node] {
			continue
		}
		was := a.To
		a.To = node
		if !w.simulation.Fits(a) {
			a.To = was
			continue
		}
		places[node]--
		w.simulation.Move(a, node)
		w.simulation.OnUndo(func() {
			places[node]++
			a.To = was
		})
		return true
	}
	return false
}

// launchFor adds the launch that the unplaced pods fill most for its price. It reports false if there is none.
func (w *ordering) launchFor(g *leavingGroup) bool {
	fill := map[string]float64{}
	for kind, pods := range g.unplaced {
		for node, n := range w.destinations[kind] {
			if w.launches[node] != nil && !w.launched[node] && n > 0 {
				fill[node] += float64(min(len(pods), n)) * w.weight[kind]
			}
		}
	}
	best, most := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(fill)) {
		if share := ratio(1, float64(w.state.prices().Launch(w.launches[name]))) * fill[name]; best == "" || share > most {
			best, most = name, share
		}
	}
	if best == "" {
		return false
	}
	g.launches = append(g.launches, best)
	w.setLaunched(g, best, true)
	w.placeAll(g)
	return true
}

// setLaunched notes that a launch exists, or no longer.
func (w *ordering) setLaunched(g *leavingGroup, name string, there bool) {
	sign := int64(1)
	if !there {
		sign = -1
	}
	set := func(there bool, by int64) {
		w.launched[name] = there
		w.simulation.CountNode(name, by)
	}
	set(there, sign)
	w.simulation.OnUndo(func() { set(!there, -sign) })
	g.saving = offerings.Sum(g.saving, offerings.Price(-sign)*w.state.prices().Launch(w.launches[name]))
}

// stepOf is the step that removes a group whose pods have all found destinations since a mark, nil if it is not
// admitted. Launches that have stayed empty are left out: a rule keeps the pods away for which they were planned, or
// these fit elsewhere by now.
func (w *ordering) stepOf(ctx context.Context, g *leavingGroup, mark int) (*Step, error) {
	o := &outcome{}
	for _, l := range g.nodes {
		o.nodes = append(o.nodes, l.name)
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				o.evictions = append(o.evictions, Eviction{Pod: pod, From: l.name, To: w.simulation.Pods[pod].On})
			}
		}
	}
	slices.Sort(o.nodes)
	slices.SortFunc(o.evictions, compareEvictions)
	g.launches = slices.DeleteFunc(slices.Clone(g.launches), func(name string) bool {
		idle := !slices.ContainsFunc(o.evictions, func(e Eviction) bool { return e.To == name })
		if idle {
			w.setLaunched(g, name, false)
		}
		return idle
	})
	// Pods have found destinations node by node, before all launches existed, but are away at the same time.
	all := lo.Map(o.evictions, func(e Eviction, _ int) *landing.Pod { return w.simulation.Pods[e.Pod] })
	if len(g.nodes)+len(g.launches) > 1 && !w.simulation.Possible(all, true) {
		return nil, nil
	}
	for _, name := range slices.Sorted(slices.Values(g.launches)) {
		l := withEvictions(w.launches[name], o.evictions, w.state)
		l.Options = w.launches[name].Options // pods of a kind exchange their destinations
		o.launches = append(o.launches, l)
	}
	if _, ok := w.state.stock.Affords(o.launches, w.state.nodesExcept(o.nodes...), w.state.planner.Policy.Flexibility); !ok {
		return nil, nil
	}
	if w.resimulates {
		var err error
		if o, err = w.resimulated(ctx, o); o == nil || err != nil {
			return nil, err
		}
	}
	final, cause := decide(w.state, w.reason, o, w.closedNodes())
	if cause != nil {
		return nil, nil
	}
	w.simulation.Keep(mark)
	return final, nil
}

// stepWithMoreLaunches is a step with launches beyond the plan, for nodes of whose pods kube-scheduler would leave
// some without a node: all remaining nodes, if budgets allow that, or the first that can be removed alone, or else
// several that one launch may replace. It is nil if there is none, and where pods are pinned.
func (w *ordering) stepWithMoreLaunches(ctx context.Context) (*Step, error) {
	if w.state.pinned {
		return nil, nil
	}
	if !w.resimulates {
		defer w.state.sessions.Defer()
		if err := w.state.sessions.ApplyDeferred(); err != nil {
			return nil, err
		}
	}
	for name := range w.launches {
		w.state.usedNames[name] = true // it may still be launched
	}
	closed := w.closedNodes()
	waits := leavingNames(w.remaining)
	groups := lo.Chunk(waits, 1)
	if len(waits) > 1 && withinBudgets(w.state, w.reason, waits) {
		groups = slices.Insert(groups, 0, waits)
	}
	for size := 2; size < len(waits) && withinBudgets(w.state, w.reason, waits[:size]); size *= 2 {
		groups = append(groups, lo.Chunk(waits, size)...)
	}
	for _, names := range groups {
		if outOfTime(ctx) {
			break
		}
		var sketch *Step
		if len(names) < len(waits) {
			var err error
			if sketch, err = w.moreLaunchesStep(ctx, names, closed, true); err != nil {
				return nil, unlessDeadline(ctx, err)
			}
			if sketch == nil {
				continue
			}
		}
		step, err := w.moreLaunchesStep(ctx, names, closed, false)
		if err != nil {
			return nil, unlessDeadline(ctx, err)
		}
		if step == nil || sketch != nil && sketch.SavingPerHour > step.SavingPerHour {
			step = sketch
		}
		if step != nil {
			return step, nil
		}
	}
	return nil, nil //nolint:nilnil // no step is an answer
}

// moreLaunchesStep is the step that removes nodes and launches machines for those of their pods that would find no
// node, nil if it is not admitted. A brief one takes the first launches that hold these pods.
func (w *ordering) moreLaunchesStep(ctx context.Context, names, closed []string, brief bool) (*Step, error) {
	o, err := bindWithLaunches(ctx, w.state, names, closed, brief, w.failed)
	if err != nil || o == nil {
		return nil, err
	}
	step, _ := decide(w.state, w.reason, o, closed)
	return step, nil
}

// resimulated is an outcome with its pods placed again by the session, with its launches as existing nodes; nil if
// they do not fit.
func (w *ordering) resimulated(ctx context.Context, o *outcome) (*outcome, error) {
	found, err := simulate(ctx, w.state, &whatIf{nodes: o.nodes, effort: scheduling.EffortFast, launches: o.launches, closed: w.closedNodes()})
	if err != nil || len(found.unschedulable) > 0 {
		return nil, unlessDeadline(ctx, err)
	}
	for i := range o.launches {
		l := withEvictions(&o.launches[i], found.evictions, w.state)
		if len(l.Pods) == 0 {
			return nil, nil //nolint:nilnil // no place is an answer
		}
		found.launches = append(found.launches, l)
	}
	return found, nil
}

// closedNodes are the nodes that take in no pods.
func (w *ordering) closedNodes() []string {
	return slices.Concat(leavingNames(w.remaining), w.expectedRemovals)
}

// leavingNames are the names of nodes.
func leavingNames(list []*leavingNode) []string {
	return lo.Map(list, func(l *leavingNode, _ int) string { return l.name })
}
