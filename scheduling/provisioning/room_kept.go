package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// roomKept is the room of the virtual pods in a plan of a problem, with its price by a plan without them; nil without such
// pods. It leaves these pods out of the numbers of pods in the summary.
func roomKept(ctx context.Context, f *instance.Facts, plan *scheduling.Plan) (*scheduling.RoomKept, error) {
	virtual := map[string]*corev1.Pod{}
	for _, pod := range f.Problem.Pods {
		if scheduling.IsVirtual(pod) && podspec.Pending(pod) {
			virtual[podspec.PodName(pod)] = pod
		}
	}
	if len(virtual) == 0 {
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
	plan.Summary.Pods -= out.Pods
	plan.Summary.Placed -= out.Existing + out.Launched
	if f.Terse || f.Solver.NoReasons {
		return out, nil
	}
	if out.PricePerHour = new(offerings.Price); len(plan.Launches) == 0 {
		return out, nil
	}
	others := f.Keep(func(pod *corev1.Pod) bool { return !scheduling.IsVirtual(pod) })
	others.Memory = f.Memory.Fork()
	var err error
	if out.Without, err = comparison(ctx, others); err != nil {
		return nil, err
	}
	if out.Without == nil {
		out.PricePerHour = nil
		return out, nil
	}
	*out.PricePerHour = max(0, offers.Objective(f.Solver, &plan.Summary)-offers.Objective(f.Solver, &out.Without.Summary))
	return out, nil
}

// comparison is a plan whose price others are compared with: without lower bound, reasons and warnings. It is nil where a deadline has
// passed.
func comparison(ctx context.Context, f *instance.Facts) (*scheduling.Plan, error) {
	policy := *f.Solver
	policy.NoReasons = true
	f.Solver, f.Observer = &policy, nil
	plan, err := solve(ctx, f)
	if err != nil || late(ctx) {
		return nil, err
	}
	plan.Warnings = []scheduling.Warning{}
	conclude(&plan.Summary, proof{}, offers.Objective(f.Solver, &plan.Summary), false)
	return plan, nil
}
