package explain

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// PlanState is the cluster once a plan is carried out: where the pods are, and the room, limits and reservations that are
// left.
type PlanState struct {
	in          *instance.Instance // of the whole problem
	plan        *scheduling.Plan
	ClassOf     map[string]int   // by name of a pod, its place among the planned classes
	Machines    []PlannedNode    // by launch
	ledger      *instance.Ledger // limits and reservations that are left
	Bins        []PlannedNode    // by bin
	Left        [][]int64        // by bin, the room that is free
	placed      map[string]bool
	roomNumbers [][]int32   // by template and offer, the number of the room; -1 where daemons overfill it
	outside     []*ruledOut // by template; nil until it is asked for
}

// PlannedNode is a node or a launched machine with the pods that the plan puts there.
type PlannedNode struct {
	Template, Offer int // of a launch; the template is -1 where the problem has no such NodePool or offering
	Items           []instance.Member
}

// newPlanState carries out a plan of the instance.
func newPlanState(c *instance.Instance, plan *scheduling.Plan) *PlanState {
	s := &PlanState{
		in: c, plan: plan, ClassOf: c.ClassByPod(), ledger: instance.NewLedger(c), Bins: make([]PlannedNode, len(c.Nodes)),
		placed: map[string]bool{},
	}
	launches := instance.NewLaunches(c)
	for i := range plan.Launches {
		m := PlannedNode{Template: -1, Items: s.items(plan.Launches[i].Pods)}
		if at, ok := launches.OfferOf(&plan.Launches[i]); ok {
			m.Template, m.Offer = at.Template, at.Offer
			s.ledger.Spend(at, 1)
		}
		s.Machines = append(s.Machines, m)
	}
	assigned := map[string][]string{}
	for _, a := range plan.Existing {
		assigned[a.Node] = a.Pods
	}
	for i, x := range c.Nodes {
		s.Bins[i] = PlannedNode{Template: -1, Items: s.items(assigned[x.Node.Name])}
		room := slices.Clone(x.Room)
		for _, it := range s.Bins[i].Items {
			for d, q := range c.Planned[it.Class].Requests {
				room[d] -= q * it.N
			}
		}
		s.Left = append(s.Left, room)
	}
	return s
}

// items counts pods by class, in the order of the classes.
func (s *PlanState) items(pods []string) []instance.Member {
	counts := map[int]int64{}
	for _, name := range pods {
		if class, ok := s.ClassOf[name]; ok && !s.placed[name] {
			counts[class]++
			s.placed[name] = true
		}
	}
	out := make([]instance.Member, 0, len(counts))
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, instance.Member{Class: class, N: counts[class]})
	}
	return out
}

// Unplaced returns the pods of a planned class that the plan places nowhere.
func (s *PlanState) Unplaced(class int) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range s.in.Planned[class].Pods {
		if !s.placed[podspec.PodName(pod)] {
			out = append(out, pod)
		}
	}
	return out
}

// roomNumber numbers the room of a machine bought at an offer; -1 where daemons alone
// overfill it.
func (s *PlanState) roomNumber(ti, o int) int {
	if s.roomNumbers == nil {
		s.roomNumbers = make([][]int32, len(s.in.Templates))
	}
	numbers := s.roomNumbers[ti]
	if numbers == nil {
		numbers = make([]int32, len(s.in.Offers.Offers))
		s.all(s.in.Templates[ti]).Each(func(o int) {
			numbers[o] = int32(s.in.RoomNumber(s.in.Offers.Offers[o].Shape, s.in.Offered[ti].Daemons, o))
		})
		s.roomNumbers[ti] = numbers
	}
	return int(numbers[o])
}

// room is the room for pods of a machine bought at an offer, by resource; false where DaemonSets alone overfill it.
func (s *PlanState) room(ti, o int) ([]int64, bool) {
	n := s.roomNumber(ti, o)
	if n < 0 {
		return nil, false
	}
	return s.in.Rooms.Rooms[n], true
}

// ruledOut are the offers of a template's catalog that the NodePool would have if its requirements
// were wider. Offers that the pool's own labels rule out are not among them.
type ruledOut struct {
	keys   []string     // of the requirements
	met    []model.Bits // by requirement, the offers that meet it
	offers model.Bits
	byOne  model.Bits // of these offers the ones that a single requirement rules out
}

// ruledOut returns the offers that the requirements of a template's NodePool rule out.
func (s *PlanState) ruledOut(ti int) *ruledOut {
	if s.outside == nil {
		s.outside = make([]*ruledOut, len(s.in.Templates))
	}
	if s.outside[ti] == nil {
		s.outside[ti] = s.findRuledOut(s.in.Templates[ti])
	}
	return s.outside[ti]
}

func (s *PlanState) findRuledOut(v *offers.Template) *ruledOut {
	n := len(s.in.Offers.Offers)
	x, own := &ruledOut{offers: model.NewBits(n), byOne: model.NewBits(n)}, offers.PoolLabels(v.Pool)
	out := s.all(v)
	out.AndNot(v.Within)
	for r := range v.Set.All() {
		row := s.in.Offers.Satisfying(v, &podspec.Expression{Raw: r.Key(), Requirement: r})
		if _, labelled := own[r.Key()]; labelled {
			out.And(row)
		} else if s.in.Offers.Defines(r.Key(), v.Catalog) {
			x.keys, x.met = append(x.keys, r.Key()), append(x.met, row)
		}
	}
	out.Each(func(o int) {
		unmet := 0
		for i, key := range x.keys {
			if x.met[i].Has(o) {
				continue
			}
			if _, has := s.in.Offers.LabelOf(v, o, key); !has {
				return
			}
			unmet++
		}
		x.offers.Set(o)
		if unmet == 1 {
			x.byOne.Set(o)
		}
	})
	return x
}

// all are the offers of a template's catalog.
func (s *PlanState) all(v *offers.Template) model.Bits {
	out := model.NewBits(len(s.in.Offers.Offers))
	if span, ok := s.in.Offers.Spans[v.Catalog]; ok {
		for o := span[0]; o < span[1]; o++ {
			out.Set(o)
		}
	}
	return out
}
