package provisioning

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
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
	scheduler := binding.New(c)
	machines, err := machinesOf(c, scheduler, plan)
	if err != nil {
		return nil, err
	}
	run := scheduler.Begin(0)
	at := make(map[scheduling.Placement]int32, len(c.Nodes)+len(machines))
	for i, x := range c.Nodes {
		at[scheduling.Placement{Node: x.Node.Name}] = int32(i)
	}
	place := make(map[types.NamespacedName]scheduling.Placement, plan.Summary.Placed)
	for pod, where := range plan.Placements() {
		place[pod] = where
	}
	var out []Nomination
	waiting := scheduler.Queue()
	bind := func(wave int, may func(binding.Pod, scheduling.Placement) bool) {
		waiting = slices.DeleteFunc(waiting, func(q binding.Pod) bool {
			where, placed := place[podspec.PodKey(q.Pod)]
			node, known := at[where]
			if placed && (!known || !may(q, where) || !run.Admits(q.Class, node)) {
				return false
			}
			if placed {
				run.Place(q.Class, node)
				out = append(out, Nomination{Pod: podspec.PodKey(q.Pod), Placement: where, Wave: wave})
			}
			return true
		})
	}
	bind(1, func(q binding.Pod, where scheduling.Placement) bool {
		return nominatedNode(c.Problem, q.Pod) == where.Node
	})
	for i, kind := range machines {
		at[scheduling.Placement{Launch: &plan.Launches[i]}] = int32(run.Join(kind))
	}
	for wave, before := 1, -1; len(waiting) != before; wave++ {
		before = len(waiting)
		bind(wave, func(binding.Pod, scheduling.Placement) bool { return true })
	}
	return out, nil
}

// machinesOf are the launches of a plan of c's problem as kinds of nodes of a scheduler.
func machinesOf(c *compile.Compiler, scheduler *binding.Scheduler, plan *scheduling.Plan) ([]int, error) {
	launches, kinds := compile.NewLaunches(c), map[offers.Purchase]int{}
	machines := make([]int, len(plan.Launches))
	for i := range plan.Launches {
		at, ok := launches.Purchase(&plan.Launches[i])
		if !ok {
			return nil, fmt.Errorf("launch %s: the problem has no such NodePool or offering", plan.Launches[i].Name)
		}
		if _, known := kinds[at]; !known {
			kinds[at] = scheduler.Machine(at)
		}
		machines[i] = kinds[at]
	}
	return machines, nil
}
