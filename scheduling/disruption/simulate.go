package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// outcome is what would become of the pods of nodes if these were removed.
type outcome struct {
	// nodes are those that go, sorted.
	nodes []string
	// launches are what has to be bought. Their names are as the next step's are.
	launches []scheduling.Launch
	// evictions are the pods that have to live on and have a place, by name, without waves.
	evictions []Eviction
	// stuck are those that have none.
	stuck []scheduling.Unschedulable
	// origin tells of pods where they are, by name.
	origin map[string]string
}

// question is a what-if: nodes go, and their pods look for places.
type question struct {
	nodes []string
	// buy allows launches, for which effort is spent.
	buy    bool
	effort scheduling.Effort
	// closed receive nobody this time, besides those that are shunned.
	closed []string
	// launches are machines that are there already when the nodes go.
	launches []scheduling.Launch
	// why asks for the reasons why pods have no place.
	why bool
	// alone leaves out pods that wait already.
	alone bool
}

// drain says what would become of the pods of nodes if these were removed, when machines
// may be bought, and why some have no place.
func (s *state) drain(ctx context.Context, nodes []string) (*outcome, error) {
	return s.ask(ctx, &question{nodes: nodes, buy: true, effort: s.planner.Policy.Effort, why: true})
}

// ask answers a what-if. The state stays as it is. Pods that wait already take part and may
// stay without a place.
func (s *state) ask(ctx context.Context, q *question) (*outcome, error) {
	from := s.free
	if q.buy {
		from = s.market
	}
	fork := from.Fork()
	d, origin, err := s.emptied(q)
	if err != nil {
		return nil, err
	}
	out := &outcome{nodes: d.Removed.Nodes, origin: origin}
	if len(origin) == 0 {
		return out, nil
	}
	if q.alone && q.buy {
		for _, name := range slices.Sorted(maps.Keys(s.waits)) {
			d.Removed.Pods = append(d.Removed.Pods, keyOf(s.waits[name]))
		}
	}
	if err := fork.Apply(d); err != nil {
		return nil, err
	}
	var plan *scheduling.Plan
	switch {
	case q.why:
		plan, err = fork.Plan(ctx)
	default:
		plan, err = fork.Place(ctx, q.effort)
	}
	if err != nil {
		return nil, err
	}
	s.read(out, plan, origin)
	s.agree(out.launches)
	return out, nil
}

// emptied is the change in which the question's nodes go, and where the pods that look for
// a place come from, by name.
func (s *state) emptied(q *question) (scheduling.Delta, map[string]string, error) {
	var d scheduling.Delta
	origin := map[string]string{}
	d.Removed.Nodes = slices.Compact(slices.Sorted(slices.Values(q.nodes)))
	for _, name := range d.Removed.Nodes {
		at := s.nodes[name]
		if at == nil {
			return d, nil, fmt.Errorf("there is no node %q", name)
		}
		for _, pod := range at.pods {
			if reschedulable(pod) {
				d.Pods = append(d.Pods, s.lift(pod))
				origin[podspec.PodName(pod)] = name
			} else {
				d.Removed.Pods = append(d.Removed.Pods, keyOf(pod))
			}
		}
		for _, pod := range at.expected {
			if q.buy && !q.alone {
				d.Pods = append(d.Pods, s.lift(pod)) // waits on, for another place
			} else {
				d.Removed.Pods = append(d.Removed.Pods, keyOf(pod))
			}
		}
	}
	for i := range q.launches {
		node, err := s.nodeOf(&q.launches[i])
		if err != nil {
			return d, nil, err
		}
		d.Nodes = append(d.Nodes, node)
	}
	for _, name := range q.closed {
		at := s.nodes[name]
		if at == nil || at.shut > 0 || slices.Contains(d.Removed.Nodes, name) {
			continue
		}
		closed := *at
		closed.shut++
		d.Nodes = append(d.Nodes, s.shown(&closed))
	}
	return d, origin, nil
}

// mostLifted is how many pods are kept ready to be placed.
const mostLifted = 10_000

// lift is a pod of a node, ready to be placed elsewhere.
func (s *state) lift(pod *corev1.Pod) *corev1.Pod {
	out := s.lifted[pod]
	if len(s.lifted) > mostLifted {
		clear(s.lifted)
	}
	if out == nil {
		out = unbound(pod)
		s.lifted[pod] = out
	}
	return out
}

// unbound is a copy of a pod that has no node yet.
func unbound(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp = "", nil
	return &out
}

// read turns the plan of a what-if into its outcome. Machines for pods that wait anyway
// are left out.
func (s *state) read(out *outcome, plan *scheduling.Plan, origin map[string]string) {
	land := func(pods []string, to string) (own []string) {
		for _, pod := range pods {
			if from, ok := origin[pod]; ok {
				out.evictions = append(out.evictions, Eviction{Pod: pod, From: from, To: to})
				own = append(own, pod)
			}
		}
		return own
	}
	for i := range plan.Existing {
		land(plan.Existing[i].Pods, plan.Existing[i].Node)
	}
	names := s.namer()
	for i := range plan.Launches {
		l := plan.Launches[i]
		if !slices.ContainsFunc(l.Pods, func(pod string) bool { return origin[pod] != "" }) {
			continue
		}
		l.Name = names(l.NodePool)
		all := l.Pods
		l.Pods = land(l.Pods, l.Name)
		l.Requests = s.rebooked(l.Requests, all, l.Pods)
		out.launches = append(out.launches, l)
	}
	for i := range plan.Unschedulable {
		if origin[plan.Unschedulable[i].Pod] != "" {
			out.stuck = append(out.stuck, plan.Unschedulable[i])
		}
	}
	slices.SortFunc(out.evictions, compareEvictions)
}

// namer hands out names for launches that no node and no earlier launch has.
func (s *state) namer() func(pool string) string {
	used := map[string]int{}
	return func(pool string) string {
		for {
			used[pool]++
			name := fmt.Sprintf("%s-%d", pool, s.bought[pool]+used[pool])
			if s.nodes[name] == nil && !s.gone(name) {
				return name
			}
		}
	}
}

// gone reports whether a node of the cluster had that name.
func (s *state) gone(name string) bool { return s.original[name] }

// rebooked is what a launch is asked for when other pods land there than those it was asked
// for at first. Both lists are sorted.
func (s *state) rebooked(requests corev1.ResourceList, before, after []string) corev1.ResourceList {
	if slices.Equal(before, after) {
		return requests
	}
	out := requests.DeepCopy()
	book := func(pods, others []string, add bool) {
		for _, name := range pods {
			pod := s.podOf(name)
			if _, both := slices.BinarySearch(others, name); both || pod == nil {
				continue
			}
			for resource, q := range provisioning.PodRequests([]*corev1.Pod{pod})[0] {
				sum, ok := out[resource]
				switch {
				case add && ok:
					sum.Add(q)
				case add:
					sum = q
				default:
					sum.Sub(q)
				}
				if out[resource] = sum; sum.IsZero() {
					delete(out, resource)
				}
			}
		}
	}
	book(before, after, false)
	book(after, before, true)
	return out
}

// podOf is the pod of a name, wherever it is.
func (s *state) podOf(name string) *corev1.Pod {
	if pod := s.pods[name]; pod != nil {
		return pod
	}
	return s.waits[name]
}

// compareEvictions orders evictions by pod.
func compareEvictions(a, b Eviction) int { return strings.Compare(a.Pod, b.Pod) }
