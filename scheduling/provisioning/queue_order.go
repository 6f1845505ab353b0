package provisioning

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// inQueueOrder exchanges the places of equal pods of a plan if it binds in fewer waves then, because kube-scheduler
// takes pods in the order of its queue: of pods with a zone spread the first must go to different zones, not all to the
// same one.
func inQueueOrder(c *instance.Instance, plan *scheduling.Plan) {
	s, err := simulation.New(c, plan)
	if err != nil {
		return
	}
	before, _ := s.Waves()
	if before < 2 {
		return
	}
	old := s.Planned
	s.Planned = s.AssignPlaces()
	if after, ok := s.Waves(); !ok || after >= before {
		return
	}
	moved := map[string]bool{}
	lists := map[int32][]string{}
	for i, home := range s.Planned {
		if home >= 0 && home != old[i] {
			name := podspec.PodName(s.Queue[i].Pod)
			moved[name], lists[home] = true, append(lists[home], name)
		}
	}
	deal := func(place int, pods []string) []string {
		pods = append(slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return moved[pod] }), lists[int32(place)]...) //nolint:gosec // a number of nodes
		slices.SortFunc(pods, strings.Compare)
		return pods
	}
	nodes := map[string]int{}
	there := len(s.Places) - len(plan.Launches)
	for i := range there {
		nodes[s.Places[i].Node] = i
	}
	for i := range plan.Existing {
		plan.Existing[i].Pods = deal(nodes[plan.Existing[i].Node], plan.Existing[i].Pods)
	}
	for i := range plan.Launches {
		plan.Launches[i].Pods = deal(there+i, plan.Launches[i].Pods)
	}
}
