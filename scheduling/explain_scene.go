package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// scene is what there will be once a plan is carried out.
type scene struct {
	*compiler // of the whole problem
	plan      *Plan
	classOf   map[string]int // by name of a pod, its place among the planned classes
	machines  []standing     // by launch
	ledger    *ledger        // what is left of limits and reservations
	bins      []standing     // by bin
	left      [][]int64      // by bin, the room that is free
	placed    map[string]bool
	bookOf    map[booking]int // memo of offerOf
	sizes     sizes
}

// booking is what a launch asks for, as its template has it on sale.
type booking struct {
	template                                  int
	instanceType, zone, capacity, reservation string
}

// standing is what a machine receives.
type standing struct {
	template, offer int // of a launch; the template is -1 where the plan names unknown ones
	items           []portion
}

// newScene carries out a plan of the compiler's problem.
func newScene(c *compiler, plan *Plan) *scene {
	s := &scene{
		compiler: c, plan: plan, classOf: map[string]int{}, ledger: newLedger(c), bins: make([]standing, len(c.nodes)),
		placed: map[string]bool{}, bookOf: map[booking]int{},
	}
	for i, class := range c.planned {
		for _, pod := range class.pods {
			s.classOf[podName(pod)] = i
		}
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		m := standing{template: s.templateOf(l), items: s.items(l.Pods)}
		if m.template >= 0 {
			m.offer = s.offerOf(m.template, &l.Options[0])
		}
		if m.template >= 0 && m.offer >= 0 {
			s.ledger.spend(purchase{template: m.template, offer: m.offer}, 1)
		} else {
			m.template = -1
		}
		s.machines = append(s.machines, m)
	}
	assigned := map[string][]string{}
	for _, a := range plan.Existing {
		assigned[a.Node] = a.Pods
	}
	for i, x := range c.nodes {
		s.bins[i] = standing{template: -1, items: s.items(assigned[x.node.Name])}
		room := slices.Clone(x.room)
		for _, it := range s.bins[i].items {
			for d, q := range c.planned[it.class].requests {
				room[d] -= q * it.n
			}
		}
		s.left = append(s.left, room)
	}
	return s
}

// items counts pods by class, in the order of the classes.
func (s *scene) items(pods []string) []portion {
	counts := map[int]int64{}
	for _, name := range pods {
		if class, ok := s.classOf[name]; ok && !s.placed[name] {
			counts[class]++
			s.placed[name] = true
		}
	}
	out := make([]portion, 0, len(counts))
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, portion{class, counts[class]})
	}
	return out
}

// templateOf finds the template whose labels a launch states, or -1.
func (s *scene) templateOf(l *Launch) int {
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
	for i, v := range s.templates {
		if v.pool.Name != l.NodePool {
			continue
		}
		if first < 0 {
			first = i
		}
		fits := true
		for key := range v.open {
			value, ok := v.labels[key]
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
func (s *scene) offerOf(template int, o *Option) int {
	key := booking{template, o.InstanceType, o.Zone, string(o.CapacityType), o.ReservationID}
	if i, ok := s.bookOf[key]; ok {
		return i
	}
	s.bookOf[key] = -1
	span := s.offers.spans[s.templates[template].catalog]
	for i := span[0]; i < span[1]; i++ {
		x := &s.offers.offers[i]
		if x.instanceType.Name == o.InstanceType && x.offering.Zone == o.Zone &&
			x.offering.CapacityType == o.CapacityType && x.offering.ReservationID == o.ReservationID {
			s.bookOf[key] = i
			break
		}
	}
	return s.bookOf[key]
}

// labelOf is the value of a label on machines bought at an offer.
func (s *scene) labelOf(ti, o int, key string) (string, bool) {
	if value, ok := s.offers.offers[o].label(key); ok {
		return value, true
	}
	value, ok := s.templates[ti].labels[key]
	if !ok {
		value, ok = ready()[key]
	}
	return value, ok
}

// enough reports whether a pool's minValues would be met by those of some offers that
// hold a request.
func (s *scene) enough(ti int, row model.Bits, request []int64) bool {
	if !s.choosable(ti, row, request) {
		return false
	}
	floors := floorKeys(s.templates[ti].set)
	if len(floors) == 0 || s.solver.MinValues == MinValuesBestEffort {
		return true
	}
	seen := make([]map[string]bool, len(floors))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	row.Each(func(o int) {
		if room, ok := s.room(ti, o); !ok || !s.offers.offers[o].launchable || !model.Fits(room, request) {
			return
		}
		for i, r := range floors {
			if value, ok := s.labelOf(ti, o, r.Key()); ok {
				seen[i][value] = true
			}
		}
	})
	for i, r := range floors {
		if len(seen[i]) < r.MinValues() {
			return false
		}
	}
	return true
}

// portsTaken reports whether pods planned onto a bin bind a port of a class.
func (s *scene) portsTaken(class *podClass, bin int) bool {
	ports := s.classes.groups[class.group].ports
	return len(ports) > 0 && slices.ContainsFunc(s.bins[bin].items, func(it portion) bool {
		return portsClash(ports, s.classes.groups[s.planned[it.class].group].ports)
	})
}

// unplaced returns the pods of a planned class that the plan places nowhere.
func (s *scene) unplaced(class int) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range s.planned[class].pods {
		if !s.placed[podName(pod)] {
			out = append(out, pod)
		}
	}
	return out
}
