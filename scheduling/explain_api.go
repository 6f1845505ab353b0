package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// Explainer answers questions about a plan: why a launch buys what it buys, where a
// pod could go besides, what a node receives. Its answers are worked out when asked,
// from the problem and the plan alone. It is not safe for concurrent use.
type Explainer struct {
	solver Policy
	e      *explainer
	plan   *Plan
}

// Explain returns an Explainer for a plan of p by a solver like s. It refuses what
// [Planner.Plan] refuses. That the plan keeps the rules is not checked; see package
// verify.
func (s Planner) Explain(p Problem, plan *Plan) (*Explainer, error) {
	x := &Explainer{solver: s.Policy, plan: plan}
	facts, err := newFacts(&p, &x.solver)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, fmt.Errorf("%w: plan is missing", ErrInvalid)
	}
	x.e = newExplainer(facts.compile(false), plan)
	return x, nil
}

// UnknownNameError says that a plan and its problem have nothing of a name, or more
// than one thing.
type UnknownNameError struct {
	// Kind is "pod", "node" or "launch", Name what was asked for.
	Kind, Name string
	// Near are names that look like it, or those that it may mean; at most five.
	Near []string
	// Ambiguous says that the name fits all of Near.
	Ambiguous bool
}

// Error says what is unknown, and what may have been meant.
func (e *UnknownNameError) Error() string {
	switch {
	case e.Ambiguous:
		return fmt.Sprintf("%s %q is not the only one of that name: say which of %s", e.Kind, e.Name, strings.Join(e.Near, ", "))
	case len(e.Near) > 0:
		return fmt.Sprintf("there is no %s %q; did you mean %s?", e.Kind, e.Name, strings.Join(e.Near, ", "))
	default:
		return fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	}
}

// pods calls f with every pod of the problem and its name.
func (x *Explainer) pods(f func(name string, pod *corev1.Pod)) {
	for _, pods := range [][]*corev1.Pod{x.e.problem.Pods, x.e.problem.Running} {
		for _, pod := range pods {
			f(podName(pod), pod)
		}
	}
}

// findPod finds a pod by namespace/name, or by its name alone where only one
// namespace has it.
func (x *Explainer) findPod(name string) (*corev1.Pod, error) {
	var found []*corev1.Pod
	var all []string
	x.pods(func(full string, pod *corev1.Pod) {
		all = append(all, full)
		if full == name || pod.Name == name {
			found = append(found, pod)
		}
	})
	if len(found) == 1 {
		return found[0], nil
	}
	e := &UnknownNameError{Kind: "pod", Name: name, Ambiguous: len(found) > 1}
	for _, pod := range found {
		if podName(pod) == name {
			return pod, nil
		}
		e.Near = append(e.Near, podName(pod))
	}
	if !e.Ambiguous {
		e.Near = near(name, all)
	}
	slices.Sort(e.Near)
	e.Near = e.Near[:min(len(e.Near), mostNear)]
	return nil, e
}

// mostNear is how many names an error suggests.
const mostNear = 5

// near returns the names that look most like one, the nearest first: those that it is
// a part of, and those that a slip or two turns into it.
func near(name string, all []string) []string {
	want := strings.ToLower(name)
	slips := 1 + len(want)/5
	return spelling.Closest(all, mostNear, func(full string) (int, bool) {
		have := strings.ToLower(full)
		_, own, scoped := strings.Cut(have, "/")
		d := spelling.Distance(want, have)
		if scoped {
			d = min(d, spelling.Distance(want, own))
		}
		if len(want) >= 3 && strings.Contains(have, want) {
			d = min(d, 1)
		}
		return d, d <= slips
	})
}

// podShares lists pods with what they take of a resource.
func (x *Explainer) podShares(pods []*corev1.Pod, resource string, allocatable int64) []PodShare {
	out := make([]PodShare, 0, len(pods))
	name := corev1.ResourceName(resource)
	takes := func(s *PodShare) int64 { return amount(name, s.Requests[name]) }
	for _, pod := range pods {
		s := PodShare{Pod: podName(pod), Requests: x.requests(pod)}
		if allocatable > 0 {
			s.Share = float64(takes(&s)) / float64(allocatable)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b PodShare) int {
		return cmp.Or(cmp.Compare(takes(&b), takes(&a)), strings.Compare(a.Pod, b.Pod))
	})
	return out
}

// requests are the effective requests of a pod, whether it waits or runs.
func (x *Explainer) requests(pod *corev1.Pod) corev1.ResourceList {
	if id, ok := x.e.classOf[podName(pod)]; ok {
		return x.e.table.list(x.e.planned[id].requests)
	}
	reader := requestReader{table: newResourceTable()}
	if pod.Spec.NodeName == "" {
		return reader.table.list(reader.read(&pod.Spec))
	}
	return reader.table.list(reader.readRunning(pod))
}

// sortRooms puts the fullest resource first.
func sortRooms(rooms []Room) {
	slices.SortStableFunc(rooms, func(a, b Room) int {
		return cmp.Or(cmp.Compare(b.Share(), a.Share()), strings.Compare(a.Resource, b.Resource))
	})
}
