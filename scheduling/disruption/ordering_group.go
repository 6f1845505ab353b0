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

// leavingGroup is nodes that leave together, and what is bought for them.
type leavingGroup struct {
	leaving []*leavingNode
	bought  []string
	stuck   map[string][]string // by kind, pods that have no place yet
	lost    int                 // how many they are
	saving  offerings.Price
	cost    float64
}

// leaveAlone is the step in which a node goes by itself and nothing is bought, nil if that cannot
// be.
func (w *ordering) leaveAlone(ctx context.Context, l *leavingNode) (*Step, error) {
	mark := w.simulation.Mark()
	g := &leavingGroup{stuck: map[string][]string{}}
	w.join(g, l)
	w.seatAll(g)
	if g.lost == 0 {
		if final, err := w.stepOf(ctx, g, mark); final != nil || err != nil {
			return final, err
		}
	}
	w.simulation.Undo(mark)
	return nil, nil //nolint:nilnil // no step is an answer
}

const (
	// mostBegun is with how many nodes a group may begin.
	mostBegun = 6
	// mostJoined is among how many nodes the next one is looked for, and mostEasy in groups of
	// how many nodes it is half as many.
	mostJoined = 24
	mostEasy   = 16
	// patience is how many times as large as what it has grown by a group is when it is tried
	// again that must not go: to try it takes as long as it is large.
	patience = 4
)

// leaveTogether is the step in which as few nodes as may be go at once, nil if there is none.
func (w *ordering) leaveTogether(ctx context.Context) (*Step, error) {
	for i, first := range slices.Clone(w.waits) {
		if i >= mostBegun || over(ctx) {
			break
		}
		mark := w.simulation.Mark()
		g := &leavingGroup{stuck: map[string][]string{}}
		w.add(g, first)
		for again, last := 0, false; ; {
			if n := len(g.leaving); g.lost == 0 && (g.saving > 0 || w.reason != Underutilized) && (n >= again || last) {
				if final, err := w.stepOf(ctx, g, mark); final != nil || err != nil {
					w.last = g.bought
					return final, err
				}
				again = n + 1 + n/patience
			}
			if last || over(ctx) {
				break
			}
			last = !w.grow(g)
		}
		w.simulation.Undo(mark)
		if len(g.leaving) == len(w.waits) {
			break // whoever begins
		}
	}
	return nil, nil //nolint:nilnil // no step is an answer
}

// grow adds the node to a group that leaves fewest pods without a place, and saves most.
func (w *ordering) grow(g *leavingGroup) bool {
	var best *leavingNode
	var most *leavingGroup
	tried := 0
	for _, l := range w.waits {
		if slices.Contains(g.leaving, l) {
			continue
		}
		if tried++; tried > max(1, mostJoined*mostEasy/(mostEasy+len(g.leaving))) {
			break
		}
		mark := w.simulation.Mark()
		with := *g
		with.leaving, with.bought, with.stuck = slices.Clip(g.leaving), slices.Clip(g.bought), maps.Clone(g.stuck)
		if w.add(&with, l); w.state.within(w.reason, namesOf(with.leaving)) && (most == nil || with.better(most)) {
			best, most = l, &with
		}
		w.simulation.Undo(mark)
	}
	if best == nil {
		return false
	}
	w.add(g, best)
	return true
}

// better reports whether a group is nearer to being one that may go than another.
func (g *leavingGroup) better(than *leavingGroup) bool {
	if g.lost != than.lost {
		return g.lost < than.lost
	}
	if g.saving <= 0 || than.saving <= 0 {
		return g.saving > than.saving
	}
	return ratio(g.saving, g.cost) > ratio(than.saving, than.cost)
}

// add lets a node go with a group, and buys what its pods ask for.
func (w *ordering) add(g *leavingGroup, l *leavingNode) {
	w.join(g, l)
	w.seatAll(g)
	for more := g.lost > 0; more; {
		more = w.buyFor(g)
	}
}

