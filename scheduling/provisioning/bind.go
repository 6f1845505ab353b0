package provisioning

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/nominated"
)

// Binding is the node to which kube-scheduler is expected to bind a pod.
type Binding struct {
	Pod types.NamespacedName
	// Node is the node's name; "" where the pod stays pending.
	Node string
	// Drawn says that several nodes had the highest score, of which kube-scheduler takes one
	// by chance.
	Drawn bool
}

// Bind predicts where kube-scheduler, configured as the problem states, binds the pods of a problem on the existing
// nodes, in the order of its queue, which is that of the result. No nodes are launched. Nominated pods that their node
// admits are bound there. Bind follows the filters and scores of kube-scheduler 1.36 but for volumes attached to nodes,
// images, devices and preemption. seed decides between nodes of equal score. An error means a malformed problem.
func Bind(p scheduling.Problem, seed uint64) ([]Binding, error) {
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	if err != nil {
		return nil, err
	}
	n := nominated.Read(facts)
	c := n.Base
	if c == nil {
		c = facts.Compile(false)
	}
	s := binding.New(c)
	pods, run := s.Queue(), s.Begin(seed)
	queue, to, drawn := make([]int32, len(pods)), make([]int32, len(pods)), make([]bool, len(pods))
	for i := range pods {
		queue[i], to[i] = pods[i].Class, -1
		if at, ok := s.Model.Node(n.Admitted[pods[i].Pod]); ok {
			to[i] = at
			run.Place(queue[i], at)
		}
	}
	run.Bind(queue, to, drawn)
	out := make([]Binding, len(pods))
	for i, at := range to {
		pod := pods[i].Pod
		out[i] = Binding{Pod: podspec.PodKey(pod), Drawn: drawn[i]}
		if at >= 0 {
			out[i].Node = c.Nodes[at].Node.Name
		}
	}
	return out, nil
}

// Realise estimates the price of a plan for p after kube-scheduler has bound the pods to nodes of its own choice, see
// [scheduling.AfterScheduling]. The plan may come from any planner. With [scheduling.PlacementFree] the plan's summary has the
// same estimate. An error means a malformed problem, a plan for another problem (it launches offerings that are not on
// sale, or names pods or nodes that do not exist), or a deadline that has passed.
func (s Planner) Realise(ctx context.Context, p scheduling.Problem, plan *scheduling.Plan) (*scheduling.AfterScheduling, error) {
	facts, err := instance.NewFacts(&p, &s.Policy)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, errNoPlan
	}
	facts, others := nominated.Read(facts).Separate(plan)
	realised, _ := realise(facts.Compile(false), others, fleetParams(facts, func() bool { return late(ctx) }))
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	if realised == nil && late(ctx) {
		return nil, ctx.Err()
	}
	if realised == nil {
		return nil, errors.New("the plan is not for this problem: it launches an offering that is not on sale, or names pods or nodes that do not exist; or too many pods depend on each other")
	}
	return realised, nil
}
