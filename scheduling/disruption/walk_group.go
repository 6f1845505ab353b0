package disruption

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// pack is a group of nodes that leave together, and what is bought for them.
type pack struct {
	leavers []*leaver
	bought  []string
	stuck   map[string][]string // by kind, pods that have no place yet
	lost    int                 // how many they are
	saving  offerings.Price
	cost    float64
}

// alone is the step in which a node goes by itself and nothing is bought, nil if that cannot
// be. It takes one along of those that are to be taken along if it can: what must not be done
// for one node may be for two.
func (w *walk) alone(l *leaver) *Step {
	mark := len(w.stage.log)
	g := &pack{stuck: map[string][]string{}}
	w.join(g, l)
	w.seatAll(g)
	if g.lost == 0 {
		for _, other := range w.waits {
			if other == l || !slices.Contains(w.along, other.name) {
				continue
			}
			at, two := len(w.stage.log), g.with()
			if w.add(two, other); two.lost == 0 && two.saving > 0 {
				if final := w.leave(two, mark); final != nil {
					return final
				}
			}
			w.stage.undo(at)
		}
		if final := w.leave(g, mark); final != nil {
			return final
		}
	}
	w.stage.undo(mark)
	return nil
}

const (
	// mostBegun is with how many nodes a group may begin.
	mostBegun = 6
	// mostJoined is among how many nodes the next one is looked for.
	mostJoined = 24
	// mostEasy is in groups of how many nodes it is half as many.
	mostEasy = 16
	// patience is how many times as large as what it has grown by a group is when it is tried
	// again that must not go: to try it takes as long as it is large.
	patience = 4
)

// together is the step in which as few nodes as may be go at once, nil if there is none.
func (w *walk) together() *Step {
	for i, first := range slices.Clone(w.waits) {
		if i >= mostBegun {
			break
		}
		mark := len(w.stage.log)
		g := &pack{stuck: map[string][]string{}}
		w.add(g, first)
		for again, last := 0, false; ; {
			if n := len(g.leavers); g.lost == 0 && g.saving > 0 && (n >= again || last) {
				if final := w.leave(g, mark); final != nil {
					w.last = g.bought
					return final
				}
				again = n + 1 + n/patience
			}
			if last {
				break
			}
			last = !w.grow(g)
		}
		w.stage.undo(mark)
		if len(g.leavers) == len(w.waits) {
			break // whoever begins
		}
	}
	return nil
}

// grow adds the node to a group that leaves fewest pods without a place, and saves most.
func (w *walk) grow(g *pack) bool {
	var best *leaver
	var most *pack
	tried := 0
	for _, l := range w.waits {
		if slices.Contains(g.leavers, l) {
			continue
		}
		if tried++; tried > max(1, mostJoined*mostEasy/(mostEasy+len(g.leavers))) {
			break
		}
		mark := len(w.stage.log)
		with := g.with()
		if w.add(with, l); w.frame.within(namesOf(with.leavers)) && (most == nil || with.better(most)) {
			best, most = l, with
		}
		w.stage.undo(mark)
	}
	if best == nil {
		return false
	}
	w.add(g, best)
	return true
}

// better reports whether a group is nearer to being one that may go than another.
func (g *pack) better(than *pack) bool {
	if g.lost != than.lost {
		return g.lost < than.lost
	}
	if g.saving <= 0 || than.saving <= 0 {
		return g.saving > than.saving
	}
	return ratio(g.saving, g.cost) > ratio(than.saving, than.cost)
}

// with is a group of its own with the same nodes.
func (g *pack) with() *pack {
	out := *g
	out.leavers, out.bought, out.stuck = slices.Clip(g.leavers), slices.Clip(g.bought), maps.Clone(g.stuck)
	return &out
}

// add lets a node go with a group, and buys what its pods ask for.
func (w *walk) add(g *pack, l *leaver) {
	w.join(g, l)
	w.seatAll(g)
	for more := g.lost > 0; more; {
		more = w.buy(g)
	}
}

// join takes the pods of a node away from it.
func (w *walk) join(g *pack, l *leaver) {
	g.leavers = append(g.leavers, l)
	g.saving, g.cost = clampPrice(g.saving, l.price), g.cost+l.cost
	for _, kind := range l.kinds {
		for _, pod := range l.pods[kind] {
			w.stage.move(w.stage.pods[pod], "")
		}
		g.stuck[kind] = slices.Concat(g.stuck[kind], l.pods[kind])
		g.lost += len(l.pods[kind])
	}
	if len(l.kinds) == 0 {
		w.stage.stand(l.name, -1)
		w.stage.log = append(w.stage.log, func() { w.stage.stand(l.name, 1) })
	}
}

