package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// outcome is the result of a what-if: where the pods of removed nodes would go.
type outcome struct {
	// nodes are the removed nodes, sorted.
	nodes []string
	// launches are the machines to launch, with the names that they would have in the next step.
	launches []scheduling.Launch
	// moves are the reschedulable pods that have another node, by name, without waves.
	moves []landing.Move
	// unschedulable are the reschedulable pods that have none.
	unschedulable []scheduling.Unschedulable
	// early are pods that must leave before the others, because otherwise kube-scheduler leaves them without a node.
	early map[string]bool
	// origin is the node of each evicted pod, by the pod's name.
	origin map[string]string
}

// whatIf is a simulation: nodes are removed, and their pods are scheduled elsewhere.
type whatIf struct {
	nodes []string
	// launch allows launches, which are planned with the effort.
	launch bool
	effort scheduling.Effort
	// closed are nodes that take in no pods in this simulation, besides the closed nodes of the state.
	closed []string
	// launches are machines that exist already when the nodes are removed.
	launches []scheduling.Launch
	// explain asks why pods have no node.
	explain bool
	// withoutPending leaves out pods that are pending already.
	withoutPending bool
	// sketch takes the first plan, without a search.
	sketch bool
}

// simulateDrain simulates the removal of nodes with launches, and explains why pods have no node.
func simulateDrain(ctx context.Context, f *state, nodes []string) (*outcome, error) {
	return simulate(ctx, f, &whatIf{nodes: nodes, launch: true, effort: f.planner.Policy.Effort, explain: true})
}

// simulate answers a what-if. The state stays as it is. Pods that are pending already take part and may stay without
// a node.
func simulate(ctx context.Context, f *state, q *whatIf) (*outcome, error) {
	d, out, err := drainDelta(f, q)
	if err != nil {
		return nil, err
	}
	if len(out.origin) == 0 {
		return out, nil
	}
	if q.withoutPending && q.launch {
		for _, name := range slices.Sorted(maps.Keys(f.awaitingLaunch)) {
			d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(f.awaitingLaunch[name]))
		}
	}
	plan, err := f.sessions.Ask(ctx, &session.Question{Change: d, Launch: q.launch, Effort: q.effort, Explain: q.explain, Sketch: q.sketch})
	if err != nil {
		return nil, err
	}
	readPlan(f, out, plan, out.origin)
	agreeOnTopology(f, out.launches)
	return out, nil
}

// drainDelta is the change in which the nodes of a what-if are removed, and an outcome with these nodes and the
// origin of the pods. Without launches the nodes stay, closed, so that topology spread counts their domains.
func drainDelta(f *state, q *whatIf) (d scheduling.Delta, out *outcome, err error) {
	out = &outcome{nodes: slices.Compact(slices.Sorted(slices.Values(q.nodes))), origin: map[string]string{}}
	closed := q.closed
	if q.launch {
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
				d.Pods = append(d.Pods, f.sessions.Unbound(pod))
				out.origin[podspec.PodName(pod)] = name
			} else {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			}
		}
		for _, pod := range at.expected {
			if q.launch && !q.withoutPending {
				d.Pods = append(d.Pods, f.sessions.Unbound(pod)) // stays pending, for another node
			} else {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			}
		}
	}
	for i := range q.launches {
		node, err := launchNode(f, &q.launches[i])
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
		d.Nodes = append(d.Nodes, shut.sessionNode(f.problem))
	}
	return d, out, nil
}

// readPlan adds the plan of a simulation to its outcome. Launches that have no pod of the origin are left out: they
// are for pending pods.
func readPlan(f *state, out *outcome, plan *session.Answer, origin map[string]string) {
	land := func(pods []string, to string) (own []string) {
		for _, pod := range pods {
			if from, ok := origin[pod]; ok {
				out.moves = append(out.moves, landing.Move{Pod: pod, From: from, To: to})
				own = append(own, pod)
			}
		}
		return own
	}
	for i := range plan.Existing {
		land(plan.Existing[i].Pods, plan.Existing[i].Node)
	}
	names := launchNames(f)
	for i := range plan.Launches {
		l := plan.Launches[i]
		if !slices.ContainsFunc(l.Pods, func(pod string) bool { return origin[pod] != "" }) {
			continue
		}
		l.Name = names(l.NodePool)
		all := l.Pods
		l.Pods = land(l.Pods, l.Name)
		l.Requests = f.sessions.RequestsWith(l.Requests, all, l.Pods, f.podOf)
		out.launches = append(out.launches, l)
	}
	for i := range plan.Unschedulable {
		if origin[plan.Unschedulable[i].Pod] != "" {
			out.unschedulable = append(out.unschedulable, plan.Unschedulable[i])
		}
	}
	slices.SortFunc(out.moves, compareMoves)
}

// launchNames returns a function that names launches of a pool, by names that no node and no earlier launch has.
func launchNames(f *state) func(pool string) string {
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

// compareMoves orders moves by pod.
func compareMoves(a, b landing.Move) int { return strings.Compare(a.Pod, b.Pod) }

// agreeOnTopology drops the options of launches that differ from the first in a label which is a topology key of the
// launch's pods or of pods that await a launch, unless minValues needs them. Pods that await a launch must be considered
// because a simulation may leave them out or find no node for them, so that topology spread and pod affinity do not count
// them; yet they run somewhere later, or still run on a node that is being removed. E.g. with them a spread may be broken
// in another zone than the planned one.
func agreeOnTopology(f *state, launches []scheduling.Launch) {
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
		l.Options = f.prices().Alike(l, keys)
		if r, _ := f.stock.TooFewValues(l); r != nil {
			l.Options = all // minValues must hold, and the pending pods may be gone by then
		}
	}
}
