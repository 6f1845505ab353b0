package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// A launch that can be bought in several zones may bring one into being that a spread
// does without: with an empty domain more, its pods may not bind any more. Such options
// are worth having only where a pool's minValues ask for them.

// avoidNewDomains finds the offers that no launch is to fall back on, by template: those in domains
// in which there is nothing, and with which some pods of the plan would not bind.
func avoidNewDomains(d *decoder, machines []machine) {
	t := d.planner
	if t == nil || len(t.problem.Classes) == 0 {
		return
	}
	placed, extra := d.placing(machines), t.domainsOf(d.locations(machines))
	for r := range t.book.Rules {
		x := &t.book.Rules[r]
		if x.Term.Kind != podspec.SpreadTerm || x.Term.Weight > 0 {
			continue
		}
		for at := range x.Domains {
			if t.problem.Rules[r].Domains[at].Eligible || slices.Contains(extra[r], int32(at)) || !sold(t, r, at) {
				continue
			}
			opened := slices.Clone(extra)
			opened[r] = append(slices.Clone(opened[r]), int32(at))
			if len(surplusAmong(t, d.packing.Parts, placed, opened)) > 0 {
				avoidDomain(d, r, at)
			}
		}
	}
}

// sold reports whether anything is on sale that would bring a domain of a spread into being.
func sold(t *SitePlanner, rule, domain int) bool {
	for location := range t.locations.OnSale {
		if opens(t, rule, domain, location) {
			return true
		}
	}
	return false
}

// opens reports whether a location is in a domain, and looked at by the spread.
func opens(t *SitePlanner, rule, domain, location int) bool {
	x := &t.book.Rules[rule]
	return int(t.locations.Axes[x.Axis].At[location]) == domain && t.locations.Axes[x.Filter].At[location] == 1
}

// avoidDomain notes the offers in a domain of a rule as avoided.
func avoidDomain(d *decoder, rule, domain int) {
	l := d.planner.locations
	if d.avoided == nil {
		d.avoided = make([]model.Bits, len(l.In.Templates))
		for ti := range d.avoided {
			d.avoided[ti] = model.NewBits(len(l.In.Offers.Offers))
		}
	}
	for ti := range l.In.Templates {
		for i, o := range l.In.Offered[ti].List {
			if opens(d.planner, rule, domain, l.First[ti]+i) {
				d.avoided[ti].Set(o.Offer)
			}
		}
	}
}

// dropAvoidedOptions takes the options of a machine that are avoided out of its list, unless
// that leaves too few.
func dropAvoidedOptions(d *decoder, m *machine) {
	if d.avoided == nil {
		return
	}
	all := m.places
	m.places = slices.DeleteFunc(slices.Clone(all), func(at int) bool {
		return at != m.first && d.avoided[m.template].Has(d.packing.Lists[m.template][at].Offer)
	})
	if len(m.places) < len(all) && d.sales.tooFew(m) {
		m.places = all
	}
}

// surplusAmong counts, by part, the units that would not bind of those that have a place,
// with the domains of spreads that there are.
func surplusAmong(t *SitePlanner, parts []instance.Part, placed func(part int) int64, extra [][]int32) map[model.ClassID]int64 {
	counts := countSites(t, parts, placed)
	bound := replay(t, counts, extra)
	out := map[model.ClassID]int64{}
	for i := range parts {
		if p := &parts[i]; p.Pinned {
			class := t.classOf[p.Unit]
			if n := counts[class][p.Site] - bound[class][p.Site]; n > 0 {
				out[model.ClassID(i)] = n
			}
		}
	}
	return out
}

// replayed is the last question that [replay] was asked, with its answer.
type replayed struct {
	counts [][]int64
	extra  [][]int32
	bound  [][]int64
}

// replay is [topology.Replay] for a plan of sites whose rules do not change any more: a
// [SitePlanner.snapshot]. It remembers its last answer, because scoring and decoding ask the same.
func replay(t *SitePlanner, counts [][]int64, extra [][]int32) [][]int64 {
	k := t.replayed
	if k == nil || !slices.EqualFunc(k.counts, counts, slices.Equal) || !slices.EqualFunc(k.extra, extra, slices.Equal) {
		k = &replayed{counts: counts, extra: extra, bound: topology.Replay(&t.problem, counts, extra)}
		t.replayed = k
	}
	return k.bound
}