// seatAll gives the pods of a group that have none the places that they may have now.
func (w *walk) seatAll(g *pack) {
	for again := true; again && g.lost > 0; {
		again = false
		for _, kind := range slices.Sorted(maps.Keys(g.stuck)) {
			var rest []string
			for _, pod := range g.stuck[kind] {
				if w.seat(kind, w.stage.pods[pod]) {
					g.lost--
					again = true
				} else {
					rest = append(rest, pod)
				}
			}
			if len(rest) == 0 {
				delete(g.stuck, kind)
			} else {
				g.stuck[kind] = rest
			}
		}
	}
}

// seat gives a pod a place of its kind, if it may have one now.
func (w *walk) seat(kind string, a *actor) bool {
	places := w.places[kind]
	for _, node := range w.order[kind] {
		if places[node] == 0 || w.new[node] != nil && !w.bought[node] {
			continue
		}
		was := a.to
		a.to = node
		if !w.stage.fits(a) {
			a.to = was
			continue
		}
		places[node]--
		w.stage.move(a, node)
		w.stage.log = append(w.stage.log, func() {
			places[node]++
			a.to = was
		})
		return true
	}
	return false
}

// buy adds the launch that pods without a place fill most for its price, if there is one.
func (w *walk) buy(g *pack) bool {
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
		if share := ratio(1, float64(w.frame.costOf(w.new[name]))) * fill[name]; best == "" || share > most {
			best, most = name, share
		}
	}
	if best == "" {
		return false
	}
	w.bought[best] = true
	w.stage.stand(best, 1)
	w.stage.log = append(w.stage.log, func() {
		delete(w.bought, best)
		w.stage.stand(best, -1)
	})
	g.bought = append(g.bought, best)
	g.saving = clampPrice(g.saving, -w.frame.costOf(w.new[best]))
	w.seatAll(g)
	return true
}

// release takes back what was bought for a group and has stayed empty: rules keep the pods
// away for which it was bought, or let them go elsewhere since.
func (w *walk) release(g *pack, bring map[string][]Eviction) {
	g.bought = slices.DeleteFunc(slices.Clone(g.bought), func(name string) bool {
		if len(bring[name]) > 0 {
			return false
		}
		delete(w.bought, name)
		w.stage.stand(name, -1)
		w.stage.log = append(w.stage.log, func() {
			w.bought[name] = true
			w.stage.stand(name, 1)
		})
		g.saving = clampPrice(g.saving, w.frame.costOf(w.new[name]))
		return true
	})
}

// leave is the step in which a group goes, whose pods have all found places since a mark, nil
// if it must not be.
func (w *walk) leave(g *pack, mark int) *Step {
	s := &Step{Reason: Underutilized}
	var group []*actor
	for _, l := range g.leavers {
		s.Drain = append(s.Drain, l.name)
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				a := w.stage.pods[pod]
				s.Evictions, group = append(s.Evictions, Eviction{Pod: pod, From: l.name, To: a.on}), append(group, a)
			}
		}
	}
	slices.Sort(s.Drain)
	s.Evictions = byPod(s.Evictions)
	bring := arrivals(s.Evictions)
	w.release(g, bring)
	// Pods have found places node by node, and are away at the same time.
	if len(g.leavers) > 1 && !w.stage.possible(group, true) {
		return nil
	}
	for _, name := range slices.Sorted(slices.Values(g.bought)) {
		l := trimmed(w.new[name], bring[name], w.state.rebooked)
		l.Options = w.new[name].Options // pods that are alike take each other's places
		s.Launches = append(s.Launches, l)
	}
	if !w.state.stock.covers(s.Launches) {
		return nil
	}
	final, cause := w.frame.admit(Underutilized, outcomeOf(s))
	if cause != nil {
		return nil
	}
	w.waits = slices.DeleteFunc(w.waits, func(l *leaver) bool { return slices.Contains(g.leavers, l) })
	clear(w.stage.log[mark:])
	w.stage.log = w.stage.log[:mark]
	return final
}

// namesOf are the names of nodes.
func namesOf(list []*leaver) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.name
	}
	return out
}
