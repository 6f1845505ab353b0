package search

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// SitePlanner plans where pods go that are tied to each other: first how many to each site,
// by the planner, then, as a problem of the engine in which every part is pinned to its
// site, onto which machines.
type SitePlanner struct {
	in        *instance.Instance
	locations *instance.LocationIndex
	book      *units.UnitBook
	problem   topology.Problem
	units     []int            // by planner class, the unit
	classOf   []int            // by unit, the planner class; -1 for units that nothing ties
	scale     int64            // how much preferences per host are relaxed; 0 drops them
	rows      []model.Bits     // by template, offers outside foreign zones; nil for all
	roaming   map[int]bool     // topology signatures that no longer keep away from foreign zones
	away      map[int]bool     // whether topology signatures can keep away; filled when asked
	stated    int              // counts changes of the problem, those of costs and limits aside
	replayed  *replayed        // see replay
	late      func() bool      // whether the deadline has passed
	sketch    bool             // pods that the first machines leave out are not tried again
	proofs    int              // how many proofs may go into reassigning pods to cheaper sites
	begun     *topology.Result // the plan of sites to begin with, if it was worked out before
	key       []byte           // scratch space for keys of maps
}

// fewProofs is how many proofs may go into reassigning pods to cheaper sites unless most
// work is spent on that.
const fewProofs = 100

// NewSitePlanner reads the topology terms of the pods of a compiled problem. Late reports that the deadline has passed.
func NewSitePlanner(c *instance.Instance, late func() bool) *SitePlanner {
	return newSitePlanner(c, late, nil, false)
}

// newSitePlanner is [NewSitePlanner] without the pods in leftOut, by class. With fewUnits, pods
// with affinity join as few units as can hold them (see [units.UnitBook]).
func newSitePlanner(c *instance.Instance, late func() bool, leftOut map[int]int64, fewUnits bool) *SitePlanner {
	l := c.Locations()
	t := &SitePlanner{
		in: l.In, locations: l, late: late, proofs: fewProofs, roaming: map[int]bool{}, book: units.NewUnitBook(l, leftOut, fewUnits),
	}
	t.book.Build()
	t.plan()
	t.rows = stayAway(t)
	return t
}

// plan states the planner's problem.
func (t *SitePlanner) plan() {
	for _, k := range t.book.List {
		if k.Part == nil {
			t.book.Link(k)
		}
	}
	t.stated++
	t.begun = nil
	c := t.in
	priced := c.Facts.Solver.Preferences == scheduling.PreferencesPrice
	t.units, t.away = nil, map[int]bool{}
	t.problem = topology.Problem{Dims: c.Dims(), Rules: t.book.Planned(), Priced: priced, Late: t.late}
	for i := range t.problem.Rules {
		t.problem.Rules[i].Weight = t.worth(t.problem.Rules[i].Weight)
	}
	t.problem.Bins = t.locations.NodeRooms()
	t.classOf = make([]int, len(t.book.Units))
	t.problem.Classes = make([]topology.Class, 0, len(t.book.Units))
	for i := range t.book.Units {
		u := &t.book.Units[i]
		k := t.book.List[u.Signature]
		t.classOf[i] = -1
		if k.Plain || t.book.Unplaceable[u.Members[0].Class] {
			continue
		}
		t.classOf[i] = len(t.units)
		t.units = append(t.units, i)
		request := t.book.Request(u.Members)
		class := topology.Class{Count: u.Count, Priority: t.book.Priority(u), Request: request, Links: k.Rules}
		costs := t.book.Costs(k, request)
		class.Sites = make([]topology.Site, k.Part.Sites)
		for site := range class.Sites {
			class.Sites[site] = t.site(k, site, costs[site], request)
		}
		t.problem.Classes = append(t.problem.Classes, class)
	}
}

