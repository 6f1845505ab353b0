package topology

import "slices"

// An anchor for all that hold a spread is more than it takes: they bind in any order where
// no, or not many, pods go that the spread counts. So pods with the same spreads and the
// same labels may have a site of their own, such that where some are that hold a spread
// others are not that it counts. The fewer counted pods these make up for in the other
// domains, the more of them can be where they are cheapest.

// mostSeparated bounds how many spreadGroups get sites of their own.
const mostSeparated = 128

// ownSites is a choice of sites for spreadGroups.
type ownSites struct {
	*planner
	spreadGroups []*spreadGroup
	others       []*spreadGroup // that hold none of the spreads, but are counted
	at           []int          // by spreadGroup: a place in its cells, or -1
	rules        []int32        // that spreadGroups hold
	supply       []int64        // by rule: pods that can make up
	each         []int64        // by flat domain: what one of those costs there
	add          []int64        // by flat domain: pods of the spreadGroups, in an evaluation
	anchor       []bool         // by flat domain: spreadGroups that hold the rule are there
}

// separate picks sites for the spreadGroups of a cluster; nil if there are none, or too many.
func (s *planner) separate(cl *cluster) *anchor {
	cross := s.crossed(cl)
	x := &ownSites{planner: s, supply: make([]int64, len(s.p.Rules)), each: make([]int64, len(s.counts.count)),
		add: make([]int64, len(s.counts.count)), anchor: make([]bool, len(s.counts.count))}
	var crossed, others []int32
	for _, c := range cl.classes {
		cells, _ := s.of(c)
		if len(cells) == 0 || !slices.ContainsFunc(cells[0].terms, func(e term) bool { return e.spreads() }) {
			continue
		}
		if cross[c] {
			crossed = append(crossed, c)
		} else {
			others = append(others, c)
		}
	}
	x.spreadGroups = s.spreadGroups(crossed)
	if len(x.spreadGroups) == 0 || len(x.spreadGroups) > mostSeparated || slices.ContainsFunc(x.spreadGroups, func(f *spreadGroup) bool { return len(f.cells) == 0 }) {
		return nil
	}
	x.others = s.spreadGroups(others)
	x.price()
	x.assign()
	h := s.emptyAnchors(cross)
	h.apart = true
	for c := range h.site {
		h.site[c] = -1
	}
	for i, f := range x.spreadGroups {
		for _, c := range f.classes {
			h.site[c] = s.like(c, f.cells[x.at[i]])
		}
	}
	x.judge()
	for _, r := range x.rules {
		from, to := s.domains(r)
		for d := from; d < to; d++ {
			h.at[d] = x.anchor[d]
			h.anchored[r] = h.anchored[r] || x.anchor[d]
		}
	}
	return h
}

// price finds out how many pods can make up for a rule, and what one of them costs where.
func (x *ownSites) price() {
	held := make([]bool, len(x.p.Rules))
	for _, f := range x.spreadGroups {
		for k := range x.cells[f.cells[0]].terms {
			if e := &x.cells[f.cells[0]].terms[k]; e.spreads() && e.holds {
				held[e.rule] = true
			}
		}
	}
	for r, ok := range held {
		if ok {
			x.rules = append(x.rules, int32(r))
		}
	}
	pods := make([]int64, len(x.each))
	for _, f := range x.others {
		for k, i := range f.cells {
			for t := range x.cells[i].terms {
				e := &x.cells[i].terms[t]
				if !e.spreads() || !e.self || e.dom < 0 {
					continue
				}
				if k == 0 {
					x.supply[e.rule] += f.pods * e.adds
				}
				x.each[e.dom] += f.cost[k]
				pods[e.dom] += f.pods
			}
		}
	}
	for d, n := range pods {
		x.each[d] /= max(n, 1)
	}
}

// assign gives each spreadGroup a site in turn, and then moves one at a time as long as that is
// better. It begins twice, the second time where nobody has the site that is cheapest for
// it: that is where those would like to be, too, that hold no spread, and are more.
func (x *ownSites) assign() {
	x.at = make([]int, len(x.spreadGroups))
	x.begin(false)
	x.descend()
	first, v := slices.Clone(x.at), x.judge()
	x.begin(true)
	x.descend()
	if !x.judge().less(v) {
		copy(x.at, first)
	}
}

// begin gives each spreadGroup the site that is best beside those before it.
func (x *ownSites) begin(dear bool) {
	for i := range x.at {
		x.at[i] = -1
	}
	for i, f := range x.spreadGroups {
		cheapest := slices.Index(f.cost, slices.Min(f.cost))
		best, unset := 0, true
		var least verdict
		for k := range f.cells {
			if dear && k == cheapest && len(f.cells) > 1 {
				continue
			}
			x.at[i] = k
			if v := x.judge(); unset || v.less(least) {
				best, least, unset = k, v, false
			}
		}
		x.at[i] = best
	}
}

