package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// roomKept is the room of the virtual pods in a plan of a problem, with its price by a plan without them; nil without such
// pods, and for terse plans.
func roomKept(ctx context.Context, f *instance.Facts, plan *scheduling.Plan) (*scheduling.RoomKept, error) {
	virtual := map[string]*corev1.Pod{}
	for _, pod := range f.Problem.Pods {
		if scheduling.IsVirtual(pod) && podspec.Pending(pod) {
			virtual[podspec.PodName(pod)] = pod
		}
	}
	if len(virtual) == 0 || f.Terse {
		return nil, nil //nolint:nilnil // no room is kept
	}
	var with []*corev1.Pod
	count := func(pods []string) (n int) {
		for _, name := range pods {
			if pod := virtual[name]; pod != nil {
				with, n = append(with, pod), n+1
			}
		}
		return n
	}
	out := &scheduling.RoomKept{Pods: len(virtual), Requests: corev1.ResourceList{}}
	for i := range plan.Existing {
		out.Existing += count(plan.Existing[i].Pods)
	}
	for i := range plan.Launches {
		out.Launched += count(plan.Launches[i].Pods)
	}
	for _, requests := range PodRequests(with) {
		for name, q := range requests {
			sum := out.Requests[name]
			sum.Add(q)
			out.Requests[name] = sum
		}
	}
	if out.Launched == 0 || late(ctx) {
		return out, nil
	}
	others := f.Keep(func(pod *corev1.Pod) bool { return !scheduling.IsVirtual(pod) })
	policy := *f.Solver
	policy.NoReasons = true
	others.Solver, others.Memory, others.Observer = &policy, f.Memory.Fork(), nil
	without, _, err := withNominated(ctx, others)
	if err != nil {
		return nil, err
	}
	if !late(ctx) {
		out.PricePerHour = max(0, offers.Objective(f.Solver, &plan.Summary)-offers.Objective(f.Solver, &without.Summary))
	}
	return out, nil
}
