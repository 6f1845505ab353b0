package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
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
	unschedulable []scheduling.Unschedulable
	// first are pods that leave before the others, so that each finds a place.
	early map[string]bool
	// origin tells of pods where they are, by name.
	origin map[string]string
}

// question is a what-if: nodes go, and their pods look for places.
type whatIf struct {
	nodes []string
	// buy allows launches, for which effort is spent.
	buy    bool
	effort scheduling.Effort
	// closed receive nobody this time, besides those that are closed anyway.
	closed []string
	// launches are machines that are there already when the nodes go.
	launches []scheduling.Launch
	// why asks for the reasons why pods have no place.
	explain bool
	// alone leaves out pods that wait already.
	withoutPending bool
	// brief is content with the first answer.
	sketch bool
}

// drain says what would become of the pods of nodes if these were removed, when machines
// may be bought, and why some have no place.
func (f *state) simulateDrain(ctx context.Context, nodes []string) (*outcome, error) {
	return f.simulate(ctx, &whatIf{nodes: nodes, buy: true, effort: f.planner.Policy.Effort, explain: true})
}

// ask answers a what-if. The state stays as it is. Pods that wait already take part and may
// stay without a place.
func (f *state) simulate(ctx context.Context, q *whatIf) (*outcome, error) {
	from := f.placeSession
	if q.buy {
		from = f.launchSession
	}
	fork := from.Fork()
	d, out, err := f.drainDelta(q)
	if err != nil {
		return nil, err
	}
	if len(out.origin) == 0 {
		return out, nil
	}
	if q.withoutPending && q.buy {
		for _, name := range slices.Sorted(maps.Keys(f.awaitingLaunch)) {
			d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(f.awaitingLaunch[name]))
		}
	}
	if err := fork.Apply(d); err != nil {
		return nil, err
	}
	var plan *scheduling.Plan
	switch {
	case q.explain:
		plan, err = fork.Plan(ctx)
	case q.sketch:
		plan, err = fork.Sketch(ctx)
	default:
		plan, err = fork.Place(ctx, q.effort)
	}
	if err != nil {
		return nil, err
	}
	f.readPlan(out, plan, out.origin)
	f.agreeOnTopology(out.launches)
	return out, nil
}

// emptied is the change in which the question's nodes go, and an outcome that says which they are and where the pods
// that look for a place come from. Where nothing may be bought they stay, closed, so that spread counts their domains.
func (f *state) drainDelta(q *whatIf) (d scheduling.Delta, out *outcome, err error) {
	out = &outcome{nodes: slices.Compact(slices.Sorted(slices.Values(q.nodes))), origin: map[string]string{}}
	closed := q.closed
	if q.buy {
		d.Removed.Nodes = out.nodes
	} else {
		closed = lo.Union(closed, out.nodes)
	}
	for _, name := range out.nodes {
		at := f.existing(name)
		if at == nil {
			return d, nil, fmt.Errorf("there is no node %q", name)
		}
		for _, pod := range at.pods {
			if eviction.Reschedulable(pod) {
				d.Pods = append(d.Pods, f.unboundCopy(pod))
				out.origin[podspec.PodName(pod)] = name
			} else {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			}
		}
		for _, pod := range at.expected {
			if q.buy && !q.withoutPending {
				d.Pods = append(d.Pods, f.unboundCopy(pod)) // waits on, for another place
			} else {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			}
		}
	}
	for i := range q.launches {
		node, err := f.launchNode(&q.launches[i])
		if err != nil {
			return d, nil, err
		}
		d.Nodes = append(d.Nodes, node)
	}
	for _, name := range closed {
		at := f.existing(name)
		if at == nil || at.closures > 0 || slices.Contains(d.Removed.Nodes, name) {
			continue
		}
		shut := *at
		shut.closures++
		d.Nodes = append(d.Nodes, f.sessionNode(&shut))
	}
	return d, out, nil
}

// mostLifted is how many pods are kept ready to be placed.
const mostUnboundPods = 10_000

// lift is a pod of a node, ready to be placed elsewhere.
func (f *state) unboundCopy(pod *corev1.Pod) *corev1.Pod {
	name := podspec.PodName(pod)
	out := f.unboundPods[name]
	if len(f.unboundPods) > mostUnboundPods {
		clear(f.unboundPods)
	}
	if out == nil {
		out = unbound(pod)
		f.unboundPods[name] = out
	}
	return out
}

