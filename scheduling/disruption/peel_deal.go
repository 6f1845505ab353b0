package disruption

import (
	"maps"
	"slices"
)

// deal divides a step into parts that each save something, with as few nodes in each as may
// be: in the order in which nodes save most for what they disrupt, those whose pods go where
// nothing is bought first. It returns the step itself where that is not possible.
func (p *peeling) deal() []*Step {
	x := &part{bought: map[string]bool{}, taken: map[string]map[string]int{}, to: map[string]string{}}
	open := p.open(x)
	var out []*Step
	now := &part{bought: map[string]bool{}}
	for _, l := range p.leavers {
		now.leavers = append(now.leavers, l)
		now.saving = clampPrice(now.saving, l.price)
		for _, name := range p.house(x, l, open) {
			now.bought[name], now.saving = true, clampPrice(now.saving, -p.frame.costOf(p.new[name]))
		}
		now.to, now.taken = x.to, x.taken
		if now.saving <= 0 {
			continue
		}
		step := p.share(now)
		if _, cause := p.frame.admit(p.step.Reason, outcomeOf(step)); cause == nil || cause.Code == CausePoolBudget {
			out, now = append(out, step), &part{bought: map[string]bool{}}
		}
	}
	if len(now.leavers) > 0 || len(out) == 0 {
		return []*Step{p.step}
	}
	return out
}

// open are, by kind, places that are not full where nothing has to be bought.
func (p *peeling) open(x *part) map[string][]string {
	open := make(map[string][]string, len(p.order))
	for kind, order := range p.order {
		x.taken[kind] = map[string]int{}
		for _, node := range order {
			if p.new[node] == nil {
				open[kind] = append(open[kind], node)
			}
		}
	}
	return open
}

// house gives the pods of a node places, where nothing is bought first, and then on the
// launches that they fill most for their price. It returns the launches that are new.
func (p *peeling) house(x *part, l *leaver, open map[string][]string) (bought []string) {
	waiting := maps.Clone(l.pods)
	for {
		for _, kind := range l.kinds {
			open[kind] = p.seat(x, kind, waiting, open[kind])
		}
		name := p.fullest(x, waiting, l.kinds)
		if name == "" {
			return bought
		}
		x.bought[name] = true
		bought = append(bought, name)
		for kind, places := range p.places {
			if places[name] > 0 {
				open[kind] = append(open[kind], name)
			}
		}
	}
}

// share is the step of the nodes of a part.
func (p *peeling) share(x *part) *Step {
	s := &Step{Reason: p.step.Reason}
	for _, l := range x.leavers {
		s.Drain = append(s.Drain, l.name)
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				s.Evictions = append(s.Evictions, Eviction{Pod: pod, From: l.name, To: x.to[pod]})
			}
		}
	}
	for i := range p.step.Launches {
		if l := p.step.Launches[i]; x.bought[l.Name] {
			s.Launches = append(s.Launches, l)
		}
	}
	p.fill(s)
	return s
}

// fill writes down what a part of the step brings to its launches, and what it saves.
func (p *peeling) fill(s *Step) {
	slices.Sort(s.Drain)
	s.Evictions = byPod(s.Evictions)
	bring := map[string][]Eviction{}
	for _, e := range s.Evictions {
		if p.new[e.To] != nil {
			bring[e.To] = append(bring[e.To], e)
		}
	}
	for i := range s.Launches {
		l := &s.Launches[i]
		// Pods that are alike take each other's places, so that all options still hold them.
		options := l.Options
		*l = trimmed(l, bring[l.Name], p.rebooked)
		l.Options = options
	}
	m := p.frame.moveOf(s.Drain)
	s.SavingPerHour, s.DisruptionCost = m.price-p.frame.spent(s.Launches), m.cost
}
