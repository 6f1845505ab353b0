package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// decide makes a step of an outcome, or returns the cause against it, as admit does. Unless pods are pinned, they are
// expected where kube-scheduler binds them; those that would find no node are tried again as the first to leave.
// Closed nodes take in none.
func decide(f *state, reason Reason, o *outcome, closed []string) (*Step, *Cause) {
	step, cause := admit(f, reason, o)
	if f.pinned || cause != nil || len(step.Evictions) == 0 {
		return step, cause
	}
	again := *o
	again.early = map[string]bool{}
	for {
		landed := bindEvictions(f, step, closed)
		lost := lo.FilterMap(landed.moves, func(m landing.Move, _ int) (string, bool) { return m.Pod, m.To == "" })
		if len(lost) == 0 && reason != Interrupted && reason != Expired {
			if !allScheduled(f, landed) {
				return nil, &Cause{Code: CauseNoPlace, Detail: "kube-scheduler would bind its pods so that they break their topology spread"}
			}
			if pod, node := workloadShareExceeded(f, landed); pod != "" {
				return nil, &Cause{Code: CauseNoPlace, Object: "pod/" + pod, Detail: fmt.Sprintf("kube-scheduler would bind more pods of its workload to node %s than may share a node (WorkloadShare)", node)}
			}
		}
		if len(lost) == 0 || reason == Interrupted {
			assignPods(f, landed)
			landed.unschedulable, landed.early = o.unschedulable, again.early
			for i := range landed.launches {
				if l := &landed.launches[i]; !l.MinValuesRelaxed {
					if cause := minValuesCause(f, l); cause != nil {
						return nil, cause
					}
				}
			}
			return admit(f, reason, landed)
		}
		before := len(again.early)
		for _, pod := range lost {
			again.early[pod] = true
		}
		if len(again.early) == before {
			cause := withPodCount(Cause{Code: CauseNoPlace, Object: "pod/" + lost[0], Detail: "kube-scheduler would bind the other pods so that this one fits on no node"}, len(lost))
			return nil, &cause
		}
		if step, cause = admit(f, reason, &again); cause != nil {
			return nil, cause
		}
	}
}

// workloadShareExceeded is a pod that kube-scheduler binds to a node with more pods of its workload than
// WorkloadShare allows, and the node; "" for none. kube-scheduler does not know that rule.
func workloadShareExceeded(f *state, o *outcome) (pod, node string) {
	percent := f.planner.Policy.WorkloadShare
	if percent == 0 {
		return "", ""
	}
	pods := map[*corev1.Pod]string{}
	for _, list := range []map[string]*corev1.Pod{f.pods, f.awaitingLaunch} {
		for _, pod := range list {
			pods[pod] = f.nodeNameOf(pod)
		}
	}
	return landing.ShareExceeded(podspec.NewWorkloads(f.problem, percent), pods, o.moves)
}

// bindEvictions is the outcome of a step with its pods where kube-scheduler binds them. Launches without pods are
// left out.
func bindEvictions(f *state, step *Step, closed []string) *outcome {
	closed = withClosed(f, closed)
	for bought := *step; ; {
		landed := f.landing.Fork(0).Play(landingStep(&bought), closed)
		come := podsByDestination(landed)
		used := slices.DeleteFunc(slices.Clone(bought.Launches), func(l scheduling.Launch) bool { return len(come[l.Name]) == 0 })
		if len(used) < len(bought.Launches) {
			bought.Launches = used
			continue
		}
		slices.SortFunc(landed, compareMoves)
		return &outcome{nodes: step.Drain, launches: used, moves: landed}
	}
}

// bindWithLaunches is the outcome of removing nodes with their pods where kube-scheduler binds them, and with
// launches for those that would find no node. A brief one takes the first launches that hold these. It is nil if the
// same nodes with the same pods left over have failed before.
func bindWithLaunches(ctx context.Context, f *state, nodes, closed []string, brief bool, vain map[string]bool) (*outcome, error) {
	d, lifted, err := drainDelta(f, &whatIf{nodes: nodes, launch: true, withoutPending: true, closed: closed})
	if err != nil {
		return nil, err
	}
	step := &Step{Drain: lifted.nodes}
	for _, pod := range slices.Sorted(maps.Keys(lifted.origin)) {
		step.Evictions = append(step.Evictions, Eviction{Pod: pod, From: lifted.origin[pod], Wave: 1})
	}
	out := bindEvictions(f, step, closed)
	d.Pods = nil
	lost := map[string]string{}
	out.moves = slices.DeleteFunc(out.moves, func(e landing.Move) bool {
		pod := f.pods[e.Pod]
		if e.To != "" {
			d.Moved = append(d.Moved, scheduling.Move{Pod: podspec.PodKey(pod), Node: e.To})
			return false
		}
		d.Pods, lost[e.Pod] = append(d.Pods, f.sessions.Unbound(pod)), e.From
		return true
	})
	if len(lost) == 0 {
		return out, nil
	}
	tried := fmt.Sprint(nodes, slices.Sorted(maps.Keys(lost)))
	if brief && vain[tried] {
		return nil, nil //nolint:nilnil // it has failed before
	}
	vain[tried] = true
	plan, err := f.sessions.Ask(ctx, &session.Question{Change: d, Launch: true, Effort: scheduling.EffortFast, Sketch: brief})
	if err != nil {
		return nil, err
	}
	readPlan(f, out, plan, lost)
	agreeOnTopology(f, out.launches)
	return out, nil
}

// withClosed are the closed nodes of the state, and the given ones.
func withClosed(f *state, more []string) []string {
	out := slices.Clone(more)
	for _, s := range f.nodes {
		if s.closures > 0 && !s.removed {
			out = append(out, s.name)
		}
	}
	return out
}

// assignPods sets the pods of the launches of an outcome, and keeps the options that hold them.
func assignPods(f *state, o *outcome) {
	come := podsByDestination(o.moves)
	for i := range o.launches {
		assignPodsTo(f, &o.launches[i], come[o.launches[i].Name])
	}
}

// podsByDestination are the pods of moves by the node or launch to which they are moved.
func podsByDestination(list []landing.Move) map[string][]string {
	come := map[string][]string{}
	for _, e := range list {
		come[e.To] = append(come[e.To], e.Pod)
	}
	return come
}

// assignPodsTo sets the pods of a launch, and keeps the options that hold them.
func assignPodsTo(f *state, launch *scheduling.Launch, pods []string) {
	slices.Sort(pods)
	launch.Requests = f.sessions.RequestsWith(launch.Requests, launch.Pods, pods, f.podOf)
	launch.Pods = pods
	launch.Options = f.prices().Alike(launch, f.landing.TopologyKeys(pods...))
	launch.Options = f.landing.Holds(launch, pods)
}
