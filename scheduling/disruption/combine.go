package disruption

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// combined is the step that leads at once where moves lead one after the other. Machines that are launched and
// removed on the way are not launched, and each pod goes directly to its last node.
func combined(moves []*Step, of *state) *Step {
	out := &Step{Reason: Underutilized}
	launches, origin, final := map[string]scheduling.Launch{}, map[string]string{}, map[string]string{}
	for _, m := range moves {
		for i := range m.Launches {
			launches[m.Launches[i].Name] = m.Launches[i]
		}
		for _, name := range m.Drain {
			if _, ok := launches[name]; !ok {
				out.Drain = append(out.Drain, name)
			}
			delete(launches, name)
		}
		for _, e := range m.Evictions {
			if _, ok := origin[e.Pod]; !ok {
				origin[e.Pod] = e.From
			}
			final[e.Pod] = e.To
		}
	}
	slices.Sort(out.Drain)
	bring := map[string][]string{}
	for _, pod := range slices.Sorted(maps.Keys(final)) {
		e := Eviction{Pod: pod, From: origin[pod], To: final[pod]}
		out.Evictions, bring[e.To] = append(out.Evictions, e), append(bring[e.To], pod)
	}
	for _, name := range slices.Sorted(maps.Keys(launches)) {
		if l := launches[name]; len(bring[name]) > 0 {
			out.Launches = append(out.Launches, withPods(&l, bring[name], of))
		}
	}
	return out
}

// leadsTo reports whether a step leads to the same cluster as another.
func (s *Step) leadsTo(other *Step) bool {
	return slices.Equal(s.Drain, other.Drain) && slices.Equal(s.Evictions, other.Evictions) &&
		slices.EqualFunc(s.Launches, other.Launches, func(a, b scheduling.Launch) bool { return a.Options[0].Key() == b.Options[0].Key() })
}

// withPods is a launch with the pods that a step moves to it. If one of them was not planned there, only the first option is
// kept, because only for that one it is known that it holds the pods.
func withPods(l *scheduling.Launch, pods []string, of *state) scheduling.Launch {
	out := *l
	out.Pods = slices.Sorted(slices.Values(pods))
	out.Requests = of.sessions.RequestsWith(l.Requests, l.Pods, out.Pods, of.podOf)
	if slices.ContainsFunc(out.Pods, func(pod string) bool { return !slices.Contains(l.Pods, pod) }) {
		out.Options = out.Options[:1]
	}
	return out
}
