package disruption

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// took notes that a step is done, as who looked at the cluster right afterwards would see
// it: its machines are there, its pods have moved and begun anew, its nodes are gone.
func (f *planConstraints) took(step *Step) {
	for i := range step.Launches {
		l := &step.Launches[i]
		s := &candidate{name: l.Name, machine: &Machine{Node: l.Name, Created: f.quiet(true), Initialized: f.quiet(true)}, pool: f.pools[l.NodePool], fresh: true}
		s.price, s.paid, s.priced, s.cost = f.costOf(l), l.Price, true, f.nodeCost
		if len(l.Options) > 0 {
			// The catalog has what was bought, as the option comes from there.
			s.node, _ = l.Node(l.Name, &l.Options[0], catalogOf(f.problem, l.NodePool))
		}
		f.nodes = append(f.nodes, s)
		f.at[l.Name] = s
		f.count(s, 1)
	}
	for _, name := range step.Drain {
		if s := f.at[name]; s != nil && !s.gone {
			f.count(s, -1)
			s.gone = true
		}
	}
	leave, come := f.moves(step)
	var touched []*candidate
	for s := range leave {
		touched = append(touched, s)
	}
	for s := range come {
		if leave[s] == nil {
			touched = append(touched, s)
		}
	}
	// Costs are added up in the order of names, so that rounding does not depend on the
	// order of a map.
	slices.SortFunc(touched, func(a, b *candidate) int { return strings.Compare(a.name, b.name) })
	for _, s := range touched {
		leaving, comers := leave[s], come[s]
		if s.gone || len(leaving)+len(comers) == 0 {
			continue
		}
		f.count(s, -1)
		s.pods = slices.DeleteFunc(slices.Clone(s.pods), func(pod *corev1.Pod) bool { return leaving[pod] })
		s.pods = append(s.pods, comers...)
		s.received = s.received || len(comers) > 0
		machine := *s.machine
		machine.LastPodEvent = f.quiet(f.leftAlone(s))
		s.machine = &machine
		f.derive(s)
		s.held = f.podBlockers(s)
		f.count(s, 1)
	}
}

// quiet is since when nothing has happened to a node that a step has just bought or touched, where
// it might have been disrupted before or not.
func (f *planConstraints) quiet(before bool) time.Time {
	if f.late && before {
		return longAgo()
	}
	return f.now
}

// moves says which pods leave and reach which nodes in a step.
func (f *planConstraints) moves(step *Step) (leave map[*candidate]map[*corev1.Pod]bool, come map[*candidate][]*corev1.Pod) {
	leave, come = map[*candidate]map[*corev1.Pod]bool{}, map[*candidate][]*corev1.Pod{}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		pod := f.pods[e.Pod]
		if pod == nil {
			continue
		}
		if from := f.at[e.From]; from != nil {
			if leave[from] == nil {
				leave[from] = map[*corev1.Pod]bool{}
			}
			leave[from][pod] = true
		}
		if to := f.at[e.To]; to != nil {
			pod = f.begun(pod)
			f.pods[e.Pod], f.moved[e.Pod] = pod, e.To
			come[to] = append(come[to], pod)
		}
	}
	return leave, come
}

// begun is a pod that runs anew. It is a copy only if that shows in something else than its
// node.
func (f *planConstraints) begun(pod *corev1.Pod) *corev1.Pod {
	if _, counts := pod.Annotations[doNotDisrupt]; !counts && pod.DeletionTimestamp == nil {
		return pod
	}
	anew := *pod
	anew.DeletionTimestamp, anew.Status.StartTime = nil, &metav1.Time{Time: f.now}
	return &anew
}

// home is the name of the node where a pod is now, "" if it is on none.
func (f *planConstraints) home(pod *corev1.Pod) string {
	if to, ok := f.moved[podspec.PodName(pod)]; ok {
		return to
	}
	return pod.Spec.NodeName
}