// worth is the planner's weight of a preference: its price where preferences have one.
func (t *SitePlanner) worth(weight int64) int64 {
	s := t.in.Facts.Solver
	if s.Preferences != scheduling.PreferencesPrice || weight == 0 {
		return weight
	}
	// A preference that is worth nothing is still no rule that has to hold.
	return max(1, int64(float64(s.PreferencePrice)*float64(weight)/podspec.UnsatisfiedWeight))
}

// site describes a site to the planner.
func (t *SitePlanner) site(k *units.TopologySignature, site int, cost int64, request []int64) topology.Site {
	if k.Sites == nil {
		k.Sites = t.sitesOf(k)
	}
	s := k.Sites[site]
	s.Cost = cost
	fit, n := t.locations.Fitting(request), 0
	for w, word := range k.FeasibleSets[site].Bins {
		n += bits.OnesCount64(word & fit[w])
	}
	s.Bins = make([]int32, 0, n)
	for w, word := range k.FeasibleSets[site].Bins {
		for word &= fit[w]; word != 0; word &= word - 1 {
			s.Bins = append(s.Bins, int32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return s
}

// sitesOf describes the sites of a topology signature, as far as they are the same for all its units.
func (t *SitePlanner) sitesOf(k *units.TopologySignature) []topology.Site {
	out := make([]topology.Site, k.Part.Sites)
	for site := range out {
		s := &out[site]
		s.Limit = -1
		s.Domains, s.Counted = t.domainsAt(k.Rules, k.Part, site)
		for _, w := range k.Preferences {
			if k.Part.Domain(t.locations, w.Axis, site) != 1 {
				s.Penalty += t.worth(w.Weight)
			}
		}
	}
	return out
}

// domainsAt are, by link, the domain of a site and whether pods there are counted.
func (t *SitePlanner) domainsAt(links []topology.Link, p *instance.Partition, site int) (domains []int32, counted []bool) {
	domains, counted = make([]int32, len(links)), make([]bool, len(links))
	for i, link := range links {
		r := &t.book.Rules[link.Rule]
		domains[i] = p.Domain(t.locations, r.Axis, site)
		counted[i] = r.Filter < 0 || p.Domain(t.locations, r.Filter, site) == 1
	}
	return domains, counted
}

// split states the engine's problem for a plan of sites.
func (t *SitePlanner) split(r *topology.Result) *instance.Packing {
	out := &instance.Sites{Parts: make([]instance.Part, 0, t.partCount(r)), Present: t.book.Present}
	sets := map[[2]int]int{}
	setAt := func(signature, site int) int {
		at := [2]int{signature, site}
		n, ok := sets[at]
		if !ok {
			n = len(out.FeasibleSets)
			sets[at] = n
			out.FeasibleSets = append(out.FeasibleSets, t.feasibleSet(signature, site))
		}
		return n
	}
	closed := -1
	nowhere := func() int {
		if closed < 0 {
			closed = len(out.FeasibleSets)
			out.FeasibleSets = append(out.FeasibleSets, instance.FeasibleSet{Bins: model.NewBits(len(t.in.Nodes)), NoNew: true})
		}
		return closed
	}
	for i := range t.book.Units {
		u := &t.book.Units[i]
		p := instance.Part{
			Members: u.Members, Request: t.book.Request(u.Members), Priority: t.book.Priority(u),
			PerNodeLimits: t.memberships(t.book.List[u.Signature]), Unit: i,
		}
		if t.book.Unplaceable[u.Members[0].Class] {
			p.FeasibleSet, p.Count = nowhere(), u.Count
			out.Parts = append(out.Parts, p)
			continue
		}
		if t.classOf[i] < 0 {
			p.FeasibleSet, p.Count = setAt(u.Signature, 0), u.Count
			out.Parts = append(out.Parts, p)
			continue
		}
		for site, n := range r.Counts[t.classOf[i]] {
			if n > 0 {
				p.FeasibleSet, p.Site, p.Count, p.Pinned = setAt(u.Signature, site), site, n, true
				out.Parts = append(out.Parts, p)
			}
		}
	}
	for _, k := range t.book.PerNodeLimits {
		out.PerNodeLimits = append(out.PerNodeLimits, model.PerNodeLimit{Max: t.perNodeMax(k)})
	}
	return instance.NewPacking(t.locations, out)
}

// partCount is how many parts a plan of sites has at most.
func (t *SitePlanner) partCount(r *topology.Result) int {
	n := len(t.book.Units) - len(r.Counts)
	for _, counts := range r.Counts {
		for _, pods := range counts {
			n += int(min(pods, 1))
		}
	}
	return n
}

// snapshot is the state of the planning, for those who read it when it has gone on.
func (t *SitePlanner) snapshot() *SitePlanner {
	c := *t
	c.replayed, c.key = nil, nil
	c.book = t.book.Snapshot()
	c.problem.Rules = slices.Clone(t.problem.Rules)
	for i := range c.problem.Rules {
		c.problem.Rules[i].Domains = slices.Clone(c.problem.Rules[i].Domains)
	}
	return &c
}

// feasibleSet is the feasible set of a topology signature at a site.
func (t *SitePlanner) feasibleSet(n, site int) instance.FeasibleSet {
	k := t.book.List[n]
	s := k.FeasibleSets[site]
	if k.Plain {
		if !s.NoNew && staysAway(t, n) {
			s.Rows = t.rows
		}
		return s
	}
	if !s.NoNew && k.Part.Sites > 1 {
		s.Sold = k.Market.Sold(t.locations, &s)
	}
	return s
}

// perNodeMax is how many of a per-node limit may share a machine, relaxed as far as preferences are.
func (t *SitePlanner) perNodeMax(k units.PerNodeLimit) int64 {
	if k.Weight == 0 || t.scale <= 1 {
		return k.Max
	}
	return max(k.Max, 1) * t.scale
}

// memberships are those of a topology signature in the per-node limits that count.
func (t *SitePlanner) memberships(k *units.TopologySignature) []model.Membership {
	if t.scale > 0 {
		return k.PerNodeLimits
	}
	var out []model.Membership
	for _, m := range k.PerNodeLimits {
		if t.book.PerNodeLimits[m.Limit].Weight == 0 {
			out = append(out, m)
		}
	}
	return out
}

// preferencesPerHost reports whether any preference is about single machines.
func (t *SitePlanner) preferencesPerHost() bool {
	for i, k := range t.book.PerNodeLimits {
		if k.Weight > 0 && !t.book.Idle[i] {
			return true
		}
	}
	return false
}

// domainsOf lists, by rule, the domains of locations that a spread looks at.
func (t *SitePlanner) domainsOf(locations []int) [][]int32 {
	out := make([][]int32, len(t.book.Rules))
	for i := range t.book.Rules {
		r := &t.book.Rules[i]
		if r.Term.Kind != podspec.SpreadTerm {
			continue
		}
		seen := make([]bool, len(r.Domains))
		for _, location := range locations {
			if at := t.locations.Axes[r.Axis].At[location]; at >= 0 && t.locations.Axes[r.Filter].At[location] == 1 {
				seen[at] = true
			}
		}
		for at, ok := range seen {
			if ok {
				out[i] = append(out[i], int32(at))
			}
		}
	}
	return out
}

// countedDomains are those that count for the minimum of a spread: where nodes are
// that it looks at, and where its pods could go. It is nil where no pod that could go anywhere holds
// the rule.
func (t *SitePlanner) countedDomains(rule int) []bool {
	out := make([]bool, len(t.book.Rules[rule].Domains))
	for i, d := range t.book.Rules[rule].Domains {
		out[i] = d.Eligible
	}
	held := false
	for i := range t.problem.Classes {
		class := &t.problem.Classes[i]
		for k, link := range class.Links {
			if int(link.Rule) != rule || !link.Holds {
				continue
			}
			for s := range class.Sites {
				site := &class.Sites[s]
				d := site.Domains[k]
				if d != topology.None && (site.Cost != topology.Nowhere || len(site.Bins) > 0) {
					out[d], held = true, true
				}
			}
		}
	}
	if !held {
		return nil
	}
	return out
}
