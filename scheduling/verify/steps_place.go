package verify

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// place checks that launches are legal, and that all evicted pods fit where they are
// expected once the nodes of the step are gone, by every rule about plans.
func (a *act) place() {
	a.world.pods = maps.Clone(a.waiting)
	onto := make(map[string][]string) // pods by node
	for _, m := range a.moves {
		a.world.pods[m.Pod] = m.tenant
		if a.launch(m.To) == nil && a.stations[m.To] != nil {
			onto[m.To] = append(onto[m.To], m.Pod)
		}
	}
	plan := &scheduling.Plan{Launches: a.step.Launches}
	for _, name := range slices.Sorted(maps.Keys(onto)) {
		plan.Existing = append(plan.Existing, scheduling.Assignment{Node: name, Pods: onto[name]})
	}
	a.running()
	j := a.judge(plan)
	j.places()
	a.bind(j)
	a.used = j.used
	a.launched = make(map[string]*corev1.Node)
	for _, r := range j.launches {
		if r.first() == nil || r.pool == nil {
			continue
		}
		if node, err := r.Node(r.Name, &r.Options[0], r.pool.catalog); err == nil {
			a.launched[r.Name] = node
		}
	}
}

// judge reads the step as a plan for the cluster without the nodes that go.
func (a *act) judge(plan *scheduling.Plan) *judge {
	return newJudge(a.Report, a.world, Checker{Solver: a.checker.Planner.Solver}, plan)
}

// running lists the pods that run for those rules that look at all of them.
func (a *act) running() {
	a.residents = a.residents[:0:0]
	if a.tied {
		a.residents = a.seated(func(string) bool { return true })
	}
	if a.checker.Planner.Solver.WorkloadShare > 0 {
		a.problem.Running, a.problem.Pods = a.bodiesLeft(), nil
	}
}

// seated are the pods that sit on nodes which are kept, in order of their names.
func (g *ground) seated(keep func(node string) bool) []resident {
	var out []resident
	for _, name := range g.order {
		if r, ok := g.looks[name]; ok && keep(r.node) {
			out = append(out, r)
		}
	}
	return out
}

// bind checks the rules between pods: those that move bind one by one. Nodes that are being
// removed already, for whatever reason, are looked at as there and as gone, since nobody
// knows which comes first.
func (a *act) bind(j *judge) {
	if !j.anyTies() {
		return
	}
	s, waiting := j.play(j.hosts, j.booked)
	seen := s
	if len(waiting) > 0 {
		if again, rest := a.withoutLeaving(j); len(rest) < len(waiting) {
			seen, waiting = again, rest
		}
	}
	for _, g := range waiting {
		if o, _ := seen.obstacle(g.party, g.host); !a.mayPass(o) {
			j.add(o.code, "pod/"+g.name, "cannot bind to %s: %s", g.host.object, o)
		}
	}
	j.agreements(s)
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
	for _, r := range a.residents {
		if s := a.nodes[r.node]; s != nil && leaving(s.node) && o.pods.has(r.face) {
			missing--
		}
	}
	return missing <= 0
}

// withoutLeaving lets the pods bind where nodes that are being removed are gone.
func (a *act) withoutLeaving(j *judge) (*scene, []guest) {
	all, booked := a.residents, j.booked
	hosts := make(map[*host]*host)
	var list []*host
	gone := make(map[string]bool)
	for _, h := range j.hosts {
		if h.name != "" && a.nodes[h.name] != nil && leaving(a.nodes[h.name].node) {
			gone[h.name] = true
			continue
		}
		hosts[h] = &host{place: h.place, object: h.object, number: len(list)}
		list = append(list, hosts[h])
	}
	var again []booking
	for _, b := range booked {
		if hosts[b.host] != nil {
			again = append(again, booking{b.tenant, hosts[b.host]})
		}
	}
	a.residents = slices.DeleteFunc(slices.Clone(all), func(r resident) bool { return gone[r.node] })
	s, waiting := j.play(list, again)
	a.residents = all
	return s, waiting
}

