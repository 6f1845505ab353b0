package scheduling

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Flexibility is how much choice a launch has to leave if it may become a spot machine:
// so many spot options, which differ in so many respects. Options that are not spot do
// not count, and launches without spot options are not held to it. Pods that too few
// spot machines could hold go to others, and if they ask for spot find no place. The
// zero value asks for nothing.
//
// Karpenter replaces a spot machine by another one only if 15 types would do (its
// spot-to-spot consolidation); Types of 15 asks the same of every launch. Where ties
// between pods fix the zone of a launch, it has the spot options of one zone only.
type Flexibility struct {
	// Options is the least number of spot options: instance types, each counted once
	// for every zone. MaxOptions gives way to it.
	Options int
	// Types is the least number of instance types among them, Families that of type
	// families ([offerings.Family]), and Zones that of zones.
	Types, Families, Zones int
}

// flexibleByDefault is what [GoalFlexible] asks for: the 15 types of Karpenter's rule,
// and not all of one make.
func flexibleByDefault() Flexibility { return Flexibility{Types: 15, Families: 3} }

// on reports whether anything is asked for. One of everything is had anyway.
func (f Flexibility) on() bool { return max(f.Options, f.Types, f.Families, f.Zones) > 1 }

// String says what is asked for: "15 types, 3 families".
func (f Flexibility) String() string {
	var parts []string
	for _, k := range []struct {
		least int
		name  string
	}{{f.Options, "options"}, {f.Types, "types"}, {f.Families, "families"}, {f.Zones, "zones"}} {
		if k.least > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", k.least, k.name))
		}
	}
	return strings.Join(parts, ", ")
}

// choiceKey is a respect in which spot options have to differ.
type choiceKey struct {
	name  string
	least int
	of    func(o *offer) string
}

func (f Flexibility) all() []choiceKey {
	return []choiceKey{
		{"options", f.Options, func(o *offer) string { return o.instanceType.Name + "/" + o.offering.Zone }},
		{"types", f.Types, func(o *offer) string { return o.instanceType.Name }},
		{"families", f.Families, func(o *offer) string { return offerings.Family(o.instanceType.Name) }},
		{"zones", f.Zones, func(o *offer) string { return o.offering.Zone }},
	}
}

// keys are the respects that matter.
func (f Flexibility) keys() []choiceKey {
	if !f.on() {
		return nil
	}
	var out []choiceKey
	for _, k := range f.all() {
		if k.least > 1 {
			out = append(out, k)
		}
	}
	return out
}

func (o *offer) spot() bool { return o.offering.CapacityType == offerings.Spot }

// capacityKind tells spot offers, 1, from others, 0.
func capacityKind(o *offer) int {
	if o.spot() {
		return 1
	}
	return 0
}

// addFloors adds the flexibility floors of a template's machines: that of those which
// are not spot, and that of spot ones.
func (c *compiler) addFloors(v *template, x *templateOffers) [2]int32 {
	floor := c.addFloor(v, x, false)
	if !c.solver.Flexibility.on() {
		return [2]int32{floor, floor}
	}
	return [2]int32{floor, c.addFloor(v, x, true)}
}

// choices counts in what respects spot options differ.
type choices struct {
	keys []choiceKey
	seen []map[string]bool
}

func (f Flexibility) choices() *choices {
	c := &choices{keys: f.keys()}
	for range c.keys {
		c.seen = append(c.seen, map[string]bool{})
	}
	return c
}

// add counts a spot offer and reports whether that brought something that was missing.
func (c *choices) add(o *offer) bool {
	news := false
	for i, k := range c.keys {
		if value := k.of(o); len(c.seen[i]) < k.least && !c.seen[i][value] {
			c.seen[i][value] = true
			news = true
		}
	}
	return news
}

// enough reports whether nothing is missing.
func (c *choices) enough() bool {
	for i, k := range c.keys {
		if len(c.seen[i]) < k.least {
			return false
		}
	}
	return true
}

