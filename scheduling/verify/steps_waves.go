package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// waves checks, where pods go in several waves, that each wave can bind while the pods of
// the next ones still are where they were.
func (a *stepCheck) waves() {
	waves, last := make(map[int][]move), 0
	for _, m := range a.moves {
		waves[m.Wave] = append(waves[m.Wave], m)
		last = max(last, m.Wave)
	}
	if last < 2 || !a.cluster.tied {
		return
	}
	order := slices.Sorted(maps.Keys(waves))
	ends := make(map[string]int) // the wave in which the last pod leaves, by node
	for _, wave := range order {
		for _, m := range waves[wave] {
			ends[m.From] = wave
		}
	}
	a.comeBack(ends)
	var seats []func() // what gives the seats up that are taken
	for _, wave := range order {
		for _, m := range waves[wave] {
			a.cluster.topology.Sit(m.was, a.cluster.topology.Named[m.From], -1)
		}
		for _, s := range a.going {
			if end, ok := ends[s.node.Name]; ok && end == wave {
				a.vacate(s)
			}
		}
		if wave > 0 {
			a.wave(wave, waves[wave])
		}
		for _, m := range waves[wave] {
			h := a.cluster.topology.Named[m.To]
			a.cluster.topology.Sit(m.will, h, 1)
			seats = append(seats, func() { a.cluster.topology.Sit(m.will, h, -1) })
		}
	}
	for _, rise := range seats {
		rise()
	}
}

// comeBack lets drained nodes stand with their pods, and pods sit where they were, as when
// the step begins. Such a node takes nobody in any more.
func (a *stepCheck) comeBack(ends map[string]int) {
	for _, s := range a.going {
		if _, ok := ends[s.node.Name]; !ok {
			continue
		}
		n := *s.node
		n.Taints = append(slices.Clone(n.Taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		a.cluster.topology.Enter(&n)
		for _, k := range a.left[s.node.Name] {
			a.cluster.topology.Sit(k, a.cluster.topology.Named[s.node.Name], 1)
		}
	}
	for _, m := range a.moves {
		a.cluster.topology.Sit(m.was, a.cluster.topology.Named[m.From], 1)
	}
}

// vacate lets a drained node go, with the pods that go with it.
func (a *stepCheck) vacate(s *clusterNode) {
	h := a.cluster.topology.Named[s.node.Name]
	for _, k := range a.left[s.node.Name] {
		a.cluster.topology.Sit(k, h, -1)
	}
	a.cluster.topology.Leave(h)
}

// wave checks that the pods of one wave can bind.
func (a *stepCheck) wave(number int, moves []move) {
	var booked []binding.Pending
	for _, m := range moves {
		if h := a.cluster.topology.Named[m.To]; h != nil {
			booked = append(booked, binding.Pending{Pod: m.tenant, Node: h})
		}
	}
	slices.SortFunc(booked, binding.ByBindingOrder)
	for _, u := range a.bindAll(booked, nil) {
		a.report.add(Wave, "pod/"+u.Pod.Name, "cannot bind to %s in wave %d: %s", u.Node.Object, number, strings.TrimSpace(u.By.String()))
	}
}

// bindAll lets the pods of the judge bind one by one, and tells which cannot. Nodes that are
// being removed already, for whatever reason, are looked at as there and as gone, since
// nobody knows which comes first. What is to be looked at once all have bound is told how
// things are with all of them there.
func (a *stepCheck) bindAll(booked []binding.Pending, look func(*binding.Outcome)) []binding.Unbound {
	o := a.cluster.topology.Bind(booked)
	if look != nil {
		look(o)
	}
	o.Undo()
	var late []binding.Pending
	waiting := o.Waiting
	if len(waiting) > 0 {
		if rest := a.withoutLeaving(booked); len(rest) < len(waiting) {
			waiting = rest
		}
	}
	for before := -1; before < len(late); {
		before = len(late)
		waiting = slices.DeleteFunc(waiting, func(u binding.Unbound) bool {
			ok := a.mayPass(u.By, late)
			if ok {
				late = append(late, u.Pending)
			}
			return ok
		})
	}
	return waiting
}

// withoutLeaving tells which pods cannot bind where nodes that are being removed are gone.
func (a *stepCheck) withoutLeaving(booked []binding.Pending) []binding.Unbound {
	var gone []*snapshot.Node
	for _, s := range a.cluster.there {
		if s.node.Leaves() {
			gone = append(gone, a.cluster.topology.Named[s.node.Name])
		}
	}
	for _, h := range gone {
		a.cluster.topology.Leave(h)
	}
	o := a.cluster.topology.Bind(slices.DeleteFunc(slices.Clone(booked), func(b binding.Pending) bool { return !a.cluster.topology.Nodes[b.Node] }))
	o.Undo()
	for _, h := range gone {
		a.cluster.topology.Enter(h)
	}
	return o.Waiting
}

// mayPass reports whether the obstacle may be gone by the time: there are pods on their way,
// which wait or leave their nodes already, and where they land nobody knows. They may fill
// places up that are emptier, or be the company that is asked for, as may those that land late because of them.
func (a *stepCheck) mayPass(o binding.Obstacle, late []binding.Pending) bool {
	missing := 1
	switch o.Rule {
	case binding.Spread:
		missing = o.Count - o.Least - o.Skew
	case binding.Affinity:
	default:
		return false
	}
	if !o.Has {
		return false
	}
	for _, t := range a.cluster.waiting {
		if o.Pods.Has(t.Face) {
			missing--
		}
	}
	for _, b := range late {
		if o.Rule == binding.Affinity && o.Pods.Has(b.Pod.Face) && o.About(b.Node) {
			missing--
		}
	}
	for _, k := range a.cluster.topology.Labelled[binding.LabelOf(o.Pods)] {
		if !o.Pods.Has(k.Face) {
			continue
		}
		for h, n := range k.On {
			if s := a.cluster.there[h.Name]; s != nil && a.cluster.topology.Nodes[h] && s.node.Leaves() {
				missing -= n
			}
		}
	}
	return missing <= 0
}