// join takes the pods of a node away from it.
func (w *ordering) join(g *leavingGroup, l *leavingNode) {
	g.leaving = append(g.leaving, l)
	g.saving, g.cost = clampPrice(g.saving, l.price), g.cost+l.cost
	for _, kind := range l.kinds {
		for _, pod := range l.pods[kind] {
			w.simulation.Move(w.simulation.Pods[pod], "")
		}
		g.stuck[kind] = slices.Concat(g.stuck[kind], l.pods[kind])
		g.lost += len(l.pods[kind])
	}
	if len(l.kinds) == 0 {
		w.simulation.Exist(l.name, -1)
		w.simulation.Done(func() { w.simulation.Exist(l.name, 1) })
	}
}

// seatAll gives the pods of a group that have none the places that they may have now.
func (w *ordering) seatAll(g *leavingGroup) {
	for again := true; again && g.lost > 0; {
		again = false
		for _, kind := range slices.Sorted(maps.Keys(g.stuck)) {
			rest := g.stuck[kind]
			for len(rest) > 0 && w.seat(kind, w.simulation.Pods[rest[0]]) {
				rest, again = rest[1:], true
				g.lost--
			}
			if g.stuck[kind] = rest; len(rest) == 0 { // where one has no place, none of its kind has
				delete(g.stuck, kind)
			}
		}
	}
}

// seat gives a pod a place of its kind, if it may have one now.
func (w *ordering) seat(kind string, a *landing.Pod) bool {
	places := w.places[kind]
	for _, node := range w.order[kind] {
		if places[node] == 0 || w.new[node] != nil && !w.bought[node] {
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
		w.simulation.Done(func() {
			places[node]++
			a.To = was
		})
		return true
	}
	return false
}

// buyFor adds the launch that pods without a place fill most for its price, if there is one.
func (w *ordering) buyFor(g *leavingGroup) bool {
	fill := map[string]float64{}
	for kind, pods := range g.stuck {
		for node, n := range w.places[kind] {
			if w.new[node] != nil && !w.bought[node] && n > 0 {
				fill[node] += float64(min(len(pods), n)) * w.weight[kind]
			}
		}
	}
	best, most := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(fill)) {
		if share := ratio(1, float64(w.state.costOf(w.new[name]))) * fill[name]; best == "" || share > most {
			best, most = name, share
		}
	}
	if best == "" {
		return false
	}
	g.bought = append(g.bought, best)
	w.setBought(g, best, true)
	w.seatAll(g)
	return true
}

// setBought notes that a launch is there, or no longer.
func (w *ordering) setBought(g *leavingGroup, name string, there bool) {
	sign := int64(1)
	if !there {
		sign = -1
	}
	set := func(there bool, by int64) {
		w.bought[name] = there
		w.simulation.Exist(name, by)
	}
	set(there, sign)
	w.simulation.Done(func() { set(!there, -sign) })
	g.saving = clampPrice(g.saving, offerings.Price(-sign)*w.state.costOf(w.new[name]))
}

