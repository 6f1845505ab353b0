package week

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// podsOf are the pods of a world as pending ones, without those of the DaemonSet.
func podsOf(w *simulation.World) []*corev1.Pod {
	p := w.Cluster.Problem(nil)
	out := p.Pods
	for _, pod := range p.Running {
		if pod.Labels[simulation.AppLabel] == "" {
			continue
		}
		pod = pod.DeepCopy()
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
		out = append(out, pod)
	}
	return out
}

// bound is the sum of lower bounds on the price of nodes for the pods of each hour, in USD.
func bound(ctx context.Context, hours [][]*corev1.Pod) (float64, error) {
	p, err := cluster()
	if err != nil {
		return 0, err
	}
	var sum offerings.Price
	for i, pods := range hours {
		p.Pods = pods
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(ctx, p)
		if err != nil {
			return 0, err
		}
		if err := verify.Plan(p, plan); err != nil {
			return 0, fmt.Errorf("lower bound of hour %d: %w", i, err)
		}
		sum = offerings.Sum(sum, plan.Summary.LowerBoundPerHour)
	}
	return sum.USD(), nil
}