// descend moves one spreadGroup at a time.
func (x *ownSites) descend() {
	least := x.judge()
	for again, round := true, 0; again && round < descents; round++ {
		again = false
		for i, f := range x.spreadGroups {
			best := x.at[i]
			for k := range f.cells {
				x.at[i] = k
				if v := x.judge(); v.less(least) {
					best, least, again = k, v, true
				}
			}
			x.at[i] = best
		}
	}
}

// judge says what speaks against the sites as they are.
func (x *ownSites) judge() (v verdict) {
	clear(x.add)
	clear(x.anchor)
	for i, f := range x.spreadGroups {
		if x.at[i] < 0 {
			continue
		}
		v.cost += f.cost[x.at[i]]
		terms := x.cells[f.cells[x.at[i]]].terms
		for k := range terms {
			e := &terms[k]
			if !e.spreads() || e.dom < 0 {
				continue
			}
			x.add[e.dom] += f.pods * e.adds
			x.anchor[e.dom] = x.anchor[e.dom] || e.holds
		}
	}
	for _, r := range x.rules {
		x.weigh(r, &v)
	}
	for _, f := range x.others {
		v.cost += x.costElsewhere(f)
	}
	return v
}

// weigh adds what it takes to make up for the pods that a rule counts at its anchors.
func (x *ownSites) weigh(rule int32, v *verdict) {
	r := &x.p.Rules[rule]
	from, to := x.domains(rule)
	least, missing := int64(-1), int64(0)
	for d := from; d < to; d++ {
		if x.reach[d] && !x.anchor[d] && (least < 0 || x.each[d] < least) {
			least = x.each[d]
		}
	}
	for d := from; d < to; d++ {
		if !x.reach[d] {
			continue
		}
		high := int64(0)
		for z := from; z < to; z++ {
			if x.anchor[z] && z != d {
				high = max(high, r.Domains[z-from].Count+x.add[z]-r.Max)
			}
		}
		n := max(0, high-r.Domains[d-from].Count)
		missing += n
		v.cost += n * max(0, x.each[d]-max(least, 0))
	}
	v.lack += max(0, missing-x.supply[rule])
}

// costElsewhere is what a spreadGroup costs that stays away from anchors of rules that count it.
func (x *ownSites) costElsewhere(f *spreadGroup) int64 {
	best, anywhere := int64(-1), int64(-1)
	for k, i := range f.cells {
		away := true
		terms := x.cells[i].terms
		for t := range terms {
			e := &terms[t]
			away = away && (!e.spreads() || e.adds == 0 || e.dom < 0 || !x.anchor[e.dom])
		}
		if anywhere < 0 || f.cost[k] < anywhere {
			anywhere = f.cost[k]
		}
		if away && (best < 0 || f.cost[k] < best) {
			best = f.cost[k]
		}
	}
	if best < 0 {
		return 2 * max(anywhere, 0) // where they are is not up to them
	}
	return best
}

// priced reports whether the costs of sites say all about two drafts that place as many
// pods: nothing runs that could take some, and there are no wishes.
func (s *planner) priced(cl *cluster) bool {
	for _, c := range cl.classes {
		cells, _ := s.of(c)
		for k := range cells {
			if site := cells[k].source(s.tables); len(site.Bins) > 0 || site.Penalty > 0 {
				return false
			}
			if slices.ContainsFunc(cells[k].terms, func(e term) bool { return e.wish && e.holds }) {
				return false
			}
		}
	}
	return true
}

// ownSites is separate, unless the best draft is as good as can be.
func (s *planner) ownSites(cl *cluster, best *draft) *anchor {
	if best.risk == (risk{}) && !best.stuck && !slices.ContainsFunc(best.unplaced, func(n int64) bool { return n > 0 }) &&
		(!s.priced(cl) || s.cheapest(cl, best)) {
		return nil
	}
	return s.separate(cl)
}

// cheapest reports whether all pods of a draft are where their class is cheapest.
func (s *planner) cheapest(cl *cluster, d *draft) bool {
	for k, c := range cl.classes {
		cells, _ := s.of(c)
		least := Nowhere
		for j := range cells {
			if cost := cells[j].source(s.tables).Cost; cost != Nowhere && (least == Nowhere || cost < least) {
				least = cost
			}
		}
		for j, n := range d.placed[k] {
			if n > 0 && cells[j].source(s.tables).Cost > least {
				return false
			}
		}
	}
	return true
}

// cost is what a draft costs by the costs of sites.
func (s *planner) cost(cl *cluster, d *draft) (sum float64) {
	for k, c := range cl.classes {
		for j, n := range d.placed[k] {
			sum += float64(n) * float64(max(0, s.cells[int(s.first[c])+j].source(s.tables).Cost))
		}
	}
	return sum
}