// read turns the plan of a what-if into its outcome. Machines for pods that wait anyway
// are left out.
func (f *state) readPlan(out *outcome, plan *scheduling.Plan, origin map[string]string) {
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
	names := f.launchNames()
	for i := range plan.Launches {
		l := plan.Launches[i]
		if !slices.ContainsFunc(l.Pods, func(pod string) bool { return origin[pod] != "" }) {
			continue
		}
		l.Name = names(l.NodePool)
		all := l.Pods
		l.Pods = land(l.Pods, l.Name)
		l.Requests = f.requestsWith(l.Requests, all, l.Pods)
		out.launches = append(out.launches, l)
	}
	for i := range plan.Unschedulable {
		if origin[plan.Unschedulable[i].Pod] != "" {
			out.unschedulable = append(out.unschedulable, plan.Unschedulable[i])
		}
	}
	slices.SortFunc(out.evictions, compareEvictions)
}

// namer hands out names for launches that no node and no earlier launch has.
func (f *state) launchNames() func(pool string) string {
	used := map[string]int{}
	return func(pool string) string {
		for {
			used[pool]++
			name := fmt.Sprintf("%s-%d", pool, f.launchCount[pool]+used[pool])
			if f.byName[name] == nil && !f.usedNames[name] {
				return name
			}
		}
	}
}

// rebooked is what a launch is asked for when other pods land there than those it was asked
// for at first. Both lists are sorted.
func (f *state) requestsWith(requests corev1.ResourceList, before, after []string) corev1.ResourceList {
	if slices.Equal(before, after) {
		return requests
	}
	out := requests.DeepCopy()
	leave, come := lo.Difference(before, after)
	for _, name := range slices.Concat(leave, come) {
		pod := f.podOf(name)
		if pod == nil {
			continue
		}
		for resource, q := range provisioning.PodRequests([]*corev1.Pod{f.unboundCopy(pod)})[0] {
			sum := out[resource]
			if slices.Contains(leave, name) {
				q.Neg()
			}
			sum.Add(q)
			if out[resource] = sum; sum.IsZero() {
				delete(out, resource)
			}
		}
	}
	return out
}

// podOf is the pod of a name, wherever it is.
func (f *state) podOf(name string) *corev1.Pod {
	if pod := f.pods[name]; pod != nil {
		return pod
	}
	return f.awaitingLaunch[name]
}

// compareEvictions orders evictions by pod.
func compareEvictions(a, b Eviction) int { return strings.Compare(a.Pod, b.Pod) }

// Pods that wait may be left out when places are looked for, or have none, and no rule
// counts them then. Yet they are somewhere until they have gone: with them a spread may be
// broken in another zone than the one that is planned, and where they run they keep others
// away. So as long as there are any, all options of what is bought have the same values of
// the labels that their topology terms read, and those of the pods that land there.

// agree drops the options of launches that differ from the first in such a label, unless
// that leaves less choice than minValues asks for.
func (f *state) agreeOnTopology(launches []scheduling.Launch) {
	if len(f.awaitingLaunch) == 0 {
		return
	}
	for i := range launches {
		l := &launches[i]
		keys := f.landing.TopologyKeys(slices.AppendSeq(slices.Clone(l.Pods), maps.Keys(f.awaitingLaunch))...)
		if len(keys) == 0 || len(l.Options) == 0 {
			continue
		}
		all := l.Options
		l.Options = f.optionsAlike(l, keys)
		if r, _ := f.stock.TooFewValues(l); r != nil {
			l.Options = all // the pool asks for choice, and what waits may have gone by then
		}
	}
}

// alike are the options of a launch that have the values of the first of some labels.
func (f *state) optionsAlike(l *scheduling.Launch, keys map[string]bool) []scheduling.Option {
	if len(keys) == 0 {
		return l.Options
	}
	first := labelsOf(f.problem, l, &l.Options[0])
	return keepOptions(l.Options, func(x *scheduling.Option) bool {
		other := labelsOf(f.problem, l, x)
		for key := range keys {
			a, has := first[key]
			if b, also := other[key]; a != b || has != also {
				return false
			}
		}
		return true
	})
}
