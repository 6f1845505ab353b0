package simulation

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Plan is a plan whose pods kube-scheduler binds.
type Plan struct {
	c         *instance.Instance
	scheduler *binding.Scheduler
	kinds     []int                  // of nodes of the scheduler, by launch
	Places    []scheduling.Placement // the nodes that are there, then the launches
	Queue     []binding.Pod          // those that the plan places
	classes   []int32                // of the queue
	Planned   []int32                // the place that the plan has for each pod of the queue; -1 for nodes that are not there
}

// New is for a plan of c's problem. The error means a launch that is none of it.
func New(c *instance.Instance, plan *scheduling.Plan) (*Plan, error) {
	s := &Plan{c: c, scheduler: binding.New(c)}
	s.Places = make([]scheduling.Placement, s.scheduler.Model.Existing(), s.scheduler.Model.Existing()+len(plan.Launches))
	for i, x := range c.Nodes {
		s.Places[i].Node = x.Node.Name
	}
	launches := instance.NewLaunches(c)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		at, ok := launches.OfferOf(l)
		if !ok {
			return nil, fmt.Errorf("launch %s: the problem has no such NodePool or offering", l.Name)
		}
		s.kinds, s.Places = append(s.kinds, s.scheduler.Machine(at)), append(s.Places, scheduling.Placement{Launch: l})
	}
	at, home := map[scheduling.Placement]int32{}, map[types.NamespacedName]int32{}
	for i, where := range s.Places {
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
			s.Queue, s.classes, s.Planned = append(s.Queue, q), append(s.classes, q.Class), append(s.Planned, n)
		}
	}
	return s, nil
}

// PodWave is a pod of the queue that binds where the plan has it, with its wave: pods of the first wave bind at their
// turn in the queue, pods of the second need pods that are later in the queue, and so on.
type PodWave struct {
	Pod  int
	Wave int // from 1
}

// BindOrder returns the pods that kube-scheduler's filters admit to their places once the pods before them are there.
// The plan binds as it is where these are all pods. Pods nominated to existing nodes bind before new nodes join.
func (s *Plan) BindOrder() (out []PodWave) {
	state, there := s.scheduler.Model.Begin(), int32(s.scheduler.Model.Existing())
	to := slices.Repeat([]int32{-1}, len(s.Queue))
	before := 0
	bind := func() {
		first := len(out)
		for i, turn := range state.PlaceAll(s.classes, to) {
			if turn > 0 {
				out = append(out, PodWave{i, before + turn})
			}
		}
		slices.SortStableFunc(out[first:], func(a, b PodWave) int { return cmp.Compare(a.Wave, b.Wave) })
	}
	for i, home := range s.Planned {
		if home >= 0 && home < there && podspec.NominatedNode(s.c.Facts.Problem, s.Queue[i].Pod) == s.Places[home].Node {
			to[i] = home
		}
	}
	bind()
	for _, kind := range s.kinds {
		state.Join(kind)
	}
	copy(to, s.Planned)
	for _, t := range out {
		to[t.Pod], before = -1, t.Wave-1
	}
	bind()
	return out
}

// Find is a pod's place in the queue, -1 where it has none.
func (s *Plan) Find(pod *corev1.Pod) int32 {
	return int32(slices.IndexFunc(s.Queue, func(q binding.Pod) bool { return podspec.PodKey(q.Pod) == podspec.PodKey(pod) }))
}

// OwnLabel returns a label with a value that no other place has: the node's host name, or the NodePool of a launch; ""
// for none.
func (s *Plan) OwnLabel(place int32) (key, value string) {
	home := s.Places[place]
	if home.Launch == nil {
		return corev1.LabelHostname, s.c.Nodes[place].Labels[corev1.LabelHostname]
	}
	key, value = scheduling.NodePoolLabel, home.Launch.NodePool
	for _, n := range s.c.Nodes {
		if n.Labels[key] == value {
			return "", ""
		}
	}
	for _, other := range s.Places[s.scheduler.Model.Existing():] {
		if other != home && other.Launch.NodePool == value {
			return "", ""
		}
	}
	return key, value
}
