package scheduling

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// A machine in a zone that a spread has not counted with makes that zone one of its
// domains, and an empty one: kube-scheduler would then hold the spread's pods back
// although none of them could ever go there. Pods that nothing ties therefore stay away
// from such zones where they have a choice.

// stayAway returns, by template, the offers outside such zones; nil where there are no
// such zones.
func (t *ties) stayAway() []model.Bits {
	l := t.land
	foreign := make([]bool, l.onSale)
	found := false
	for i := range t.rules {
		r := &t.rules[i]
		if r.kind != spreadTie || r.weight > 0 {
			continue
		}
		counted := t.countedDomains(i)
		if !slices.Contains(counted, false) {
			continue
		}
		for spot := range foreign {
			if at := l.axes[r.axis].at[spot]; at >= 0 && l.axes[r.filter].at[spot] == 1 && !counted[at] {
				foreign[spot], found = true, true
			}
		}
	}
	if !found {
		return nil
	}
	rows := make([]model.Bits, len(l.templates))
	for ti := range l.templates {
		rows[ti] = model.NewBits(len(l.offers.offers))
		for i, o := range l.offered[ti].list {
			if !foreign[l.first[ti]+i] {
				rows[ti].Set(o.offer)
			}
		}
	}
	return rows
}

// countedDomains are those that count for the minimum of a spread: where nodes are
// that it looks at, and where its pods could go. It is nil where no pod that could go anywhere holds
// the rule.
func (t *ties) countedDomains(rule int) []bool {
	out := make([]bool, len(t.rules[rule].domains))
	for i, d := range t.rules[rule].domains {
		out[i] = d.Eligible
	}
	held := false
	for i := range t.planner.Classes {
		class := &t.planner.Classes[i]
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

// staysAway reports whether a kin that nothing ties keeps away from foreign zones.
func (t *ties) staysAway(n int) bool {
	if t.rows == nil || t.roaming[n] {
		return false
	}
	can, known := t.away[n]
	if !known {
		can = t.canStayAway(t.list[n])
		t.away[n] = can
	}
	return can
}

// canStayAway reports whether all units of a kin find a machine outside foreign zones,
// in a pool of no lower weight than they would find anywhere.
func (t *ties) canStayAway(k *kin) bool {
	l := t.land
	type place struct{ rank, room int }
	near, all := map[place]bool{}, map[place]bool{}
	ranks := l.weightRank()
	for ti, v := range l.templates {
		for _, o := range l.offered[ti].list {
			if !k.admits(l.columns.rows[o.column]) {
				continue
			}
			if len(floorKeys(v.set)) > 0 || l.solver.Flexibility.on() {
				return false // a zone less may be one choice too few
			}
			at := place{int(ranks[v.number]), o.room}
			all[at] = true
			if t.rows[ti].Has(o.offer) {
				near[at] = true
			}
		}
	}
	best := func(places map[place]bool, request []int64) int {
		rank := math.MaxInt
		for at := range places {
			if at.rank < rank && model.Fits(l.compiler.rooms.rooms[at.room], request) {
				rank = at.rank
			}
		}
		return rank
	}
	for i := range t.unitBook.units {
		u := &t.unitBook.units[i]
		if t.list[u.kin] != k {
			continue
		}
		request := t.request(u.portions)
		if best(near, request) > best(all, request) {
			return false
		}
	}
	return true
}
