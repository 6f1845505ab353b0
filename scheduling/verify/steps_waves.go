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
func (a *act) waves() {
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
			m.was.rise(a.crowd.nodes[m.From])
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
			h := a.crowd.nodes[m.To]
			m.will.sit(h)
			seats = append(seats, func() { m.will.rise(h) })
		}
	}
	for _, rise := range seats {
		rise()
	}
	for _, h := range bought {
		a.crowd.leave(h)
	}
}

// setUp lets the machines stand that the step launches.
func (a *act) setUp() []*host {
	var bought []*host
	for i := range a.step.Launches {
		node := a.launched[a.step.Launches[i].Name]
		if node == nil || a.crowd.nodes[node.Name] != nil {
			continue
		}
		h := &host{place: &place{labels: node.Labels, name: node.Name, taints: node.Spec.Taints}, object: "node/" + node.Name}
		a.crowd.enter(h)
		bought = append(bought, h)
	}
	return bought
}

// comeBack lets drained nodes stand with their pods, and pods sit where they were, as when
// the step begins. Such a node takes nobody in any more.
func (a *act) comeBack(ends map[string]int) {
	for _, s := range a.going {
		if _, ok := ends[s.name]; !ok {
			continue
		}
		p := a.from[s.name].place
		p.taints = append(slices.Clone(p.taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		a.crowd.enter(&host{place: &p, object: "node/" + s.name})
		for _, k := range a.left[s.name] {
			k.sit(a.crowd.nodes[s.name])
		}
	}
	for _, m := range a.moves {
		m.was.sit(a.crowd.nodes[m.From])
	}
}

// vacate lets a drained node go, with the pods that go with it.
func (a *act) vacate(s *standing) {
	h := a.crowd.nodes[s.name]
	for _, k := range a.left[s.name] {
		k.rise(h)
	}
	a.crowd.leave(h)
}

// wave checks that the pods of one wave can bind.
func (a *act) wave(number int, moves []move) {
	j := a.judge(&scheduling.Plan{})
	for _, m := range moves {
		if h := a.crowd.nodes[m.To]; h != nil {
			j.booked = append(j.booked, booking{m.tenant, h})
		}
	}
	slices.SortFunc(j.booked, bindingOrder)
	_, unbound := a.bindAll(j)
	for _, u := range unbound {
		a.add(Wave, "pod/"+u.name, "cannot bind to %s in wave %d: %s", u.host.object, number, strings.TrimSpace(u.by.String()))
	}
}

// unbound is a pod that cannot bind, and what keeps it.
type unbound struct {
	booking
	by obstacle
}

// bindAll lets the pods of the judge bind one by one, and tells which cannot. Nodes that are
// being removed already, for whatever reason, are looked at as there and as gone, since
// nobody knows which comes first. The scene is that with all of them there.
func (a *act) bindAll(j *judge) (*scene, []unbound) {
	s, waiting := j.play(j.booked)
	seen := s
	if len(waiting) > 0 {
		if again, rest := a.withoutLeaving(j); len(rest) < len(waiting) {
			seen, waiting = again, rest
		}
	}
	var left []unbound
	for _, g := range waiting {
		if o, _ := seen.obstacle(g.party, g.host); !a.mayPass(o) {
			left = append(left, unbound{g.booking, o})
		}
	}
	return s, left
}

// withoutLeaving lets the pods bind where nodes that are being removed are gone.
func (a *act) withoutLeaving(j *judge) (*scene, []guest) {
	var gone []*host
	for _, s := range a.leavers {
		if a.nodes[s.name] == s {
			gone = append(gone, a.crowd.nodes[s.name])
		}
	}
	for _, h := range gone {
		a.crowd.hide(h)
	}
	s, waiting := j.play(slices.DeleteFunc(slices.Clone(j.booked), func(b booking) bool { return !a.crowd.hosts[b.host] }))
	for _, h := range gone {
		a.crowd.show(h)
	}
	return s, waiting
}

// mayPass reports whether the obstacle may be gone by the time: there are pods on their way,
// which wait or leave their nodes already, and where they land nobody knows. They may fill
// places up that are emptier, or be the company that is asked for.
func (a *act) mayPass(o obstacle) bool {
	missing := 1
	switch o.code {
	case TopologySpread:
		missing = o.count - o.least - o.skew
	case PodAffinity:
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
	for _, k := range a.crowd.members([]*podSet{o.pods}) {
		for h, n := range k.on {
			if s := a.nodes[h.name]; s != nil && a.crowd.hosts[h] && leaving(s.node) {
				missing -= n
			}
		}
	}
	return missing <= 0
}