// waves checks, where pods go in several waves, that each wave can bind while the pods of
// the next ones still are where they were.
func (a *act) waves() {
	last := 0
	for _, m := range a.moves {
		last = max(last, m.Wave)
	}
	if last < 2 || !a.tied {
		return
	}
	for wave := 1; wave <= last; wave++ {
		a.wave(wave)
	}
	a.running()
}

func (a *act) wave(wave int) {
	// A node goes with the last pod that has to be evicted.
	still := make(map[string]bool)
	for _, m := range a.moves {
		if m.Wave > wave && a.from[m.From] != nil {
			still[m.From] = true
		}
	}
	hosts := make(map[string]*host)
	j := a.judge(&scheduling.Plan{})
	add := func(p *place, name string) {
		h := &host{place: p, object: "node/" + name, number: len(j.hosts)}
		hosts[name] = h
		j.hosts = append(j.hosts, h)
	}
	for _, s := range a.sortedStations() {
		add(&s.place, s.name)
	}
	for i := range a.step.Launches {
		if node := a.launched[a.step.Launches[i].Name]; node != nil && hosts[node.Name] == nil {
			add(&place{labels: node.Labels, name: node.Name, taints: node.Spec.Taints}, node.Name)
		}
	}
	for _, s := range a.going {
		if still[s.name] {
			p := a.from[s.name].place
			p.taints = append(slices.Clone(p.taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
			add(&p, s.name)
		}
	}
	a.residents = a.seated(func(string) bool { return true })
	for _, s := range a.going {
		for _, pod := range s.pods {
			if still[s.name] && !a.evicted(pod) {
				a.residents = append(a.residents, resident{a.faceOf(pod), apartOf(pod), s.name})
			}
		}
	}
	for _, m := range a.moves {
		switch {
		case m.Wave == wave && hosts[m.To] != nil:
			j.booked = append(j.booked, booking{m.tenant, hosts[m.To]})
		case m.Wave < wave && hosts[m.To] != nil:
			a.residents = append(a.residents, resident{m.tenant.face, apartOf(m.pod), m.To})
		case m.Wave > wave:
			a.residents = append(a.residents, resident{a.faceOf(m.pod), apartOf(m.pod), m.From})
		}
	}
	slices.SortFunc(j.booked, bindingOrder)
	s, waiting := j.play(j.hosts, j.booked)
	if len(waiting) > 0 {
		if again, rest := a.withoutLeaving(j); len(rest) < len(waiting) {
			s, waiting = again, rest
		}
	}
	for _, g := range waiting {
		if o, _ := s.obstacle(g.party, g.host); !a.mayPass(o) {
			a.add(Wave, "pod/"+g.name, "cannot bind to %s in wave %d: %s", g.host.object, wave, strings.TrimSpace(o.String()))
		}
	}
}

// evicted reports whether the step moves the pod.
func (a *act) evicted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(a.moves, func(m move) bool { return m.pod == pod })
}

// arrive leaves the cluster as it is once the step is done.
func (a *act) arrive() {
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		if node := a.launched[l.Name]; node != nil && a.nodes[l.Name] == nil {
			s := a.newStanding(node)
			s.fresh = true
			a.nodes[l.Name] = s
			a.stations[l.Name] = a.newStation(node, nil)
		}
	}
	touched := make(map[string]bool)
	for _, m := range a.moves {
		s := a.nodes[m.To]
		if s == nil {
			continue
		}
		pod := *m.tenant.pod
		pod.Spec.NodeName = m.To
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		s.seat(append(slices.Clip(s.pods), &pod))
		a.bodies[m.Pod], a.seats[m.Pod] = &pod, m.To
		a.looks[m.Pod] = resident{a.faceOf(&pod), apartOf(&pod), m.To}
		a.storage.use(&pod)
		touched[m.To] = true
	}
	for _, name := range slices.Sorted(maps.Keys(touched)) {
		a.rebuild(a.nodes[name])
		a.stirred[name] = a.machines[name] != nil
	}
	for id, n := range a.used {
		a.reservations[id] -= n
	}
	for _, s := range a.going {
		if id := s.node.Labels[offerings.ReservationIDLabel]; id != "" {
			a.reservations[id]++
		}
	}
}
