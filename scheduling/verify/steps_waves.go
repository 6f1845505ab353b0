package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// waves checks, where pods go in several waves, that each wave can bind while the pods of
// the next ones still are where they were.
func (a *stepCheck) waves() {
	waves, last := make(map[int][]move), 0
	for _, m := range a.moves {
		waves[m.Wave] = append(waves[m.Wave], m)
		last = max(last, m.Wave)
	}
	if last < 2 || !a.tied {
		return
	}
	order := slices.Sorted(maps.Keys(waves))
	ends := make(map[string]int) // the wave in which the last pod leaves, by node
	for _, wave := range order {
		for _, m := range waves[wave] {
			ends[m.From] = wave
		}
	}
	bought := a.setUp()
	a.comeBack(ends)
	var seats []func() // what gives the seats up that are taken
	for _, wave := range order {
		for _, m := range waves[wave] {
			a.topology.sit(m.was, a.topology.named[m.From], -1)
		}
		for _, s := range a.going {
			if end, ok := ends[s.name]; ok && end == wave {
				a.vacate(s)
			}
		}
		if wave > 0 {
			a.wave(wave, waves[wave])
		}
		for _, m := range waves[wave] {
			h := a.topology.named[m.To]
			a.topology.sit(m.will, h, 1)
			seats = append(seats, func() { a.topology.sit(m.will, h, -1) })
		}
	}
	for _, rise := range seats {
		rise()
	}
	for _, h := range bought {
		a.topology.leave(h)
	}
}

// setUp lets the machines stand that the step launches.
func (a *stepCheck) setUp() []*node {
	var bought []*node
	for i := range a.step.Launches {
		object := a.launched[a.step.Launches[i].Name]
		if object == nil || a.topology.named[object.Name] != nil {
			continue
		}
		n := &node{name: object.Name, object: "node/" + object.Name, labels: object.Labels, taints: object.Spec.Taints}
		a.topology.enter(n)
		bought = append(bought, n)
	}
	return bought
}

// comeBack lets drained nodes stand with their pods, and pods sit where they were, as when
// the step begins. Such a node takes nobody in any more.
func (a *stepCheck) comeBack(ends map[string]int) {
	for _, s := range a.going {
		if _, ok := ends[s.name]; !ok {
			continue
		}
		n := *s.node
		n.taints = append(slices.Clone(n.taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		a.topology.enter(&n)
		for _, k := range a.left[s.name] {
			a.topology.sit(k, a.topology.named[s.name], 1)
		}
	}
	for _, m := range a.moves {
		a.topology.sit(m.was, a.topology.named[m.From], 1)
	}
}

// vacate lets a drained node go, with the pods that go with it.
func (a *stepCheck) vacate(s *clusterNode) {
	h := a.topology.named[s.name]
	for _, k := range a.left[s.name] {
		a.topology.sit(k, h, -1)
	}
	a.topology.leave(h)
}

// wave checks that the pods of one wave can bind.
func (a *stepCheck) wave(number int, moves []move) {
	j := newJudge(a.Report, a.world, a.topology, &scheduling.Plan{})
	for _, m := range moves {
		if h := a.topology.named[m.To]; h != nil {
			j.booked = append(j.booked, booking{m.tenant, h})
		}
	}
	slices.SortFunc(j.booked, bindingOrder)
	for _, u := range a.bindAll(j, nil) {
		a.add(Wave, "pod/"+u.name, "cannot bind to %s in wave %d: %s", u.node.object, number, strings.TrimSpace(u.by.String()))
	}
}

// bindAll lets the pods of the judge bind one by one, and tells which cannot. Nodes that are
// being removed already, for whatever reason, are looked at as there and as gone, since
// nobody knows which comes first. What is to be looked at once all have bound is told how
// things are with all of them there.
func (a *stepCheck) bindAll(j *judge, look func(*outcome)) []unbound {
	o := j.topology.bind(j.booked)
	if look != nil {
		look(o)
	}
	o.undo()
	waiting := o.waiting
	if len(waiting) > 0 {
		if rest := a.withoutLeaving(j); len(rest) < len(waiting) {
			waiting = rest
		}
	}
	return slices.DeleteFunc(waiting, func(u unbound) bool { return a.mayPass(u.by) })
}

// withoutLeaving tells which pods cannot bind where nodes that are being removed are gone.
func (a *stepCheck) withoutLeaving(j *judge) []unbound {
	var gone []*node
	for _, s := range a.leavers {
		if a.there[s.name] == s {
			gone = append(gone, a.topology.named[s.name])
		}
	}
	for _, h := range gone {
		a.topology.leave(h)
	}
	o := j.topology.bind(slices.DeleteFunc(slices.Clone(j.booked), func(b booking) bool { return !a.topology.nodes[b.node] }))
	o.undo()
	for _, h := range gone {
		a.topology.enter(h)
	}
	return o.waiting
}

// mayPass reports whether the obstacle may be gone by the time: there are pods on their way,
// which wait or leave their nodes already, and where they land nobody knows. They may fill
// places up that are emptier, or be the company that is asked for.
func (a *stepCheck) mayPass(o obstacle) bool {
	missing := 1
	switch o.rule {
	case spreading:
		missing = o.count - o.least - o.skew
	case affinity:
	default:
		return false
	}
	if !o.has {
		return false
	}
	for _, t := range a.waiting {
		if o.pods.has(t.face) {
			missing--
		}
	}
	for _, k := range a.topology.labelled[labelOf(o.pods)] {
		if !o.pods.has(k.face) {
			continue
		}
		for h, n := range k.on {
			if s := a.there[h.name]; s != nil && a.topology.nodes[h] && s.leaves() {
				missing -= n
			}
		}
	}
	return missing <= 0
}