// spotChoiceAt tells at which sites of a kin a template has the choice among spot offers
// that is asked for; nil where none is.
func (l *land) spotChoiceAt(k *kin, ti int) []bool {
	if !l.solver.Flexibility.on() {
		return nil
	}
	out, seen := make([]bool, k.part.sites), make([]*choices, k.part.sites)
	for i, o := range l.offered[ti].list {
		site, x := k.part.at[l.first[ti]+i], &l.compiler.offers.offers[o.offer]
		if out[site] || !x.spot() || !k.admits(l.columns.rows[o.column]) {
			continue
		}
		if seen[site] == nil {
			seen[site] = l.solver.Flexibility.choices()
		}
		out[site] = seen[site].add(x) && seen[site].enough()
	}
	return out
}

// leavesChoice reports whether a machine that bought at a place of its template would
// have as much choice as spot machines need.
func (d *decoder) leavesChoice(m *machine, at int) bool {
	if !d.solver.Flexibility.on() || !d.offerAt(m, at).spot() {
		return true
	}
	c := d.solver.Flexibility.choices()
	for i := range d.offered[m.template].list {
		o := d.offerAt(m, i)
		if !o.spot() || !d.holds(m, i) || i != at && !d.ledger.couldSwap(d.buys(m), d.sale(m.template, i)) {
			continue
		}
		if c.add(o) && c.enough() {
			return true
		}
	}
	return false
}

// inflexible reports whether there are spot offers among the places of a machine, but
// not as many as it takes.
func (d *decoder) inflexible(m *machine, places []int) bool {
	if !d.solver.Flexibility.on() {
		return false
	}
	c, spot := d.solver.Flexibility.choices(), false
	for _, at := range places {
		if o := d.offerAt(m, at); o.spot() {
			spot = true
			c.add(o)
		}
	}
	return spot && !c.enough()
}

// kept reports whether the launches of a plan leave the choice that is asked for, as
// far as the options show that they list.
func (f Flexibility) kept(plan *Plan) bool {
	if !f.on() {
		return true
	}
	for i := range plan.Launches {
		c, spot := f.choices(), false
		for _, o := range plan.Launches[i].Options {
			if o.CapacityType == offerings.Spot {
				spot = true
				c.add(&offer{instanceType: &instancetypes.InstanceType{Name: o.InstanceType}, offering: &offerings.Offering{Zone: o.Zone}})
			}
		}
		if spot && !c.enough() {
			return false
		}
	}
	return true
}

// choosable reports whether some offer of a row may be bought for a request as far as
// the choice among spot offers is concerned.
func (s *scene) choosable(ti int, row model.Bits, request []int64) bool {
	if !s.solver.Flexibility.on() {
		return true
	}
	c, ok := s.solver.Flexibility.choices(), false
	row.Each(func(o int) {
		x := &s.offers.offers[o]
		if room, fits := s.room(ti, o); !ok && fits && x.launchable && model.Fits(room, request) {
			if !x.spot() {
				ok = true
				return
			}
			ok = c.add(x) && c.enough()
		}
	})
	return ok
}

// spotsOf are the spot offers of a row.
func (s *scene) spotsOf(row model.Bits) model.Bits {
	out := row.Clone()
	row.Each(func(o int) {
		if !s.offers.offers[o].spot() {
			out.Clear(o)
		}
	})
	return out
}

// flexibilityReason words that spot machines would leave too little choice.
func (s *Policy) flexibilityReason() Reason {
	return Reason{Code: ReasonFlexibility, Detail: fmt.Sprintf("too little choice of spot machines remains (%s are asked for)", s.Flexibility)}
}

// flexibilityFix says whether asking for less choice among spot machines would help.
func (e *explainer) flexibilityFix(class *podClass, id int, screens []screened) Change {
	if !e.solver.Flexibility.on() {
		return Change{}
	}
	for ti := range screens {
		spots := e.spotsOf(screens[ti].admitted)
		if e.choosable(ti, spots, class.requests) {
			continue
		}
		found := false
		spots.Each(func(o int) { found = found || e.usable(class, id, ti, o) })
		if found {
			return Change{
				Kind: ChangeFlexibility, Object: "Policy", From: e.solver.Flexibility.String(),
				Text: fmt.Sprintf("ask for less choice among spot machines than %s", e.solver.Flexibility),
			}
		}
	}
	return Change{}
}
