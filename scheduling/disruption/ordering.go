package disruption

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// ordering splits a step into steps as small as possible: nodes are removed one by one, or as few together as
// possible. The destinations of the step are known by number and kind of pods. A pod takes one of those of its kind
// only when it is evicted, because topology spread and pod affinity look at the cluster as it is then.
type ordering struct {
	state            *state
	reason           Reason
	expectedRemovals []string // nodes that take in no pods besides those of remaining
	simulation       *landing.Trial
	// resimulates says that a rule is in force which the trial does not know (WorkloadShare), so that pods are placed
	// again by the session.
	resimulates bool
	// destinations counts, by kind and node, the pods that the node still takes in; launches are the launches among
	// these nodes, launched those that exist already.
	destinations     map[string]map[string]int
	destinationOrder map[string][]string // by kind, the names of its destinations
	launches         map[string]*scheduling.Launch
	launched         map[string]bool
	lastLaunched     []string           // the launches of the last group
	weight           map[string]float64 // by kind, the share that the requests of a pod have of all free capacity
	// failed has the sets of nodes, each with the pods that found no node, for which launches were planned and gave
	// no step.
	failed map[string]bool
	// remaining are the nodes to be removed, the largest saving for their disruption cost first.
	remaining []*leavingNode
}

// leavingNode is a node to be removed, with its pods by kind.
type leavingNode struct {
	*candidate
	kinds []string
	pods  map[string][]string
}

// apply takes note of a step that was made: kube-scheduler may have bound pods elsewhere than planned, and launches
// may exist that the ordering did not plan.
func (w *ordering) apply(step *Step) {
	mark := w.simulation.Mark()
	w.remaining = slices.DeleteFunc(w.remaining, func(l *leavingNode) bool { return slices.Contains(step.Drain, l.name) })
	for i := range step.Launches {
		if l := &step.Launches[i]; w.launches[l.Name] == nil {
			w.simulation.Launch(l)
		}
	}
	for _, e := range step.Evictions {
		if a := w.simulation.Pods[e.Pod]; a != nil && a.On != e.To {
			w.simulation.Move(a, "")
			w.simulation.Move(a, e.To)
		}
	}
	w.simulation.Keep(mark)
}

// fitsLastLaunched reports whether a node has pods of a kind that the last launches still take in.
func (w *ordering) fitsLastLaunched(l *leavingNode) bool {
	return slices.ContainsFunc(l.kinds, func(kind string) bool {
		return slices.ContainsFunc(w.lastLaunched, func(name string) bool { return w.destinations[kind][name] > 0 })
	})
}

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
	bring := map[string][]Eviction{}
	for _, pod := range slices.Sorted(maps.Keys(final)) {
		e := Eviction{Pod: pod, From: origin[pod], To: final[pod]}
		out.Evictions, bring[e.To] = append(out.Evictions, e), append(bring[e.To], e)
	}
	for _, name := range slices.Sorted(maps.Keys(launches)) {
		if l := launches[name]; len(bring[name]) > 0 {
			out.Launches = append(out.Launches, withEvictions(&l, bring[name], of))
		}
	}
	return out
}

// leadsTo reports whether a step leads to the same cluster as another.
func (s *Step) leadsTo(other *Step) bool {
	return slices.Equal(s.Drain, other.Drain) && slices.Equal(s.Evictions, other.Evictions) &&
		slices.EqualFunc(s.Launches, other.Launches, func(a, b scheduling.Launch) bool { return a.Options[0].Key() == b.Options[0].Key() })
}

// withEvictions is a launch with the pods that evictions move to it. If one of them was not planned there, only the
// first option is kept, because only for that one it is known that it holds the pods.
func withEvictions(l *scheduling.Launch, evictions []Eviction, of *state) scheduling.Launch {
	out := *l
	out.Pods = nil
	for _, e := range evictions {
		if e.To == l.Name {
			out.Pods = append(out.Pods, e.Pod)
		}
	}
	slices.Sort(out.Pods)
	out.Requests = requestsWith(of, l.Requests, l.Pods, out.Pods)
	if slices.ContainsFunc(out.Pods, func(pod string) bool { return !slices.Contains(l.Pods, pod) }) {
		out.Options = out.Options[:1]
	}
	return out
}

// newOrdering splits a step of a state. The nodes in first are tried before the others.
func newOrdering(f *state, step *Step, first []string) *ordering {
	w := &ordering{
		state: f, reason: step.Reason, simulation: f.landing.Try(landingStep(step, nil), f.offered), resimulates: f.planner.Policy.WorkloadShare > 0,
		destinations: map[string]map[string]int{}, destinationOrder: map[string][]string{}, launches: map[string]*scheduling.Launch{}, launched: map[string]bool{}, weight: map[string]float64{}, failed: map[string]bool{},
	}
	for i := range step.Launches {
		w.launches[step.Launches[i].Name] = &step.Launches[i]
		w.simulation.CountNode(step.Launches[i].Name, -1)
	}
	at := make(map[string]*leavingNode, len(step.Drain))
	for _, name := range step.Drain {
		at[name] = &leavingNode{candidate: f.byName[name], pods: map[string][]string{}}
		w.remaining = append(w.remaining, at[name])
	}
	rooms, known := f.rooms(nil), map[string]string{}
	for _, e := range step.Evictions {
		kind := w.kindOf(e.Pod)
		if name, ok := known[kind]; ok {
			kind = name // one string for all of them
		}
		known[kind] = kind
		at[e.From].pods[kind] = append(at[e.From].pods[kind], e.Pod)
		if w.destinations[kind] == nil {
			w.destinations[kind] = map[string]int{}
			w.weight[kind] = 1e-9 + rooms.Share(f.requests.Of(e.Pod))
		}
		w.destinations[kind][e.To]++
	}
	for kind, places := range w.destinations {
		w.destinationOrder[kind] = slices.Sorted(maps.Keys(places))
	}
	turn := func(l *leavingNode) int {
		if i := slices.Index(first, l.name); i >= 0 {
			return i
		}
		return len(first)
	}
	for _, l := range w.remaining {
		l.kinds = slices.Sorted(maps.Keys(l.pods))
	}
	slices.SortStableFunc(w.remaining, func(a, b *leavingNode) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(ratio(b.price, b.cost), ratio(a.price, a.cost)))
	})
	return w
}

// kindOf is the same for pods that may exchange their destinations, because they differ in nothing that matters to
// scheduling. A pod with something of its own, e.g. a volume, is a kind by itself.
func (w *ordering) kindOf(name string) string {
	moving, pod := w.simulation.Pods[name], w.state.pods[name]
	if pod == nil || moving.Class < 0 || len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, ownVolume) || slices.ContainsFunc(pod.Spec.Containers, ownPort) {
		return name
	}
	return "=" + w.simulation.Alike(moving)
}

// ownVolume reports whether a volume may restrict a pod to some nodes.
func ownVolume(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.HostPath == nil
}

// ownPort reports whether a container has a host port.
func ownPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
}
