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

// label is the value of a label on a machine bought at a place.
func (sr *saleReader) label(m *machine, at int, key string) (string, bool) {
	if value, ok := sr.offerAt(m, at).Label(key); ok {
		return value, true
	}
	value, ok := sr.in.Templates[m.template].Labels[key]
	return value, ok
}

// distinct counts the values of a label among a launch's options.
func (sr *saleReader) distinct(m *machine, key string) int {
	seen := map[string]bool{}
	for _, at := range m.places {
		if value, ok := sr.label(m, at, key); ok {
			seen[value] = true
		}
	}
	return len(seen)
}

// inflexible reports whether there are spot offers among the places of a machine, but
// not as many as it takes.
func (sr *saleReader) inflexible(m *machine, places []int) bool {
	if !offers.On(sr.in.Facts.Solver.Flexibility) {
		return false
	}
	c, spot := offers.NewChoices(sr.in.Facts.Solver.Flexibility), false
	for _, at := range places {
		if o := sr.offerAt(m, at); o.Spot() {
			spot = true
			c.Add(o)
		}
	}
	return spot && !c.Enough()
}

// tooFew reports whether a launch's options fall short of its pool's minValues, or of
// the choice that is asked of spot options.
func (sr *saleReader) tooFew(m *machine) bool {
	if sr.inflexible(m, m.places) {
		return true
	}
	if sr.in.Facts.Solver.MinValues == scheduling.MinValuesBestEffort {
		return false
	}
	return slices.ContainsFunc(offers.FloorKeys(sr.in.Templates[m.template].Set), func(r requirements.Requirement) bool {
		return sr.distinct(m, r.Key()) < r.MinValues()
	})
}

// attained is the floor that a launch states for a key: the pool's, or under best
// effort the number of values that its options have, if that is less.
func (sr *saleReader) attained(m *machine, key string, floor int) *int {
	if sr.in.Facts.Solver.MinValues == scheduling.MinValuesBestEffort {
		floor = min(floor, sr.distinct(m, key))
	}
	return &floor
}

// relaxed reports whether a launch states a lower floor than its pool.
func (sr *saleReader) relaxed(v *offers.Template, stated []requirements.Selector) bool {
	return slices.ContainsFunc(stated, func(s requirements.Selector) bool {
		return s.MinValues != nil && *s.MinValues < v.Set.Get(s.Key).MinValues()
	})
}

// fixedSelectors are the requirements that are the same for every launch of a template.
func (sr *saleReader) fixedSelectors(v *offers.Template) []requirements.Selector {
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
func (sr *saleReader) among(m *machine, key string, options []scheduling.LaunchOption, value func(*scheduling.LaunchOption) string) requirements.Selector {
	values := make([]string, 0, len(options))
	for i := range options {
		values = append(values, value(&options[i]))
	}
	s := requirements.Selector{Key: key, Operator: requirements.In, Values: podspec.Compacted(values)}
	if n := sr.in.Templates[m.template].Set.Get(key).MinValues(); n > 0 {
		s.MinValues = sr.attained(m, key, n)
	}
	return s
}

// launchRequirements are the requirements that every option of a launch meets: the pool's
// requirements, narrowed to the types, zones and capacity types of the options and
// to the values chosen for open labels.
func (sr *saleReader) launchRequirements(m *machine, options []scheduling.LaunchOption) []requirements.Selector {
	v := sr.in.Templates[m.template]
	if v.Selectors == nil {
		v.Selectors = sr.fixedSelectors(v)
	}
	out := make([]requirements.Selector, 0, len(v.Selectors)+3)
	for _, s := range v.Selectors {
		if s.MinValues != nil {
			s.MinValues = sr.attained(m, s.Key, *s.MinValues)
		}
		out = append(out, s)
	}
	out = append(out,
		sr.among(m, corev1.LabelInstanceTypeStable, options, func(o *scheduling.LaunchOption) string { return o.InstanceType }),
		sr.among(m, offerings.ZoneLabel, options, func(o *scheduling.LaunchOption) string { return o.Zone }),
		sr.among(m, offerings.CapacityTypeLabel, options, func(o *scheduling.LaunchOption) string { return string(o.CapacityType) }),
	)
	slices.SortStableFunc(out, func(a, b requirements.Selector) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// diversify orders places as the diversified ranking does for the machine's turn, so
// that machines bought together begin with different spot pools.
func (sr *saleReader) diversify(m *machine, places []int) {
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
		candidates[i] = sr.offerAt(m, at).Candidate()
		index[keyOf(candidates[i])] = at
	}
	sr.in.Facts.Solver.Ranking.SortNth(candidates, m.turn)
	for i, c := range candidates {
		places[i] = index[keyOf(c)]
	}
}

// trim cuts a list of options to the limit such that the pool's minValues, and the choice that
// is asked of spot options, still hold: first the options that these need, best-ranked first, then the best-ranked of the rest.
func (sr *saleReader) trim(m *machine, places []int, limit int) []int {
	if len(places) <= limit {
		return places
	}
	keys := offers.FloorKeys(sr.in.Templates[m.template].Set)
	seen := make([]map[string]bool, len(keys))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	needed := map[int]bool{places[0]: true}
	choice := offers.NewChoices(sr.in.Facts.Solver.Flexibility)
	note := func(at int) (news bool) {
		if o := sr.offerAt(m, at); o.Spot() {
			news = choice.Add(o)
		}
		for i, r := range keys {
			if value, ok := sr.label(m, at, r.Key()); ok && !seen[i][value] && len(seen[i]) < r.MinValues() {
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
