package provisioning

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// Nomination is the node for a pod's status.nominatedNodeName, which makes the pod bind where a plan has it. For a launch it
// is the node of the launch.
type Nomination struct {
	Pod types.NamespacedName
	scheduling.Placement
	// Wave counts from 1. A pod of the second wave cannot bind at its turn in kube-scheduler's queue, because it
	// depends on pods that are later in the queue, and so on: it must be held off until the wave before is bound, e.g.
	// by a scheduling gate.
	Wave int
}

// Nominations returns the places of pods in a plan of p, by waves, and in a wave in the order of kube-scheduler's
// queue. Most plans have one wave. Pods of p that are nominated to the place that the plan has for them come before the
// pods of launches, because they bind first. An error means a malformed problem, a nil plan, or a plan with a launch
// that p does not allow.
func Nominations(p scheduling.Problem, plan *scheduling.Plan) ([]Nomination, error) {
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, errNoPlan
	}
	s, err := simulation.New(facts.Compile(false), plan)
	if err != nil {
		return nil, err
	}
	var out []Nomination
	// Pods that the model does not bind, e.g. because a volume was chosen for them, are last.
	last, known := 1, map[types.NamespacedName]bool{}
	for _, turn := range s.BindOrder() {
		pod := podspec.PodKey(s.Queue[turn.Pod].Pod)
		out = append(out, Nomination{Pod: pod, Placement: s.Places[s.Planned[turn.Pod]], Wave: turn.Wave})
		known[pod], last = true, turn.Wave
	}
	for pod, where := range plan.Placements() {
		if !known[pod] {
			out = append(out, Nomination{Pod: pod, Placement: where, Wave: last})
		}
	}
	return out, nil
}
