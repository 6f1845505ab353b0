package provisioning

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// stage is a plan whose pods kube-scheduler binds, as it is modelled.
type stage struct {
	c         *compile.Compiler
	scheduler *binding.Scheduler
	kinds     []int                  // of nodes of the scheduler, by launch
	places    []scheduling.Placement // the nodes that are there, then the launches
	queue     []binding.Pod          // those that the plan places
	home      []int32                // where, by pod of the queue; -1 for nodes that are not there
}

// newStage is for a plan of c's problem. The error means a launch that is none of it.
func newStage(c *compile.Compiler, plan *scheduling.Plan) (*stage, error) {
	s := &stage{c: c, scheduler: binding.New(c)}
	s.places = make([]scheduling.Placement, s.scheduler.Existing(), s.scheduler.Existing()+len(plan.Launches))
	for i, x := range c.Nodes {
		s.places[i].Node = x.Node.Name
	}
	launches := compile.NewLaunches(c)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		at, ok := launches.Purchase(l)
		if !ok {
			return nil, fmt.Errorf("launch %s: the problem has no such NodePool or offering", l.Name)
		}
		s.kinds, s.places = append(s.kinds, s.scheduler.Machine(at)), append(s.places, scheduling.Placement{Launch: l})
	}
	at, home := map[scheduling.Placement]int32{}, map[types.NamespacedName]int32{}
	for i, where := range s.places {
		at[where] = int32(i)
	}
	for pod, where := range plan.Placements() {
		n, ok := at[where]
		if !ok {
			n = -1
		}
		home[pod] = n
	}
	for _, q := range s.scheduler.Queue() {
		if n, ok := home[podspec.PodKey(q.Pod)]; ok {
			s.queue, s.home = append(s.queue, q), append(s.home, n)
		}
	}
	return s, nil
}
