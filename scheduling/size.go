package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// NodeSize bounds the machines that may be bought, whatever NodePools allow. Both ends
// count, and are compared with the whole capacity that the catalog states, daemons and
// system included: what the node will report as its capacity. Resources that are not
// named are not bounded; the zero value bounds none. Nodes that are there already may
// have any size.
type NodeSize struct {
	// Smallest and Largest hold quantities of cpu and memory above 0; other resources
	// are an error, and so is a Smallest above the Largest.
	Smallest corev1.ResourceList
	Largest  corev1.ResourceList
}

// sizeResources are those that sizes are about.
func sizeResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// check notes what is wrong with the sizes.
func (s NodeSize) check(f *faults) {
	list := func(path string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			switch {
			case !slices.Contains(sizeResources(), name):
				f.add(q.String(), "only cpu and memory can be bounded", path+"["+string(name)+"]")
			case q.Sign() <= 0:
				f.add(q.String(), "must be above 0", path+"["+string(name)+"]")
			}
		}
	}
	list("solver.size.smallest", s.Smallest)
	list("solver.size.largest", s.Largest)
	for _, name := range sizeResources() {
		if least, most, both := s.bounds(name); both && least.Cmp(most) > 0 {
			f.add(least.String(), "is above the largest, "+most.String(), "solver.size.smallest["+string(name)+"]")
		}
	}
}

// bounds are the ends for a resource, and whether there are both.
func (s NodeSize) bounds(name corev1.ResourceName) (least, most resource.Quantity, both bool) {
	least, low := s.Smallest[name]
	most, high := s.Largest[name]
	return least, most, low && high
}

// exclusion is why the settings of a solver keep an offer from being bought, whoever
// asks; the zero value is that they do not.
type exclusion struct {
	code     ReasonCode
	resource corev1.ResourceName
	small    bool // too small, not too large
}

// excluded says first of all why the settings keep an offering of a type from being
// bought.
func (s *Policy) excluded(t *instancetypes.InstanceType, o *offerings.Offering) exclusion {
	if !s.excludes() {
		return exclusion{}
	}
	if all := s.exclusions(t, o); len(all) > 0 {
		return all[0]
	}
	return exclusion{}
}

// excludes reports whether the settings keep anything from being bought.
func (s *Policy) excludes() bool {
	return s.NoSpot || len(s.Filters) > 0 || len(s.Size.Smallest) > 0 || len(s.Size.Largest) > 0
}

// Allows reports whether Filters, NoSpot and Size let an offering of a type be bought,
// whether it is on sale now or not.
func (s Policy) Allows(t *instancetypes.InstanceType, o offerings.Offering) bool {
	return s.excluded(t, &o).code == ""
}

// exclusions lists everything by which the settings keep an offering of a type from
// being bought.
func (s *Policy) exclusions(t *instancetypes.InstanceType, o *offerings.Offering) (out []exclusion) {
	if s.NoSpot && o.CapacityType == offerings.Spot {
		out = append(out, exclusion{code: ReasonNoSpot})
	}
	if slices.ContainsFunc(s.Filters, func(keep instancetypes.Filter) bool { return keep != nil && !keep(t, *o) }) {
		out = append(out, exclusion{code: ReasonFilter})
	}
	for _, name := range sizeResources() {
		has, ok := o.Capacity[name]
		if !ok {
			has = t.Capacity[name]
		}
		if least, ok := s.Size.Smallest[name]; ok && has.Cmp(least) < 0 {
			out = append(out, exclusion{code: ReasonNodeSize, resource: name, small: true})
		}
		if most, ok := s.Size.Largest[name]; ok && has.Cmp(most) > 0 {
			out = append(out, exclusion{code: ReasonNodeSize, resource: name})
		}
	}
	return out
}

// reason words an exclusion.
func (s *Policy) reason(x exclusion) Reason {
	switch {
	case x.code == ReasonNoSpot:
		return Reason{Code: x.code, Detail: "spot machines are ruled out"}
	case x.code == ReasonFilter:
		return Reason{Code: x.code, Detail: "the filters rule machines out"}
	case x.small:
		q := s.Size.Smallest[x.resource]
		return Reason{Code: x.code, Detail: fmt.Sprintf("machines have less %s than the smallest that may be bought (%s)", x.resource, q.String())}
	default:
		q := s.Size.Largest[x.resource]
		return Reason{Code: x.code, Detail: fmt.Sprintf("machines have more %s than the largest that may be bought (%s)", x.resource, q.String())}
	}
}

// admitting is the change of settings that would let an offer be bought.
func (s *Policy) admitting(o *offer) Change {
	var changes []Change
	var texts []string
	for _, x := range s.exclusions(o.instanceType, o.offering) {
		c := s.lifting(x, o)
		changes, texts = append(changes, c), append(texts, c.Text)
	}
	c := changes[0]
	c.Text = strings.Join(texts, " and ")
	c.And = slices.Clone(changes[1:])
	if c.Kind == ChangeNodeSize {
		c.Text += ", such as " + o.instanceType.Name
	}
	return c
}

// lifting is the change that lifts one exclusion of an offer.
func (s *Policy) lifting(x exclusion, o *offer) Change {
	if x.code == ReasonNoSpot {
		return Change{Kind: ChangeSpot, Object: "Policy", Text: "allow spot machines"}
	}
	if x.code == ReasonFilter {
		name := fmt.Sprintf("%s/%s/%s", o.instanceType.Name, o.offering.Zone, o.offering.CapacityType)
		return Change{Kind: ChangeFilter, Object: name, Text: "let the filters keep " + strings.ReplaceAll(name, "/", " ")}
	}
	bounds, direction := s.Size.Largest, "up to"
	if x.small {
		bounds, direction = s.Size.Smallest, "from"
	}
	has, ok := o.offering.Capacity[x.resource]
	if !ok {
		has = o.instanceType.Capacity[x.resource]
	}
	bound := bounds[x.resource]
	return Change{
		Kind: ChangeNodeSize, Object: "Policy", Key: string(x.resource), From: bound.String(), To: has.String(),
		Text: fmt.Sprintf("allow machines %s %s %s", direction, x.resource, has.String()),
	}
}

// settingsFix names the nearest offer that the settings alone keep from being bought.
func (e *explainer) settingsFix(class *podClass, id int, screens []screened) Change {
	best, grounds := -1, 0
	for ti := range screens {
		if screens[ti].excluded == nil {
			continue
		}
		screens[ti].excluded.Each(func(o int) {
			x := &e.offers.offers[o]
			n := len(e.solver.exclusions(x.instanceType, x.offering))
			if (best < 0 || n < grounds || n == grounds && x.cost < e.offers.offers[best].cost) &&
				e.holds(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o) {
				best, grounds = o, n
			}
		})
	}
	if best < 0 {
		return Change{}
	}
	return e.solver.admitting(&e.offers.offers[best])
}

// screenSettings takes out the offers that the settings exclude.
func (e *explainer) screenSettings(s *screened, count func(Reason, model.Bits)) {
	by := map[exclusion]model.Bits{}
	s.admitted.Each(func(o int) {
		x := e.offers.offers[o].excluded
		if x.code == "" {
			return
		}
		if by[x] == nil {
			by[x] = model.NewBits(len(e.offers.offers))
		}
		by[x].Set(o)
		if s.excluded == nil {
			s.excluded = model.NewBits(len(e.offers.offers))
		}
		s.excluded.Set(o)
	})
	for x, row := range by {
		count(e.solver.reason(x), row)
	}
}
