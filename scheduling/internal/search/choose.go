package search

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// defaultMaxOptions is how many options a launch carries unless told otherwise: as
// many overrides as cloud fleet requests comfortably take.
const defaultMaxOptions = 60

func maxOptions(s *scheduling.Policy) int {
	if s.MaxOptions > 0 {
		return s.MaxOptions
	}
	return defaultMaxOptions
}

func wellKnownKey(key string) bool { return requirements.WellKnown().Has(key) }

// diversify orders places as the diversified ranking does for the machine's turn, so
// that machines bought together begin with different spot pools.
func (d *decoder) diversify(m *machine, places []int) {
	type key struct {
		instanceType, zone, reservation string
		capacityType                    offerings.CapacityType
	}
	keyOf := func(c offerings.Candidate) key {
		return key{c.InstanceType, c.Offering.Zone, c.Offering.ReservationID, c.Offering.CapacityType}
	}
	index := make(map[key]int, len(places))
	candidates := make([]offerings.Candidate, len(places))
	for i, at := range places {
		candidates[i] = d.offerAt(m, at).Candidate()
		index[keyOf(candidates[i])] = at
	}
	d.in.Solver.Ranking.SortNth(candidates, m.turn)
	for i, c := range candidates {
		places[i] = index[keyOf(c)]
	}
}

// spread gives every machine its turn in the diversified ranking and lets it buy
// the first offer of its list that limits and reservations allow.
func (d *decoder) spread(machines []machine) {
	turns := map[int]int{}
	for i := range machines {
		m := &machines[i]
		m.turn = turns[m.template]
		turns[m.template]++
		var places []int
		for at := range d.packing.Lists[m.template] {
			if at == m.first || d.holds(m, at) && d.leavesChoice(m, at) {
				places = append(places, at)
			}
		}
		d.diversify(m, places)
		for _, at := range places {
			if d.ledger.Swap(d.buys(m), d.sale(m.template, at)) {
				m.first = at
				break
			}
		}
	}
}

// trim cuts a list of options to the limit such that the pool's minValues, and what
// is asked of spot options, still hold: first what is needed for them, best-ranked first, then the best-ranked of the rest.
func (d *decoder) trim(m *machine, places []int, limit int) []int {
	if len(places) <= limit {
		return places
	}
	keys := offers.FloorKeys(d.in.Templates[m.template].Set)
	seen := make([]map[string]bool, len(keys))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	needed := map[int]bool{places[0]: true}
	choice := offers.NewChoices(d.in.Solver.Flexibility)
	note := func(at int) (news bool) {
		if o := d.offerAt(m, at); o.Spot() {
			news = choice.Add(o)
		}
		for i, r := range keys {
			if value, ok := d.label(m, at, r.Key()); ok && !seen[i][value] && len(seen[i]) < r.MinValues() {
				seen[i][value] = true
				news = true
			}
		}
		return news
	}
	note(places[0])
	for _, at := range places[1:] {
		if note(at) {
			needed[at] = true
		}
	}
	spare := max(0, limit-len(needed))
	var out []int
	for _, at := range places {
		if needed[at] {
			out = append(out, at)
		} else if spare > 0 {
			spare--
			out = append(out, at)
		}
	}
	return slices.Clip(out)
}

// launchRequirements are what holds for every option of a launch: the pool's
// requirements, narrowed to the types, zones and capacity types of the options and
// to the values chosen for open labels.
func (d *decoder) launchRequirements(m *machine, options []scheduling.Option) []requirements.Selector {
	v := d.in.Templates[m.template]
	if v.Selectors == nil {
		v.Selectors = d.fixedSelectors(v)
	}
	out := make([]requirements.Selector, 0, len(v.Selectors)+3)
	for _, s := range v.Selectors {
		if s.MinValues != nil {
			s.MinValues = d.attained(m, s.Key, *s.MinValues)
		}
		out = append(out, s)
	}
	out = append(out,
		d.among(m, corev1.LabelInstanceTypeStable, options, func(o *scheduling.Option) string { return o.InstanceType }),
		d.among(m, offerings.ZoneLabel, options, func(o *scheduling.Option) string { return o.Zone }),
		d.among(m, offerings.CapacityTypeLabel, options, func(o *scheduling.Option) string { return string(o.CapacityType) }),
	)
	slices.SortStableFunc(out, func(a, b requirements.Selector) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// fixedSelectors are the requirements that are the same for every launch of a template.
func (d *decoder) fixedSelectors(v *offers.Template) []requirements.Selector {
	set := v.Set.Without(corev1.LabelInstanceTypeStable, offerings.ZoneLabel, offerings.CapacityTypeLabel)
	for _, key := range slices.Sorted(maps.Keys(v.Labels)) {
		set = set.With(requirements.MustNew(key, requirements.In, v.Labels[key]))
	}
	out := []requirements.Selector{}
	for r := range set.All() {
		out = append(out, r.Selector()...)
	}
	return out
}

// among requires a label to have one of the options' values; all of them satisfy
// what the pool says about it.
func (d *decoder) among(m *machine, key string, options []scheduling.Option, value func(*scheduling.Option) string) requirements.Selector {
	values := make([]string, 0, len(options))
	for i := range options {
		values = append(values, value(&options[i]))
	}
	s := requirements.Selector{Key: key, Operator: requirements.In, Values: podspec.Compacted(values)}
	if n := d.in.Templates[m.template].Set.Get(key).MinValues(); n > 0 {
		s.MinValues = d.attained(m, key, n)
	}
	return s
}

// attained is the floor that a launch states for a key: the pool's, or under best
// effort what its options reach, if that is less.
func (d *decoder) attained(m *machine, key string, floor int) *int {
	if d.in.Solver.MinValues == scheduling.MinValuesBestEffort {
		floor = min(floor, d.distinct(m, key))
	}
	return &floor
}

// distinct counts the values of a label among a launch's options.
func (d *decoder) distinct(m *machine, key string) int {
	seen := map[string]bool{}
	for _, at := range m.places {
		if value, ok := d.label(m, at, key); ok {
			seen[value] = true
		}
	}
	return len(seen)
}

// label is the value of a label on a machine bought at a place.
func (d *decoder) label(m *machine, at int, key string) (string, bool) {
	if value, ok := d.offerAt(m, at).Label(key); ok {
		return value, true
	}
	value, ok := d.in.Templates[m.template].Labels[key]
	return value, ok
}

// relaxed reports whether a launch states a lower floor than its pool.
func (d *decoder) relaxed(v *offers.Template, stated []requirements.Selector) bool {
	return slices.ContainsFunc(stated, func(s requirements.Selector) bool {
		return s.MinValues != nil && *s.MinValues < v.Set.Get(s.Key).MinValues()
	})
}

// tooFew reports whether a launch's options fall short of its pool's minValues, or of
// what is asked of spot options.
func (d *decoder) tooFew(m *machine) bool {
	if d.inflexible(m, m.places) {
		return true
	}
	if d.in.Solver.MinValues == scheduling.MinValuesBestEffort {
		return false
	}
	return slices.ContainsFunc(offers.FloorKeys(d.in.Templates[m.template].Set), func(r requirements.Requirement) bool {
		return d.distinct(m, r.Key()) < r.MinValues()
	})
}
