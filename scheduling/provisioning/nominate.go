package provisioning

import (
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Nomination is what makes a pod bind where a plan has it: the node that belongs into its
// status.nominatedNodeName, for a launch the one that the machine becomes.
type Nomination struct {
	Pod types.NamespacedName
	scheduling.Placement
	// Wave counts from 1. A pod of the second wave cannot bind at its turn in kube-scheduler's
	// queue, as it depends on pods that come later, and so on: hold it off until the wave before
	// is bound, by a scheduling gate for instance.
	Wave int
}

// Nominations are the places that a plan of p has for pods, by waves, and in a wave in the order
// of kube-scheduler's queue. Most plans have one wave. What is on its way already comes before
// the plan's launches: pods of p that are nominated to where the plan has them bind first. The
// error means a malformed problem, or a launch that is none of p.
func Nominations(p scheduling.Problem, plan *scheduling.Plan) ([]Nomination, error) {
	facts, err := compile.NewFacts(&p, &scheduling.Policy{})
	if err != nil {
		return nil, err
	}
	out, err := bindsInWaves(facts.Compile(false), plan)
	if err != nil {
		return nil, err
	}
	// What the model does not bind, or does not know how to, as a volume was chosen for it, is last.
	last, known := 1, make(map[types.NamespacedName]bool, len(out))
	for _, n := range out {
		known[n.Pod] = true
		last = n.Wave
	}
	for pod, where := range plan.Placements() {
		if !known[pod] {
			out = append(out, Nomination{Pod: pod, Placement: where, Wave: last})
		}
	}
	return out, nil
}

// bindsInWaves are the places of a plan of c's problem that kube-scheduler's filters admit once
// those before them are taken: the plan binds as it is where they are all.
func bindsInWaves(c *compile.Compiler, plan *scheduling.Plan) ([]Nomination, error) {
	s, err := newStage(c, plan)
	if err != nil {
		return nil, err
	}
	run, there := s.scheduler.Begin(0), int32(s.scheduler.Existing())
	var out []Nomination
	waiting := lo.Range(len(s.queue))
	bind := func(wave int, may func(pod *corev1.Pod, home int32) bool) {
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			q, home := s.queue[i], s.home[i]
			if home < 0 || !may(q.Pod, home) || !run.Admits(q.Class, home) {
				return false
			}
			run.Place(q.Class, home)
			out = append(out, Nomination{Pod: podspec.PodKey(q.Pod), Placement: s.places[home], Wave: wave})
			return true
		})
	}
	bind(1, func(pod *corev1.Pod, home int32) bool {
		return home < there && nominatedNode(c.Problem, pod) == s.places[home].Node
	})
	for _, kind := range s.kinds {
		run.Join(kind)
	}
	for wave, before := 1, -1; len(waiting) != before; wave++ {
		before = len(waiting)
		bind(wave, func(*corev1.Pod, int32) bool { return true })
	}
	return out, nil
}
