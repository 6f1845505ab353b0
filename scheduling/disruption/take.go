package disruption

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// take applies a step: its launches are nodes, its pods have moved and started again, its nodes are removed. The
// error is that of a step which does not fit the state, e.g. because it evicts a pod from a node where the pod is
// not.
func (f *state) take(step *Step) error {
	var d scheduling.Delta
	reserved := map[string]int64{}
	for i := range step.Launches {
		l := &step.Launches[i]
		node, err := launchNode(f, l)
		if err != nil {
			return err
		}
		s := &candidate{name: l.Name, node: node, machine: &Machine{Node: l.Name, Created: f.lastPodEvent(true), Initialized: f.lastPodEvent(true)}, pool: f.pools[l.NodePool], launched: true}
		s.original = s.machine
		s.price, s.machinePrice, s.priced, s.cost = f.prices().Launch(l), l.Price, true, f.rules.costs.Node
		if f.requests != nil {
			s.allocatable = f.requests.Launched(node, l)
		}
		f.nodes = append(f.nodes, s)
		f.byName[l.Name] = s
		f.countInPool(s, 1)
		f.launchCount[l.NodePool] = max(f.launchCount[l.NodePool], launchNumber(l))
		d.Nodes = append(d.Nodes, node)
		if id, amount := f.stock.Draws(l.NodePool, l.Options[0].Key()); id != "" {
			reserved[id] += amount
		}
	}
	leave, come := map[*candidate]map[string]bool{}, map[*candidate][]*corev1.Pod{}
	touched, byReal := map[*candidate]bool{}, map[*candidate]bool{} // byReal: by a pod that is not virtual
	for _, e := range step.Evictions {
		pod, from, to := f.pods[e.Pod], f.existing(e.From), f.existing(e.To)
		if pod == nil || from == nil {
			return fmt.Errorf("step: %s is not on node %q", e.Pod, e.From)
		}
		if leave[from] == nil {
			leave[from] = map[string]bool{}
		}
		leave[from][e.Pod], touched[from] = true, true
		byReal[from] = byReal[from] || !scheduling.IsVirtual(pod)
		if to == nil {
			d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			delete(f.pods, e.Pod)
			continue
		}
		if pod.DeletionTimestamp == nil {
			d.Moved = append(d.Moved, scheduling.Move{Pod: podspec.PodKey(pod), Node: e.To})
		} else {
			d.Pods = append(d.Pods, scheduling.Successor(pod, e.To))
		}
		byReal[to] = byReal[to] || !scheduling.IsVirtual(pod)
		pod = f.restarted(pod)
		f.pods[e.Pod], f.currentNode[e.Pod] = pod, e.To
		come[to], touched[to] = append(come[to], pod), true
	}
	var displaced []*corev1.Pod
	for _, name := range step.Drain {
		s := f.existing(name)
		if s == nil {
			return fmt.Errorf("step: there is no node %q", name)
		}
		f.countInPool(s, -1)
		s.removed = true
		for _, pod := range slices.Concat(s.pods, s.expected) {
			if name := podspec.PodName(pod); !leave[s][name] {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
				delete(f.pods, name)
			}
		}
		displaced = append(displaced, s.expected...)
		d.Removed.Nodes = append(d.Removed.Nodes, name)
		if id, amount := f.stock.Draws(s.node.Labels[scheduling.NodePoolLabel], instancetypes.OfferingOf(s.node)); id != "" {
			reserved[id] -= amount
		}
	}
	// Costs are added up in the order of names, so that rounding does not depend on the
	// order of a map.
	for _, s := range slices.SortedFunc(maps.Keys(touched), func(a, b *candidate) int { return strings.Compare(a.name, b.name) }) {
		if s.removed {
			continue
		}
		f.countInPool(s, -1)
		s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(pod *corev1.Pod) bool { return leave[s][podspec.PodName(pod)] })
		if s.pods = append(s.pods, come[s]...); slices.ContainsFunc(come[s], func(pod *corev1.Pod) bool { return !scheduling.IsVirtual(pod) }) {
			s.receivedPods, s.excluded = true, s.excluded || f.pinned || !step.forced()
		}
		if byReal[s] {
			machine := *s.machine
			machine.LastPodEvent = f.lastPodEvent(f.rules.consolidatable(s))
			s.machine = &machine
		}
		f.update(s)
		s.podCauses = f.rules.podBlockers(s)
		f.countInPool(s, 1)
	}
	if f.landing != nil {
		moved := landingStep(step)
		for _, pod := range displaced {
			moved.Moves = append(moved.Moves, landing.Move{Pod: podspec.PodName(pod), From: pod.Spec.NodeName})
		}
		f.landing.Take(moved)
	}
	if f.sessions == nil {
		return nil
	}
	if err := f.stock.Reserve(reserved, &d); err != nil {
		return err
	}
	if err := f.sessions.Apply(d); err != nil {
		return err
	}
	return f.returnToPending(displaced)
}

// lastPodEvent is the time of the last change of a node that a step has just launched or moved pods from or to. A
// search counts it as long ago if the node was consolidatable before.
func (f *state) lastPodEvent(before bool) time.Time {
	if f.searching && before {
		return longAgo()
	}
	return f.rules.now
}

// restarted is the pod after it has started again. It is a copy only if more than its node differs, e.g. the start
// time from which a do-not-disrupt duration counts.
func (f *state) restarted(pod *corev1.Pod) *corev1.Pod {
	_, counts := pod.Annotations[eviction.DoNotDisrupt]
	if !counts && pod.DeletionTimestamp == nil && !podspec.Resized(pod) {
		return pod
	}
	again := scheduling.Successor(pod, pod.Spec.NodeName)
	again.Status.StartTime = &metav1.Time{Time: f.rules.now}
	return again
}

// longAgo is a time before every consolidateAfter.
func longAgo() time.Time { return time.Unix(0, 0) }
