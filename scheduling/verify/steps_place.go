package verify

import (
	"maps"
	"slices"

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
	j := a.judge(plan)
	j.places()
	a.bind(j)
	for _, r := range j.launches {
		if r.host != nil {
			a.crowd.leave(r.host)
		}
	}
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
	j := newJudge(a.Report, a.world, Checker{Solver: a.checker.Planner.Solver}, plan)
	j.crowd = a.crowd
	return j
}

// bind checks the rules between pods: those that move bind one by one.
func (a *act) bind(j *judge) {
	if !j.anyTies() {
		return
	}
	s, unbound := a.bindAll(j)
	for _, u := range unbound {
		j.add(u.by.code, "pod/"+u.name, "cannot bind to %s: %s", u.host.object, u.by)
	}
	j.agreements(s)
}

// arrive leaves the cluster as it is once the step is done.
func (a *act) arrive() {
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		if node := a.launched[l.Name]; node != nil && a.nodes[l.Name] == nil {
			s := a.newStanding(node)
			s.fresh = true
			a.stations[l.Name] = a.newStation(node, nil)
			a.enlist(s)
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
		a.sit(&pod, m.To)
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
