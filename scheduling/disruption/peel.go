package disruption

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

const (
	// mostPeeled is how many nodes at most are taken off a step at a time.
	mostPeeled = 16
	// mostTried is among how many nodes the next one is looked for.
	mostTried = 48
	// mostDivided is the number of nodes of clusters up to which steps are divided only to save
	// most for what they disrupt first.
	mostDivided = 300
	// mostStarts is with how many nodes a part may begin.
	mostStarts = 6
)

// peeling takes parts off a step that is larger than it has to be, or may be. All that
// counts is that places are filled as the step would fill them: pods that are alike may
// have each other's.
type peeling struct {
	*seating
	frame    *frame
	step     *Step
	rebooked booking
	// leavers are the nodes that go, those that save most for what they disrupt first.
	leavers []*leaver
}

// part is what is taken off: nodes, what is bought for them, and the places that are taken.
type part struct {
	leavers []*leaver
	bought  map[string]bool
	taken   map[string]map[string]int
	to      map[string]string // by pod
	saving  offerings.Price
	cost    float64
}

// peel takes a part off a step that saves something by itself, for the least disruption, and
// is within the budgets of pools as things stand. rest is what is left of the step to be
// done later; it is nil if there is no such part, or nothing would be left.
func (c *carrier) peel(step *Step) (some, rest *Step) {
	if len(step.Drain) < 2 {
		return nil, nil
	}
	p := c.newPeeling(step)
	if len(step.Drain) > mostTried && len(c.state.original) > mostDivided && !c.state.tied() {
		return p.slabs()
	}
	var parts []*part
	for i, l := range p.leavers {
		if i >= mostStarts && len(parts) > 0 || i >= mostTried {
			break
		}
		parts = append(parts, p.grow(l)...)
	}
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(ratio(b.saving, b.cost), ratio(a.saving, a.cost)) })
	for _, x := range parts {
		if some, rest := p.cut(x); p.sound(some, rest) {
			return some, rest
		}
	}
	return nil, nil
}

// part is what is taken off a step that is possible as it is, and what is left: where
// budgets do not let it happen at once, or it would disrupt more than it has to.
func (c *carrier) part(step *Step, o *outcome, by certainty) (*outcome, *Step) {
	if !slices.Equal(step.Drain, o.nodes) {
		return nil, nil // it has been joined with others
	}
	if c.frame.within(o.nodes) && (by != exactly || len(c.state.original) > mostDivided) {
		return nil, nil
	}
	some, rest := c.peel(step)
	if some == nil || by == exactly {
		return outcomeOf(some), rest
	}
	if by == anew || !c.frame.lands(some) {
		return nil, nil
	}
	return outcomeOf(some), rest
}

// outcomeOf is what becomes of the nodes of a step, nil of none.
func outcomeOf(step *Step) *outcome {
	if step == nil {
		return nil
	}
	return &outcome{nodes: step.Drain, launches: step.Launches, evictions: step.Evictions}
}

// within reports whether the budgets of pools let nodes go at once.
func (f *frame) within(nodes []string) bool {
	return !slices.ContainsFunc(f.moveOf(nodes).pools, func(x *poolShare) bool { return f.crowded(x.pool, Underutilized, x.nodes) != nil })
}

func (c *carrier) newPeeling(step *Step) *peeling {
	p := &peeling{frame: c.frame, step: step, rebooked: c.state.rebooked}
	kindOf := podName
	if !c.state.tied() {
		kindOf = func(pod *corev1.Pod) string { return c.kinds.of(pod, c.kind) }
	}
	p.seating, p.leavers = c.seatingOf(step, kindOf)
	slices.SortStableFunc(p.leavers, func(a, b *leaver) int { return cmp.Compare(ratio(b.price, b.cost), ratio(a.price, a.cost)) })
	return p
}

// kind is the same for pods that may have each other's places: they ask for the same, and the
// same holds them and counts when they are evicted. Pods with something of their own are
// like none.
func (c *carrier) kind(pod *corev1.Pod) string {
	var budgets []string
	for _, g := range c.frame.guards.charges(pod) {
		budgets = append(budgets, g.name)
	}
	return likeness(pod, pod.Spec.Priority, pod.Spec.TopologySpreadConstraints, c.frame.podCost(pod), asked(pod), budgets)
}

// ratio is what is saved for each unit of disruption.
func ratio(saving offerings.Price, cost float64) float64 { return float64(saving) / max(cost, 1e-9) }

// better reports whether a part saves more for what it disrupts than another one, or loses less.
func (x *part) better(than *part) bool {
	switch {
	case than == nil:
		return true
	case x.saving <= 0 || than.saving <= 0:
		return x.saving > than.saving
	}
	return ratio(x.saving, x.cost) > ratio(than.saving, than.cost)
}

