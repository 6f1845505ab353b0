package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
)

// ordering is the way to a cluster that is known in steps as small as may be: nodes leave one
// by one, or as few together as may be. Which places there are to be taken is known, and
// which of them a pod takes is only told when its turn comes: pods that are alike may have
// each other's, and rules look at the cluster as it stands then.
type ordering struct {
	state      *state
	reason     Reason
	foreseen   []string // nodes that take in no pods besides those that are still to go
	simulation *landing.Trial
	// asks says that rules are in force which the simulation does not know, so that places are
	// looked for again.
	asks bool
	// places are how many pods of a kind a node takes in; new are the launches among these, and
	// bought those that are there.
	places map[string]map[string]int
	order  map[string][]string // by kind, the nodes of its places
	new    map[string]*scheduling.Launch
	bought map[string]bool
	last   []string           // what was bought last
	weight map[string]float64 // by kind, what a pod takes of what nodes have
	// vain are the nodes, with the pods that found no place, for which machines were asked for without a step.
	vain map[string]bool
	// waits are the nodes that are still to go, those that save most for what they disrupt first.
	waits []*leavingNode
}

// leavingNode is a node that is to go, with its pods by kind.
type leavingNode struct {
	*candidate
	kinds []string
	pods  map[string][]string
}

// follow takes note of a step that was made: some pods have landed elsewhere than where they had
// places, and machines are there that the way did not know of.
func (w *ordering) follow(step *Step) {
	mark := w.simulation.Mark()
	w.waits = slices.DeleteFunc(w.waits, func(l *leavingNode) bool { return slices.Contains(step.Drain, l.name) })
	for i := range step.Launches {
		if l := &step.Launches[i]; w.new[l.Name] == nil {
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

// hopes reports whether what was bought last has places for pods of a node.
func (w *ordering) hopes(l *leavingNode) bool {
	return slices.ContainsFunc(l.kinds, func(kind string) bool {
		return slices.ContainsFunc(w.last, func(name string) bool { return w.places[kind][name] > 0 })
	})
}

// combined is the step that leads at once to where moves lead one after the other: machines
// that are bought and removed on the way are not bought, and pods go to where they end.
func combined(moves []*Step, rebooked booking) *Step {
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
			out.Launches = append(out.Launches, trimmed(&l, bring[name], rebooked))
		}
	}
	return out
}

// leadsTo reports whether a step leads to the same cluster as another.
func (s *Step) leadsTo(other *Step) bool {
	return slices.Equal(s.Drain, other.Drain) && slices.Equal(s.Evictions, other.Evictions) &&
		slices.EqualFunc(s.Launches, other.Launches, func(a, b scheduling.Launch) bool { return a.Options[0].Key() == b.Options[0].Key() })
}

// booking is what a launch is asked for when other pods land there than before.
type booking func(requests corev1.ResourceList, before, after []string) corev1.ResourceList

// trimmed is a launch with the pods that evictions bring there. If those are not the ones
// that it was bought for, it is only sure of its first option that it holds them.
func trimmed(l *scheduling.Launch, evictions []Eviction, rebooked booking) scheduling.Launch {
	out := *l
	out.Pods = nil
	for _, e := range evictions {
		if e.To == l.Name {
			out.Pods = append(out.Pods, e.Pod)
		}
	}
	slices.Sort(out.Pods)
	out.Requests = rebooked(l.Requests, l.Pods, out.Pods)
	if slices.ContainsFunc(out.Pods, func(pod string) bool { return !slices.Contains(l.Pods, pod) }) {
		out.Options = out.Options[:1]
	}
	return out
}

// newOrdering begins the way to where a step leads.
func newOrdering(f *state, step *Step, first []string) *ordering {
	w := &ordering{
		state: f, reason: step.Reason, simulation: f.landing.Try(landingStep(step, nil), f.offered), asks: f.planner.Policy.WorkloadShare > 0,
		places: map[string]map[string]int{}, order: map[string][]string{}, new: map[string]*scheduling.Launch{}, bought: map[string]bool{}, weight: map[string]float64{}, vain: map[string]bool{},
	}
	for i := range step.Launches {
		w.new[step.Launches[i].Name] = &step.Launches[i]
		w.simulation.Exist(step.Launches[i].Name, -1)
	}
	at := make(map[string]*leavingNode, len(step.Drain))
	for _, name := range step.Drain {
		at[name] = &leavingNode{candidate: f.at[name], pods: map[string][]string{}}
		w.waits = append(w.waits, at[name])
	}
	rooms, known := f.open(nil), map[string]string{}
	for _, e := range step.Evictions {
		kind := w.kindOf(e.Pod)
		if name, ok := known[kind]; ok {
			kind = name // one string for all of them
		}
		known[kind] = kind
		at[e.From].pods[kind] = append(at[e.From].pods[kind], e.Pod)
		if w.places[kind] == nil {
			w.places[kind] = map[string]int{}
			w.weight[kind] = 1e-9 + rooms.Share(f.capacity.sizes[e.Pod])
		}
		w.places[kind][e.To]++
	}
	for kind, places := range w.places {
		w.order[kind] = slices.Sorted(maps.Keys(places))
	}
	turn := func(l *leavingNode) int {
		if i := slices.Index(first, l.name); i >= 0 {
			return i
		}
		return len(first)
	}
	for _, l := range w.waits {
		l.kinds = slices.Sorted(maps.Keys(l.pods))
	}
	slices.SortStableFunc(w.waits, func(a, b *leavingNode) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(ratio(b.price, b.cost), ratio(a.price, a.cost)))
	})
	return w
}

// kindOf is the same for pods that may have each other's places, because nothing tells them apart. Pods with something of
// their own, e.g. a volume, are alike to none.
func (w *ordering) kindOf(name string) string {
	moving, pod := w.simulation.Pods[name], w.state.pods[name]
	if pod == nil || moving.Class < 0 || len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, ownVolume) || slices.ContainsFunc(pod.Spec.Containers, ownPort) {
		return name
	}
	return fmt.Sprintf("=%08d", moving.Class)
}

// ownVolume reports whether a volume may tie a pod to some nodes.
func ownVolume(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.HostPath == nil
}

// ownPort reports whether a container takes a port of its node.
func ownPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
}