// stepOf is the step in which a group goes, whose pods have all found places since a mark, nil
// if it must not be. What was bought and has stayed empty is not: rules keep the pods away for
// which it was, or let them go elsewhere since.
func (w *ordering) stepOf(ctx context.Context, g *leavingGroup, mark int) (*Step, error) {
	o := &outcome{}
	for _, l := range g.leaving {
		o.nodes = append(o.nodes, l.name)
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				o.evictions = append(o.evictions, Eviction{Pod: pod, From: l.name, To: w.simulation.Pods[pod].On})
			}
		}
	}
	slices.Sort(o.nodes)
	slices.SortFunc(o.evictions, compareEvictions)
	g.bought = slices.DeleteFunc(slices.Clone(g.bought), func(name string) bool {
		idle := !slices.ContainsFunc(o.evictions, func(e Eviction) bool { return e.To == name })
		if idle {
			w.setBought(g, name, false)
		}
		return idle
	})
	// Pods have found places node by node, before all machines were there, and are away at the same time.
	all := lo.Map(o.evictions, func(e Eviction, _ int) *landing.Pod { return w.simulation.Pods[e.Pod] })
	if len(g.leaving)+len(g.bought) > 1 && !w.simulation.Possible(all, true) {
		return nil, nil
	}
	for _, name := range slices.Sorted(slices.Values(g.bought)) {
		l := trimmed(w.new[name], o.evictions, w.state.rebooked)
		l.Options = w.new[name].Options // pods that are alike take each other's places
		o.launches = append(o.launches, l)
	}
	if _, ok := w.state.stock.Affords(o.launches, w.state.running(o.nodes...), w.state.planner.Policy.Flexibility); !ok {
		return nil, nil
	}
	if w.asks {
		var err error
		if o, err = w.again(ctx, o); o == nil || err != nil {
			return nil, err
		}
	}
	final, cause := w.state.decide(w.reason, o, w.closedNodes())
	if cause != nil {
		return nil, nil
	}
	w.simulation.Keep(mark)
	return final, nil
}

// leaveOnMore is the step in which nodes go whose pods kube-scheduler would bind so that some find no place, with
// machines that are bought for these: all nodes that are left, if budgets let them, or the first that may go alone, or
// else with others, which one machine may replace. It is nil if there is none, and where pods land where a step says.
func (w *ordering) leaveOnMore(ctx context.Context) (*Step, error) {
	if w.state.pinned {
		return nil, nil
	}
	if !w.asks {
		defer w.state.hold()
		if err := w.state.release(); err != nil {
			return nil, err
		}
	}
	for name := range w.new {
		w.state.used[name] = true // it may still be bought
	}
	closed := w.closedNodes()
	waits := namesOf(w.waits)
	groups := lo.Chunk(waits, 1)
	if len(waits) > 1 && w.state.within(w.reason, waits) {
		groups = slices.Insert(groups, 0, waits)
	}
	for size := 2; size < len(waits) && w.state.within(w.reason, waits[:size]); size *= 2 {
		groups = append(groups, lo.Chunk(waits, size)...)
	}
	for _, names := range groups {
		if over(ctx) {
			break
		}
		var sketch *Step
		if len(names) < len(waits) {
			var err error
			if sketch, err = w.onMore(ctx, names, closed, true); err != nil {
				return nil, past(ctx, err)
			}
			if sketch == nil {
				continue
			}
		}
		step, err := w.onMore(ctx, names, closed, false)
		if err != nil {
			return nil, past(ctx, err)
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

// onMore is the step in which nodes go and machines are bought for those of their pods that would find no place, nil if
// it must not be.
func (w *ordering) onMore(ctx context.Context, names, closed []string, brief bool) (*Step, error) {
	o, err := w.state.landedOnMore(ctx, names, closed, brief, w.vain)
	if err != nil || o == nil {
		return nil, err
	}
	step, _ := w.state.decide(w.reason, o, closed)
	return step, nil
}

// again looks for places anew, once what is bought is there; nil where there are none.
func (w *ordering) again(ctx context.Context, o *outcome) (*outcome, error) {
	found, err := w.state.ask(ctx, &question{nodes: o.nodes, effort: scheduling.EffortFast, launches: o.launches, closed: w.closedNodes()})
	if err != nil || len(found.stuck) > 0 {
		return nil, past(ctx, err)
	}
	for i := range o.launches {
		l := trimmed(&o.launches[i], found.evictions, w.state.rebooked)
		if len(l.Pods) == 0 {
			return nil, nil //nolint:nilnil // no place is an answer
		}
		found.launches = append(found.launches, l)
	}
	return found, nil
}

// closedNodes are the nodes that take in no pods.
func (w *ordering) closedNodes() []string { return slices.Concat(namesOf(w.waits), w.foreseen) }

// namesOf are the names of nodes.
func namesOf(list []*leavingNode) []string {
	return lo.Map(list, func(l *leavingNode, _ int) string { return l.name })
}