// grow makes parts that begin with a node: the one that costs least to add comes next, as
// long as budgets allow it. It returns those on the way that save something.
func (p *peeling) grow(start *leaver) (out []*part) {
	now := p.add(&part{}, start)
	for p.allowed(now) {
		if now.saving > 0 && len(now.leavers) < len(p.leavers) {
			out = append(out, now)
		}
		if len(now.leavers) >= mostPeeled {
			break
		}
		var next *part
		tried := 0
		for _, l := range p.leavers {
			if slices.Contains(now.leavers, l) {
				continue
			}
			if tried++; tried > mostTried {
				break
			}
			if with := p.add(now, l); p.allowed(with) && with.better(next) {
				next = with
			}
		}
		if next == nil {
			break
		}
		now = next
	}
	return out
}

// sound reports whether a part may be done, and afterwards what is left, unless that is too
// much at once.
func (p *peeling) sound(some, rest *Step) bool {
	if _, cause := p.frame.admit(Underutilized, outcomeOf(some)); cause != nil {
		return false
	}
	_, cause := p.frame.admit(Underutilized, outcomeOf(rest))
	return cause == nil || cause.Code == CausePoolBudget
}

// allowed reports whether the budgets of pools let the nodes of a part go at once.
func (p *peeling) allowed(x *part) bool {
	count := map[*poolState]int{}
	for _, l := range x.leavers {
		if l.pool == nil {
			continue
		}
		if count[l.pool]++; count[l.pool] > p.frame.room(l.pool, Underutilized) {
			return false
		}
	}
	return true
}

// add is a part with one more node, whose pods go where nothing needs to be bought as far as
// they can, and then onto the launches that most of them fill.
func (p *peeling) add(x *part, l *leaver) *part {
	out := &part{
		leavers: append(slices.Clip(x.leavers), l), bought: map[string]bool{}, taken: map[string]map[string]int{}, to: maps.Clone(x.to),
		saving: clampPrice(x.saving, l.price), cost: x.cost + l.cost,
	}
	if out.to == nil {
		out.to = map[string]string{}
	}
	maps.Copy(out.bought, x.bought)
	for kind, taken := range x.taken {
		out.taken[kind] = maps.Clone(taken)
	}
	waiting := map[string][]string{}
	seat := func(node string, kind string) {
		list := waiting[kind]
		if out.taken[kind] == nil {
			out.taken[kind] = map[string]int{}
		}
		n := min(len(list), p.places[kind][node]-out.taken[kind][node])
		for _, pod := range list[:n] {
			out.to[pod] = node
		}
		out.taken[kind][node] += n
		waiting[kind] = list[n:]
	}
	for _, kind := range l.kinds {
		waiting[kind] = l.pods[kind]
		for _, node := range p.order[kind] {
			if p.new[node] == nil || out.bought[node] {
				seat(node, kind)
			}
		}
	}
	for {
		name := p.fullest(out, waiting, l.kinds)
		if name == "" {
			return out
		}
		out.bought[name] = true
		out.saving = clampPrice(out.saving, -p.frame.costOf(p.new[name]))
		for _, kind := range l.kinds {
			seat(name, kind)
		}
	}
}

// fullest is the launch of which pods that wait fill most for its price.
func (p *peeling) fullest(x *part, waiting map[string][]string, kinds []string) string {
	fill := map[string]float64{}
	for _, kind := range kinds {
		if len(waiting[kind]) == 0 {
			continue
		}
		for _, node := range p.order[kind] {
			if p.new[node] != nil && !x.bought[node] {
				fill[node] += float64(min(len(waiting[kind]), p.places[kind][node])) * p.weight[kind]
			}
		}
	}
	best, most := "", 0.0
	for _, name := range slices.Sorted(maps.Keys(fill)) {
		if share := ratio(1, float64(p.frame.costOf(p.new[name]))) * fill[name]; best == "" || share > most {
			best, most = name, share
		}
	}
	return best
}

// cut makes the part a step, and one of what is left.
func (p *peeling) cut(x *part) (some, rest *Step) {
	some, rest = &Step{Reason: p.step.Reason}, &Step{Reason: p.step.Reason}
	left, next := map[string]map[string]int{}, map[string]int{}
	for kind, places := range p.places {
		left[kind] = maps.Clone(places)
		for node, n := range x.taken[kind] {
			left[kind][node] -= n
		}
	}
	for _, l := range p.leavers {
		into := rest
		if slices.Contains(x.leavers, l) {
			into = some
		}
		into.Drain = append(into.Drain, l.name)
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				to := x.to[pod]
				if into == rest {
					for left[kind][p.order[kind][next[kind]]] == 0 {
						next[kind]++
					}
					to = p.order[kind][next[kind]]
					left[kind][to]--
				}
				into.Evictions = append(into.Evictions, Eviction{Pod: pod, From: l.name, To: to})
			}
		}
	}
	for i := range p.step.Launches {
		l := p.step.Launches[i]
		into := rest
		if x.bought[l.Name] {
			into = some
		}
		into.Launches = append(into.Launches, l)
	}
	for _, s := range []*Step{some, rest} {
		p.fill(s)
	}
	return some, rest
}
