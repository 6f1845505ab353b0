package provisioning

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// Nomination is the node for a pod's status.nominatedNodeName, which makes the pod bind where a plan has it. For a launch it
// is the node that the machine becomes.
type Nomination struct {
	Pod types.NamespacedName
	scheduling.Placement
	// Wave counts from 1. A pod of the second wave cannot bind at its turn in kube-scheduler's
	// queue, as it depends on pods that come later, and so on: hold it off until the wave before
	// is bound, by a scheduling gate for instance.
	Wave int
}

// Nominations are the places that a plan of p has for pods, by waves, and in a wave in the order
// of kube-scheduler's queue. Most plans have one wave. Nominated pods come before
// the plan's launches: pods of p that are nominated to where the plan has them bind first. The
// error means a malformed problem, that there is no plan, or a launch that is none of p.
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
	// Pods that the model does not bind, e.g. because a volume was chosen for them, come last.
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
