package scheduling

import (
	"math/bits"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// A rule that holds wherever its pods go, such as a spread of fewer pods than its
// maxSkew, or keeping apart from pods that are nowhere, is no reason to pin anybody to a
// site: where these pods go is left to the search for machines. Pods that have no place
// at all do not count for rules.

// heads are the pods that wait and have to do with a rule or with a crowd.
type heads struct {
	held, counted, both int64
}

func (h *heads) add(holds, counts bool, n int64) {
	if holds {
		h.held += n
	}
	if counts {
		h.counted += n
	}
	if holds && counts {
		h.both += n
	}
}

// alone reports whether there is one pod only, which is tied to itself.
func (h *heads) alone() bool { return h.held == 1 && h.counted == 1 && h.both == 1 }

// slacken gives up classes that have no place, beside those that are gone as it is, and
// loosens the rules and crowds that hold wherever the others go.
func (t *ties) slacken(present [][]model.Presence) {
	t.hopeless = t.unplaceable()
	for i := range t.gone {
		t.hopeless[i] = t.hopeless[i] || t.wanting(i) == 0
	}
	for t.despair(t.heads()) {
		continue
	}
	t.dead = slices.Clone(t.hopeless)
	for r, h := range t.heads() {
		if t.rules[r].slack(&h) {
			t.loosen(&t.rules[r])
		}
	}
	t.idle = t.idleCrowds(present)
}

// heldBy lists the rules that a class holds, as far as they are about more than
// single nodes.
func (t *ties) heldBy(class *podClass) []int {
	bonds := t.land.bonds.list[class.bonds]
	var out []int
	for _, x := range bonds.ties {
		if !x.perHost() {
			out = append(out, t.rule(x, class.group, bonds))
		}
	}
	return out
}

// heads counts, by rule, the pods that could have a place.
func (t *ties) heads() []heads {
	out := make([]heads, len(t.rules))
	for i, class := range t.land.planned {
		if t.hopeless[i] || class.bonds == 0 && len(t.land.bonds.targets.sets[class.among]) == 0 {
			continue
		}
		n := t.wanting(i)
		held := t.heldBy(class)
		for _, r := range held {
			out[r].add(true, t.among(i, t.rules[r].target), n)
		}
		for _, target := range t.land.bonds.targets.sets[class.among] {
			for _, r := range t.byTarget[int(target)] {
				if !slices.Contains(held, r) {
					out[r].add(false, true, n)
				}
			}
		}
	}
	return out
}

// despair gives up classes that demand to be where nobody will ever be, and reports
// whether there were any.
func (t *ties) despair(heads []heads) bool {
	found := false
	for i, class := range t.land.planned {
		if t.hopeless[i] {
			continue
		}
		for _, r := range t.heldBy(class) {
			if x := &t.rules[r]; x.kind == affinityTie && x.weight == 0 && x.total == 0 && heads[r].counted == 0 {
				t.hopeless[i], found = true, true
			}
		}
	}
	return found
}

// unplaceable are the classes that neither anything on sale nor a node could take if
// they were alone.
func (t *ties) unplaceable() []bool {
	out := make([]bool, len(t.land.planned))
	for i, class := range t.land.planned {
		var need []int // axes on which a place must have a value
		for _, x := range t.land.bonds.list[class.bonds].ties {
			if x.weight == 0 && x.kind != antiTie && !x.perHost() {
				need = append(need, t.land.keyAxis(x.key))
			}
		}
		out[i] = !t.land.takes(class, need)
	}
	return out
}

// takes reports whether a spot with values on some axes could take a pod of a class.
func (l *land) takes(class *podClass, need []int) bool {
	has := func(spot int) bool {
		return !slices.ContainsFunc(need, func(axis int) bool { return l.axes[axis].at[spot] < 0 })
	}
	if l.nodeTakes(class, has) {
		return true
	}
	for ti := range l.templates {
		if l.offered[ti].rows[class.group] != nil && l.choiceAmong(ti, func(i int, o templateOffer) bool {
			return l.columns.rows[o.column].Has(class.group) && model.Fits(l.rooms.rooms[o.room], class.requests) &&
				has(l.first[ti]+i) && l.onOffer(ti, o.offer)
		}) {
			return true
		}
	}
	return false
}

// nodeTakes reports whether a node that has what it takes could take a pod of a class.
func (l *land) nodeTakes(class *podClass, has func(spot int) bool) bool {
	if l.model.Rooms == nil { // it takes long to look at all
		for n, bin := range l.binOf {
			if bin >= 0 && l.open[class.group].Has(int(bin)) && model.Fits(l.model.Bins[bin].Room, class.requests) && has(l.onSale+n) {
				return true
			}
		}
		return false
	}
	found := false
	for w, word := range l.roomBook().fits(l.compiler, class.requests) {
		for word &= l.open[class.group][w]; word != 0 && !found; word &= word - 1 {
			found = has(l.onSale + int(l.placeOf[w<<6+bits.TrailingZeros64(word)]))
		}
	}
	return found
}

// slack reports whether a rule holds wherever the pods that wait go, as long as their
// nodes have the label.
func (r *rule) slack(h *heads) bool {
	if h.held == 0 && r.kind != antiTie {
		return true
	}
	holders := int64(0)
	for _, d := range r.domains {
		holders += d.Holders
	}
	switch r.kind {
	case spreadTie:
		return r.total+h.counted <= r.maxSkew
	case affinityTie:
		return r.total == 0 && (h.alone() || r.weight > 0 && h.counted == 0)
	default:
		return (h.held == 0 || r.total == 0) && (h.counted == 0 || holders == 0) && (h.held == 0 || h.counted == 0 || h.alone())
	}
}

// loosen makes a rule ask for the label and nothing else.
func (t *ties) loosen(r *rule) {
	r.loose = true
	r.axis, r.minDomains = t.land.presenceAxis(r.key), 0
	if r.kind == spreadTie {
		r.filter = t.land.filterAxis(filter{group: -1})
	}
	all := topology.Domain{}
	for _, d := range r.domains {
		all.Count += d.Count
		all.Holders += d.Holders
		all.Eligible = all.Eligible || d.Eligible
	}
	r.domains = []topology.Domain{all}
}

// vacuous reports whether a rule asks for nothing.
func (b *ruleBook) vacuous(n int) bool {
	r := &b.rules[n]
	if !r.loose || r.kind == antiTie {
		return r.loose
	}
	a := b.land.axes[r.axis]
	return a.flat && len(a.at) > 0 && a.at[0] == 0
}

// idleCrowds are those that let as many pods share a machine as there are.
func (t *ties) idleCrowds(present [][]model.Presence) []bool {
	all := make([]heads, len(t.crowds))
	for i, class := range t.land.planned {
		if t.hopeless[i] {
			continue
		}
		n := t.wanting(i)
		for _, x := range t.land.bonds.list[class.bonds].ties {
			if x.perHost() && x.kind != affinityTie {
				all[t.crowd(x, t.among(i, x.target))].add(true, false, n)
			}
		}
		for _, target := range t.land.bonds.targets.sets[class.among] {
			for _, k := range t.crowdsBy[int(target)] {
				all[k].add(false, true, n)
			}
		}
	}
	most := make([]int64, len(t.crowds))
	for _, list := range present {
		for _, x := range list {
			most[x.Crowd] = max(most[x.Crowd], x.N)
		}
	}
	out := make([]bool, len(t.crowds))
	for k, h := range all {
		out[k] = h.held == 0 || most[k]+h.counted <= t.crowds[k].max
	}
	return out
}
