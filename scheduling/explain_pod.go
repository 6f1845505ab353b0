package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// mostPlaces is how many nodes, and how many launches, an explanation of a pod lists.
const mostPlaces = 3

// Pod explains what becomes of a pod, named as namespace/name, or by its name where no
// other namespace has it. The error is an [UnknownNameError].
func (x *Explainer) Pod(name string) (*PodExplanation, error) {
	pod, err := x.findPod(name)
	if err != nil {
		return nil, err
	}
	full := podName(pod)
	out := &PodExplanation{Pod: full, Status: PodIgnored, Requests: x.requests(pod), Priority: priorityOf(pod)}
	id, planned := x.e.classOf[full]
	for i := range x.plan.Launches {
		if l := &x.plan.Launches[i]; slices.Contains(l.Pods, full) {
			out.Status, out.Place, out.Option = PodLaunch, l.Name, &l.Options[0]
		}
	}
	for _, a := range x.plan.Existing {
		if slices.Contains(a.Pods, full) {
			out.Status, out.Place = PodExisting, a.Node
		}
	}
	for i := range x.plan.Unschedulable {
		if u := &x.plan.Unschedulable[i]; u.Pod == full {
			out.Status, out.RuledOut, out.Changes = PodUnschedulable, slices.Clone(u.Reasons), copyChanges(u.Changes)
			if planned {
				out.Ties = x.e.tied.states(id)
			}
			return out, nil
		}
	}
	switch {
	case planned && out.Status != PodIgnored:
		x.alternatives(out, id)
	case pod.Spec.NodeName != "" && !terminal(pod):
		out.Status, out.Place = PodRunning, pod.Spec.NodeName
	}
	return out, nil
}

// alternatives looks where else a pod could be that has a place: as if the plan had
// all others and not it.
func (x *Explainer) alternatives(out *PodExplanation, id int) {
	e := newExplainer(x.e.compiler, without(x.plan, out.Pod))
	e.lenient = true
	class := e.planned[id]
	out.Ties = e.tied.states(id)
	out.RuledOut = e.reasons(class, id)
	nodes, launches := 0, 0
	for i, n := range e.nodes {
		if n.node.Name == out.Place || nodes == mostPlaces || !e.suits[i].Has(class.group) || !e.nodeHolds(class, i) || len(e.tied.nodeBars(id, i)) > 0 {
			continue
		}
		nodes++
		out.Next = append(out.Next, Place{Node: n.node.Name})
	}
	for i := range e.machines {
		l := &x.plan.Launches[i]
		if l.Name == out.Place || launches == mostPlaces || !e.machineHolds(class, id, i) {
			continue
		}
		launches++
		out.Next = append(out.Next, Place{Launch: l.Name, NodePool: l.NodePool})
	}
	if own, ok := e.cheapest(class, id); ok {
		o := e.offers.offers[own.offer].option()
		out.Next = append(out.Next, Place{Option: &o, NodePool: e.templates[own.template].pool.Name})
	}
}

// without returns a plan without one pod.
func without(plan *Plan, pod string) *Plan {
	out := *plan
	drop := func(pods []string) []string {
		return slices.DeleteFunc(slices.Clone(pods), func(name string) bool { return name == pod })
	}
	out.Launches = slices.Clone(plan.Launches)
	for i := range out.Launches {
		if slices.Contains(out.Launches[i].Pods, pod) {
			out.Launches[i].Pods = drop(out.Launches[i].Pods)
		}
	}
	out.Existing = slices.Clone(plan.Existing)
	for i := range out.Existing {
		if slices.Contains(out.Existing[i].Pods, pod) {
			out.Existing[i].Pods = drop(out.Existing[i].Pods)
		}
	}
	return &out
}

// cheapest is the best offer that would take a pod of a class on a machine of its own.
func (e *explainer) cheapest(class *podClass, id int) (best purchase, ok bool) {
	for ti, s := range e.screened(class.group) {
		s.admitted.Each(func(o int) {
			if (!ok || e.offers.offers[o].cost < e.offers.offers[best.offer].cost) && e.usable(class, id, ti, o) {
				best, ok = purchase{template: ti, offer: o}, true
			}
		})
	}
	return best, ok
}

// machineHolds reports whether a machine of the plan could take a further pod.
func (e *explainer) machineHolds(class *podClass, id, launch int) bool {
	m := &e.machines[launch]
	if m.template < 0 {
		return false
	}
	room, ok := e.room(m.template, m.offer)
	row := e.offered[m.template].rows[class.group]
	if !ok || row == nil || !row.Has(m.offer) {
		return false
	}
	left := slices.Clone(room)
	for d, q := range e.load(m.items) {
		left[d] -= q
	}
	ports := e.classes.groups[class.group].ports
	return model.Fits(left, class.requests) && len(e.tied.machineBars(id, launch)) == 0 &&
		!slices.ContainsFunc(m.items, func(it portion) bool {
			return portsClash(ports, e.classes.groups[e.planned[it.class].group].ports)
		})
}

// machineBars lists what keeps a class from a machine of the plan.
func (t *tied) machineBars(id, launch int) []bar {
	if !t.ties(id) || t.spots[launch] < 0 {
		return nil
	}
	items := t.scene.machines[launch].items
	out := slices.DeleteFunc(t.bars(id, t.at(t.spots[launch]), -1), func(b bar) bool { return b.rule < 0 })
	first := t.first(id)
	for _, d := range t.holds[id] {
		if d.rule >= 0 {
			continue
		}
		there := int64(0)
		for _, it := range items {
			if t.selfMatch(it.class, d.target) {
				there += it.n
			}
		}
		kind := noBar
		switch {
		case d.kind == affinityTie && there == 0 && !first:
			kind = elsewhere
		case d.kind == antiTie && there > 0:
			kind = inCompany
		case d.kind == spreadTie && (there > d.maxSkew || there == d.maxSkew && t.selfMatch(id, d.target)):
			kind = tooMany
		}
		if kind != noBar {
			out = append(out, bar{kind: kind, tie: d.tie, rule: -1, at: -1})
		}
	}
	for _, it := range items {
		t.hard(it.class, func(x tie) {
			if x.kind == antiTie && x.perHost() && t.selfMatch(id, x.target) {
				out = append(out, bar{kind: turnedAway, tie: x, rule: -1, at: -1})
			}
		})
	}
	return out
}

// states lists the constraints of a class on where others are.
func (t *tied) states(id int) []TieState {
	if !t.ties(id) {
		return nil
	}
	namespace := namespaceOf(t.scene.planned[id].pods[0])
	var out []TieState
	for _, d := range t.holds[id] {
		s := TieState{Code: d.code(), Key: d.key, Matching: t.who(d.target, namespace)}
		s.Text = d.text() + " of pods that match " + s.Matching
		if d.rule >= 0 {
			r := &t.rules[d.rule]
			for i := range r.domains {
				if x := &r.domains[i]; x.Count > 0 || x.Eligible {
					s.Domains = append(s.Domains, DomainCount{t.land.axes[r.axis].values[i], x.Count})
				}
			}
		}
		out = append(out, s)
	}
	return out
}
