package topology

import (
	"cmp"
	"slices"
)

// anchors is a choice of anchors: one domain for each spread that crossed classes hold.
type anchors struct {
	t            *tables
	spreadGroups []*spreadGroup
	rules        []int32 // that need anchors, those of most pods first
	of           []int32 // by rule: the anchor, as a flat domain, or None
	// By rule: pods that can go anywhere, and those that hold this spread alone.
	free, alone []int64
	add         []int64 // by flat domain: pods of the spreadGroups, in an evaluation
}

// verdict is the disadvantages of a choice of anchors.
type verdict struct {
	lack      int64 // pods that are missing in other domains, or have no anchor
	imbalance int64 // counted pods that cannot be balanced
	cost      int64
}

func (v verdict) less(o verdict) bool {
	return cmp.Or(cmp.Compare(v.lack, o.lack), cmp.Compare(v.imbalance, o.imbalance), cmp.Compare(v.cost, o.cost)) < 0
}

// descents bounds how often the anchors are gone through.
const descents = 4

// chooseAnchors picks a domain for each spread that crossed classes hold, such that, if
// they go there, other pods can make up for them in the other domains: if possible the
// same for all, which leaves every spread balanced; the cheapest among the like.
func chooseAnchors(cl *cluster, cross []bool) *anchors {
	t := cl.t
	h := &anchors{
		t: t, of: make([]int32, len(t.p.Rules)),
		free: make([]int64, len(t.p.Rules)), alone: make([]int64, len(t.p.Rules)),
		add: make([]int64, t.domFirst[len(t.p.Rules)]),
	}
	for r := range h.of {
		h.of[r] = None
	}
	held := make([]int64, len(t.p.Rules))
	var classes []int32
	for _, c := range cl.classes {
		n := max(t.p.Classes[c].Count, 0)
		cells, _ := t.of(c)
		if len(cells) == 0 {
			continue
		}
		if cross[c] {
			classes = append(classes, c)
		}
		for k := range cells[0].terms {
			e := &cells[0].terms[k]
			switch {
			case !e.spreads():
			case cross[c] && e.holds:
				held[e.rule] += max(n, 1)
			case cross[c] || !e.self || t.follows(c):
			case e.holds:
				h.alone[e.rule] += n * e.adds
			default:
				h.free[e.rule] += n * e.adds
			}
		}
	}
	for _, r := range cl.rules {
		if held[r] > 0 {
			h.rules = append(h.rules, r)
		}
	}
	slices.SortStableFunc(h.rules, func(a, b int32) int { return cmp.Compare(held[b], held[a]) })
	h.spreadGroups = newSpreadGroups(t, classes)
	h.find()
	return h
}

// find finds anchors: starting with none, and with different ones for all, it moves one
// at a time as long as that is better.
func (h *anchors) find() {
	h.descend()
	together, best := slices.Clone(h.of), h.judge()
	for k, r := range h.rules {
		from, to := h.t.domains(r)
		h.of[r] = from + int32(k)%(to-from)
	}
	h.descend()
	if !h.judge().less(best) {
		copy(h.of, together)
	}
}

func (h *anchors) descend() {
	for again, round := true, 0; again && round < descents; round++ {
		again = false
		for _, r := range h.rules {
			best, least := h.of[r], h.judge()
			unset := best < 0
			from, to := h.t.domains(r)
			for d := from; d < to; d++ {
				if !h.t.reach[d] {
					continue
				}
				h.of[r] = d
				if v := h.judge(); unset || v.less(least) {
					best, least, unset, again = d, v, false, true
				}
			}
			h.of[r] = best
		}
	}
}

// judge weighs the anchors. Pods that hold a spread without an anchor are passed over.
func (h *anchors) judge() (v verdict) {
	clear(h.add)
	for _, f := range h.spreadGroups {
		at, known := h.cell(f)
		switch {
		case !known:
			continue
		case at < 0:
			v.lack += f.pods
			continue
		}
		v.cost += f.cost[at]
		for k := range h.t.cells[f.cells[at]].terms {
			if e := &h.t.cells[f.cells[at]].terms[k]; e.spreads() && e.dom >= 0 {
				h.add[e.dom] += f.pods * e.adds
			}
		}
	}
	for _, r := range h.rules {
		if h.of[r] >= 0 {
			h.weigh(r, &v)
		}
	}
	return v
}

// weigh adds the disadvantages of the anchor of a rule.
func (h *anchors) weigh(rule int32, v *verdict) {
	r := &h.t.p.Rules[rule]
	from, to := h.t.domains(rule)
	anchor := h.of[rule]
	lean := int64(0)
	for d := from; d < to; d++ {
		if d != anchor {
			lean += h.add[d]
		}
	}
	v.imbalance += lean
	high := r.Domains[anchor-from].Count + h.add[anchor] - r.Max
	supply := h.free[rule]
	if lean > 0 {
		high += h.alone[rule]
	} else {
		supply += h.alone[rule]
	}
	for d := from; d < to; d++ {
		if d != anchor && h.t.reach[d] {
			supply -= max(0, high-r.Domains[d-from].Count)
		}
	}
	v.lack += max(0, -supply)
}

// cell is the cheapest cell of a spreadGroup that is at the anchor of each spread that it holds,
// as a place in its list; -1 if there is none. It is not known as long as one of them
// has no anchor.
func (h *anchors) cell(f *spreadGroup) (best int, known bool) {
	best = -1
	for k, i := range f.cells {
		fits := true
		for t := range h.t.cells[i].terms {
			if e := &h.t.cells[i].terms[t]; e.spreads() && e.holds {
				if h.of[e.rule] < 0 {
					return -1, false
				}
				fits = fits && e.dom == h.of[e.rule]
			}
		}
		if fits && (best < 0 || f.cost[k] < f.cost[best]) {
			best = k
		}
	}
	return best, true
}
