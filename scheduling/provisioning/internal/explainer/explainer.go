package explainer

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Explainer answers questions about a plan. Its answers are worked out when asked, from the problem
// and the plan alone. It is not safe for concurrent use.
type Explainer struct {
	e        *explain.Explainer
	plan     *scheduling.Plan
	bindings bindings
}

// New returns an Explainer for a plan of f's problem. With brief, equal pods that follow each other in kube-scheduler's
// queue are simulated together.
func New(f *instance.Facts, plan *scheduling.Plan, brief bool) *Explainer {
	in := f.Compile(false)
	return &Explainer{e: explain.NewExplainer(in, plan), plan: plan, bindings: bindings{in: in, plan: plan, brief: brief}}
}

// pods calls f with every pod of the problem and its name.
func (x *Explainer) pods(f func(name string, pod *corev1.Pod)) {
	for _, pods := range [][]*corev1.Pod{x.e.In.Facts.Problem.Pods, x.e.In.Facts.Problem.Running} {
		for _, pod := range pods {
			f(podspec.PodName(pod), pod)
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
	e := &explanation.UnknownNameError{Kind: "pod", Name: name, Ambiguous: len(found) > 1}
	for _, pod := range found {
		if podspec.PodName(pod) == name {
			return pod, nil
		}
		e.Near = append(e.Near, podspec.PodName(pod))
	}
	if !e.Ambiguous {
		e.Near = explain.Near(name, all)
	}
	slices.Sort(e.Near)
	e.Near = e.Near[:min(len(e.Near), explain.MostNear)]
	return nil, e
}

// podShares lists pods with their requests, and their share of a resource of the node.
func (x *Explainer) podShares(pods []*corev1.Pod, resource string, allocatable int64) []explanation.PodShare {
	out := make([]explanation.PodShare, 0, len(pods))
	name := corev1.ResourceName(resource)
	takes := func(s *explanation.PodShare) int64 { return podspec.Amount(name, s.Requests[name]) }
	for _, pod := range pods {
		s := explanation.PodShare{Pod: podspec.PodName(pod), Requests: x.requests(pod)}
		if allocatable > 0 {
			s.Share = float64(takes(&s)) / float64(allocatable)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b explanation.PodShare) int {
		return cmp.Or(cmp.Compare(takes(&b), takes(&a)), strings.Compare(a.Pod, b.Pod))
	})
	return out
}

// requests returns the effective requests of a pending or running pod.
func (x *Explainer) requests(pod *corev1.Pod) corev1.ResourceList {
	if id, ok := x.e.State.ClassOf[podspec.PodName(pod)]; ok {
		return x.e.In.Table.List(x.e.In.Planned[id].Requests)
	}
	reader := podspec.RequestReader{Table: podspec.NewResourceTable()}
	if pod.Spec.NodeName == "" {
		return reader.Table.List(reader.Read(&pod.Spec))
	}
	return reader.Table.List(reader.ReadRunning(pod))
}
