package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// defaultMaxOptions is how many options a launch carries unless told otherwise: as
// many overrides as cloud fleet requests comfortably take.
const defaultMaxOptions = 60

func (s *Solver) maxOptions() int {
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
		candidates[i] = d.offerAt(m, at).candidate()
		index[keyOf(candidates[i])] = at
	}
	d.solver.Ranking.SortNth(candidates, m.turn)
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
		list := d.offered[m.template].list
		planned := purchase{template: m.template, offer: list[m.first].offer}
		var places []int
		for at := range list {
			if at == m.first || d.holds(m, at) {
				places = append(places, at)
			}
		}
		d.diversify(m, places)
		for _, at := range places {
			if d.ledger.swap(planned, purchase{template: m.template, offer: list[at].offer}) {
				m.first = at
				break
			}
		}
	}
}

// trim cuts a list of options to the limit such that the pool's minValues still
// hold: first what is needed for them, best-ranked first, then the best-ranked of the rest.
func (d *decoder) trim(m *machine, places []int, limit int) []int {
	if len(places) <= limit {
		return places
	}
	keys := floorKeys(d.templates[m.template].set)
	seen := make([]map[string]bool, len(keys))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	needed := map[int]bool{places[0]: true}
	note := func(at int) (news bool) {
		for i, r := range keys {
			value, ok := d.offerAt(m, at).label(r.Key())
			if !ok {
				value, ok = d.templates[m.template].labels[r.Key()]
			}
			if ok && !seen[i][value] && len(seen[i]) < r.MinValues() {
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
func (d *decoder) launchRequirements(v *template, options []Option) []requirements.Selector {
	var types, zones, capacityTypes []string
	for _, o := range options {
		types = append(types, o.InstanceType)
		zones = append(zones, o.Zone)
		capacityTypes = append(capacityTypes, string(o.CapacityType))
	}
	set := v.set.With(
		requirements.MustNew(corev1.LabelInstanceTypeStable, requirements.In, types...),
		requirements.MustNew(offerings.ZoneLabel, requirements.In, zones...),
		requirements.MustNew(offerings.CapacityTypeLabel, requirements.In, capacityTypes...),
	)
	for _, key := range sortedKeys(v.labels) {
		set = set.With(requirements.MustNew(key, requirements.In, v.labels[key]))
	}
	out := []requirements.Selector{}
	for r := range set.All() {
		out = append(out, r.Selector()...)
	}
	return out
}
