package disruption

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// take moves the state on to where it is once a step is done, as who looked at the cluster right
// afterwards would see it: its machines are there, its pods have moved and begun anew, its nodes
// are gone.
func (f *state) take(step *Step) error {
	var d scheduling.Delta
	reserved := map[string]int{}
	for i := range step.Launches {
		l := &step.Launches[i]
		node, err := f.nodeOf(l)
		if err != nil {
			return err
		}
		s := &candidate{name: l.Name, node: node, machine: &Machine{Node: l.Name, Created: f.quiet(true), Initialized: f.quiet(true)}, pool: f.pools[l.NodePool], fresh: true}
		s.known = s.machine
		s.price, s.paid, s.priced, s.cost = f.costOf(l), l.Price, true, f.nodeCost
		if f.capacity != nil {
			s.room = f.capacity.launched(node, l)
		}
		f.nodes = append(f.nodes, s)
		f.at[l.Name] = s
		f.count(s, 1)
		f.bought[l.NodePool] = max(f.bought[l.NodePool], launchNumber(l))
		d.Nodes = append(d.Nodes, node)
		if id := l.Options[0].ReservationID; id != "" {
			reserved[id]++
		}
	}
	leave, come := map[*candidate]map[string]bool{}, map[*candidate][]*corev1.Pod{}
	touched := map[*candidate]bool{}
	for _, e := range step.Evictions {
		pod, from, to := f.pods[e.Pod], f.standing(e.From), f.standing(e.To)
		if pod == nil || from == nil {
			return fmt.Errorf("step: %s is not on node %q", e.Pod, e.From)
		}
		if leave[from] == nil {
			leave[from] = map[string]bool{}
		}
		leave[from][e.Pod], touched[from] = true, true
		if to == nil {
			d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
			delete(f.pods, e.Pod)
			continue
		}
		if pod.DeletionTimestamp == nil {
			d.Moved = append(d.Moved, scheduling.Move{Pod: podspec.PodKey(pod), Node: e.To})
		} else {
			d.Pods = append(d.Pods, podspec.Anew(pod, e.To))
		}
		pod = f.begun(pod)
		f.pods[e.Pod], f.whereabouts[e.Pod] = pod, e.To
		come[to], touched[to] = append(come[to], pod), true
	}
	var displaced []*corev1.Pod
	for _, name := range step.Drain {
		s := f.standing(name)
		if s == nil {
			return fmt.Errorf("step: there is no node %q", name)
		}
		f.count(s, -1)
		s.gone = true
		for _, pod := range slices.Concat(s.pods, s.expected) {
			if name := podspec.PodName(pod); !leave[s][name] {
				d.Removed.Pods = append(d.Removed.Pods, podspec.PodKey(pod))
				delete(f.pods, name)
			}
		}
		displaced = append(displaced, s.expected...)
		d.Removed.Nodes = append(d.Removed.Nodes, name)
		if id := s.node.Labels[offerings.ReservationIDLabel]; id != "" {
			reserved[id]--
		}
	}
	// Costs are added up in the order of names, so that rounding does not depend on the
	// order of a map.
	for _, s := range slices.SortedFunc(maps.Keys(touched), func(a, b *candidate) int { return strings.Compare(a.name, b.name) }) {
		if s.gone {
			continue
		}
		f.count(s, -1)
		s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(pod *corev1.Pod) bool { return leave[s][podspec.PodName(pod)] })
		if s.pods = append(s.pods, come[s]...); len(come[s]) > 0 {
			s.received, s.stays = true, s.stays || f.pinned || !step.forced()
		}
		machine := *s.machine
		machine.LastPodEvent = f.quiet(f.leftAlone(s))
		s.machine = &machine
		f.derive(s)
		s.held = f.podBlockers(s)
		f.count(s, 1)
	}
	if f.landing != nil {
		f.landing.Take(landingStep(step, displaced))
	}
	if f.market == nil {
		return nil
	}
	if err := f.stock.Reserve(reserved, &d); err != nil {
		return err
	}
	if err := f.apply(d); err != nil {
		return err
	}
	return f.await(displaced)
}

// quiet is since when nothing has happened to a node that a step has just bought or touched, where
// it might have been disrupted before or not.
func (f *state) quiet(before bool) time.Time {
	if f.searching && before {
		return longAgo()
	}
	return f.now
}

// begun is a pod that runs anew. It is a copy only if that shows in something else than its
// node.
func (f *state) begun(pod *corev1.Pod) *corev1.Pod {
	_, counts := pod.Annotations[eviction.DoNotDisrupt]
	if !counts && pod.DeletionTimestamp == nil && !podspec.Resized(pod) {
		return pod
	}
	again := podspec.Anew(pod, pod.Spec.NodeName)
	again.Status.StartTime = &metav1.Time{Time: f.now}
	return again
}

// longAgo is long enough before every decision.
func longAgo() time.Time { return time.Unix(0, 0) }
