package explain

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// scene is what there will be once a plan is carried out.
type scene struct {
	*compile.Compiler // of the whole problem
	plan              *scheduling.Plan
	ClassOf           map[string]int  // by name of a pod, its place among the planned classes
	Machines          []Standing      // by launch
	ledger            *compile.Ledger // what is left of limits and reservations
	Bins              []Standing      // by bin
	Left              [][]int64       // by bin, the room that is free
	placed            map[string]bool
	bookOf            map[booking]int // memo of offerOf
	sizes             sizes
}

// booking is what a launch asks for, as its template has it on sale.
type booking struct {
	template                                  int
	instanceType, zone, capacity, reservation string
}

// Standing is what a machine receives.
type Standing struct {
	Template, Offer int // of a launch; the template is -1 where the plan names unknown ones
	Items           []compile.Portion
}

// newScene carries out a plan of the compiler's problem.
func newScene(c *compile.Compiler, plan *scheduling.Plan) *scene {
	s := &scene{
		Compiler: c, plan: plan, ClassOf: map[string]int{}, ledger: compile.NewLedger(c), Bins: make([]Standing, len(c.Nodes)),
		placed: map[string]bool{}, bookOf: map[booking]int{},
	}
	for i, class := range c.Planned {
		for _, pod := range class.Pods {
			s.ClassOf[podspec.PodName(pod)] = i
		}
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		m := Standing{Template: s.templateOf(l), Items: s.items(l.Pods)}
		if m.Template >= 0 {
			m.Offer = s.offerOf(m.Template, &l.Options[0])
		}
		if m.Template >= 0 && m.Offer >= 0 {
			s.ledger.Spend(offers.Purchase{Template: m.Template, Offer: m.Offer}, 1)
		} else {
			m.Template = -1
		}
		s.Machines = append(s.Machines, m)
	}
	assigned := map[string][]string{}
	for _, a := range plan.Existing {
		assigned[a.Node] = a.Pods
	}
	for i, x := range c.Nodes {
		s.Bins[i] = Standing{Template: -1, Items: s.items(assigned[x.Node.Name])}
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
func (s *scene) items(pods []string) []compile.Portion {
	counts := map[int]int64{}
	for _, name := range pods {
		if class, ok := s.ClassOf[name]; ok && !s.placed[name] {
			counts[class]++
			s.placed[name] = true
		}
	}
	out := make([]compile.Portion, 0, len(counts))
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, compile.Portion{Class: class, N: counts[class]})
	}
	return out
}

// templateOf finds the template whose labels a launch states, or -1.
func (s *scene) templateOf(l *scheduling.Launch) int {
	if len(l.Options) == 0 {
		return -1
	}
	stated := map[string]string{}
	for _, r := range l.Requirements {
		if len(r.Values) == 1 {
			stated[r.Key] = r.Values[0]
		}
	}
	first := -1
	for i, v := range s.Templates {
		if v.Pool.Name != l.NodePool {
			continue
		}
		if first < 0 {
			first = i
		}
		fits := true
		for key := range v.Open {
			value, ok := v.Labels[key]
			have, has := stated[key]
			fits = fits && ok == has && value == have
		}
		if fits {
			return i
		}
	}
	return first
}

// offerOf finds an option among the offers that a template may buy, or returns -1.
func (s *scene) offerOf(template int, o *scheduling.Option) int {
	key := booking{template, o.InstanceType, o.Zone, string(o.CapacityType), o.ReservationID}
	if i, ok := s.bookOf[key]; ok {
		return i
	}
	s.bookOf[key] = -1
	span := s.Offers.Spans[s.Templates[template].Catalog]
	for i := span[0]; i < span[1]; i++ {
		x := &s.Offers.Offers[i]
		if x.InstanceType.Name == o.InstanceType && x.Offering.Zone == o.Zone &&
			x.Offering.CapacityType == o.CapacityType && x.Offering.ReservationID == o.ReservationID {
			s.bookOf[key] = i
			break
		}
	}
	return s.bookOf[key]
}

// Unplaced returns the pods of a planned class that the plan places nowhere.
func (s *scene) Unplaced(class int) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range s.Planned[class].Pods {
		if !s.placed[podspec.PodName(pod)] {
			out = append(out, pod)
		}
	}
	return out
}

// sizes remembers what explaining one class after another asks again and again: the
// room of every offer, whether a class fits it, whether it can still be bought.
type sizes struct {
	numbers [][]int32         // by template and offer, the number of the room; -1 where daemons overfill it
	of      *podspec.PodClass // whose fits are
	fits    []int8            // by number of a room: 0 where it is not known, 1 for yes, -1 for no
}

// roomNumber numbers the room of a machine bought at an offer; -1 where daemons alone
// overfill it.
func (s *scene) roomNumber(ti, o int) int {
	if s.sizes.numbers == nil {
		s.sizes.numbers = make([][]int32, len(s.Templates))
	}
	numbers := s.sizes.numbers[ti]
	if numbers == nil {
		numbers = make([]int32, len(s.Offers.Offers))
		s.Templates[ti].Within.Each(func(o int) {
			numbers[o] = int32(compile.Number(s.Compiler.Rooms, s.Compiler, s.Offers.Offers[o].Shape, s.Offered[ti].Daemons, o))
		})
		s.sizes.numbers[ti] = numbers
	}
	return int(numbers[o])
}

// room is what a machine bought at an offer has for pods; false where daemons alone
// overfill it.
func (s *scene) room(ti, o int) ([]int64, bool) {
	n := s.roomNumber(ti, o)
	if n < 0 {
		return nil, false
	}
	return s.Compiler.Rooms.Rooms[n], true
}

// fitsRoom reports whether a pod of a class fits a room.
func (s *scene) fitsRoom(class *podspec.PodClass, number int) bool {
	if s.sizes.of != class {
		s.sizes.of = class
		clear(s.sizes.fits)
	}
	for len(s.sizes.fits) <= number {
		s.sizes.fits = append(s.sizes.fits, 0)
	}
	if s.sizes.fits[number] == 0 {
		s.sizes.fits[number] = -1
		if model.Fits(s.Compiler.Rooms.Rooms[number], class.Requests) {
			s.sizes.fits[number] = 1
		}
	}
	return s.sizes.fits[number] > 0
}
