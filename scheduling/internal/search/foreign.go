package search

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// A machine in a zone that a spread has not counted with makes that zone one of its
// domains, and an empty one: kube-scheduler would then hold the spread's pods back
// although none of them could ever go there. Pods that nothing ties therefore stay away
// from such zones where they have a choice.

// stayAway returns, by template, the offers outside such zones; nil where there are no
// such zones.
func stayAway(t *SitePlanner) []model.Bits {
	l := t.locations
	foreign := make([]bool, l.OnSale)
	found := false
	for i := range t.book.Rules {
		r := &t.book.Rules[i]
		if r.Term.Kind != podspec.SpreadTerm || r.Term.Weight > 0 {
			continue
		}
		counted := t.countedDomains(i)
		if !slices.Contains(counted, false) {
			continue
		}
		for location := range foreign {
			if at := l.Axes[r.Axis].At[location]; at >= 0 && l.Axes[r.Filter].At[location] == 1 && !counted[at] {
				foreign[location], found = true, true
			}
		}
	}
	if !found {
		return nil
	}
	rows := make([]model.Bits, len(l.In.Templates))
	for ti := range l.In.Templates {
		rows[ti] = model.NewBits(len(l.In.Offers.Offers))
		for i, o := range l.In.Offered[ti].List {
			if !foreign[l.First[ti]+i] {
				rows[ti].Set(o.Offer)
			}
		}
	}
	return rows
}

// staysAway reports whether a topology signature that nothing ties keeps away from foreign zones.
func staysAway(t *SitePlanner, n int) bool {
	if t.rows == nil || t.roaming[n] {
		return false
	}
	can, known := t.away[n]
	if !known {
		can = canStayAway(t, t.book.List[n])
		t.away[n] = can
	}
	return can
}

// canStayAway reports whether all units of a topology signature find a machine outside foreign zones,
// in a pool of no lower weight than they would find anywhere.
func canStayAway(t *SitePlanner, k *units.TopologySignature) bool {
	l := t.locations
	type place struct{ rank, room int }
	near, all := map[place]bool{}, map[place]bool{}
	ranks := l.In.WeightRank()
	for ti, v := range l.In.Templates {
		for _, o := range l.In.Offered[ti].List {
			if !k.Admits(l.In.Columns.Rows[o.Column]) {
				continue
			}
			if len(offers.FloorKeys(v.Set)) > 0 || offers.On(l.In.Facts.Solver.Flexibility) {
				return false // a zone less may be one choice too few
			}
			at := place{int(ranks[v.Number]), o.Room}
			all[at] = true
			if t.rows[ti].Has(o.Offer) {
				near[at] = true
			}
		}
	}
	best := func(places map[place]bool, request []int64) int {
		rank := math.MaxInt
		for at := range places {
			if at.rank < rank && model.Fits(l.In.Rooms.Rooms[at.room], request) {
				rank = at.rank
			}
		}
		return rank
	}
	for i := range t.book.Units {
		u := &t.book.Units[i]
		if t.book.List[u.Signature] != k {
			continue
		}
		request := t.book.Request(u.Members)
		if best(near, request) > best(all, request) {
			return false
		}
	}
	return true
}
