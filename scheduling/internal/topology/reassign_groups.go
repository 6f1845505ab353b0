package topology

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// podGroup is pods with the same spreads that can choose from the same domains.
type podGroup struct {
	shares  []classShare
	choices []siteChoice
	count   []int64 // by choice
	// order is, by choices from and to, the shares, those first for which that costs least.
	order [][]int32
	// like are the groups that are counted as this one is.
	like []*podGroup
}

// classShare is pods of a class. All of it is by choice: the cheapest cell, its cost, and pods.
type classShare struct {
	class   int32
	cells   []int32
	cost, n []int64
}

// siteChoice is a site as spreads see it.
type siteChoice struct {
	proofGroup int32 // -1 for pods that hold no spread
	adds       []added
}

// added is what a pod adds to the count of a domain. In is where its proof group keeps account of
// that, or -1 for pods that bind in any case: pods without a spread, and pods that hold this
// one and no other, because the domain with the fewest pods always admits these.
type added struct {
	at, in int32
	each   int64
}

// mostChoices bounds how many choices pods of a group can choose from.
const mostChoices = 24

// collect sorts classes into groups that spreads hold and count alike. Local numbers their domains.
func (x *reassignment) collect(cl *cluster, local []int32) {
	index, proofGroups := map[string]*podGroup{}, map[string]int32{}
	for _, c := range cl.classes {
		k, name, terms := x.shareOf(c)
		if len(k.cells) < 2 || len(k.cells) > mostChoices {
			continue
		}
		h := index[name]
		if h == nil {
			h = &podGroup{count: make([]int64, len(terms))}
			for _, t := range terms {
				h.choices = append(h.choices, x.choiceOf(t, x.plan.spreads(c), local, proofGroups))
			}
			index[name] = h
			x.groups = append(x.groups, h)
		}
		for p, n := range k.n {
			h.count[p] += n
		}
		h.shares = append(h.shares, k)
	}
	for _, h := range x.groups {
		h.sort()
		for _, other := range x.groups {
			if other != h && slices.EqualFunc(h.choices, other.choices, counted) {
				h.like = append(h.like, other)
			}
		}
	}
}

// counted reports whether pods in two choices count the same.
func counted(a, b siteChoice) bool {
	return slices.EqualFunc(a.adds, b.adds, func(x, y added) bool { return x.at == y.at && x.each == y.each })
}

// shareOf is a class, a name for its choices, and the terms of the rules there. It has no cells where
// it cannot be reassigned.
func (x *reassignment) shareOf(c int32) (k classShare, name string, terms [][]term) {
	cells, first := x.plan.of(c)
	if x.plan.todo[c] > 0 || x.plan.p.Classes[c].Count <= 0 || len(cells) == 0 ||
		slices.ContainsFunc(cells[0].terms, func(e term) bool { return !e.spreads() }) {
		return classShare{}, "", nil
	}
	k.class = c
	var all []byte
	choices := map[string]int{}
	for i := range cells {
		at := first + int32(i)
		if !cells[i].open(x.plan.tables) || cells[i].barred() {
			if x.plan.placed[at] > 0 {
				return classShare{}, "", nil
			}
			continue
		}
		from, cost := len(all), cells[i].source(x.plan.tables).Cost
		all = appendSpreads(all, cells[i].terms)
		p, known := choices[string(all[from:])]
		if known {
			all = all[:from]
		} else {
			p = len(k.cells)
			choices[string(all[from:])] = p
			k.cells, k.cost, k.n, terms = append(k.cells, at), append(k.cost, cost), append(k.n, 0), append(terms, cells[i].terms)
		}
		if cost < k.cost[p] {
			k.cells[p], k.cost[p] = at, cost
		}
		k.n[p] += x.plan.placed[at]
	}
	return k, string(all), terms
}

// choiceOf is the choice of pods that hold so many spreads.
func (x *reassignment) choiceOf(terms []term, spreads int, local []int32, proofGroups map[string]int32) siteChoice {
	out := siteChoice{proofGroup: -1}
	if spreads > 0 {
		out.proofGroup = x.proofGroupOf(terms, local, proofGroups)
	}
	for i := range terms {
		e := &terms[i]
		if e.dom < 0 || e.adds == 0 {
			continue
		}
		a := added{at: local[e.dom], in: -1, each: e.adds}
		if spreads > 0 && !x.plan.alone(e, spreads) {
			a.in = x.proofGroups[out.proofGroup].accountOf(a.at)
		}
		out.adds = append(out.adds, a)
	}
	return out
}

// proofGroupOf is the number of the proofGroup of pods with some terms.
func (x *reassignment) proofGroupOf(terms []term, local []int32, proofGroups map[string]int32) int32 {
	var name []byte
	var held []int32
	for i := range terms {
		if e := &terms[i]; e.holds {
			held = append(held, local[e.dom])
			name = binary.AppendVarint(name, int64(e.dom))
		}
	}
	n, known := proofGroups[string(name)]
	if !known {
		n = int32(len(x.proofGroups))
		proofGroups[string(name)] = n
		x.proofGroups = append(x.proofGroups, &proofGroup{held: held})
	}
	return n
}

// accountOf is where a proof group keeps account of its pods in a domain.
func (c *proofGroup) accountOf(at int32) int32 {
	k := slices.Index(c.at, at)
	if k < 0 {
		k = len(c.at)
		c.at, c.n = append(c.at, at), append(c.n, 0)
	}
	return int32(k)
}

// sort finds the order in which shares go from one choice to another.
func (h *podGroup) sort() {
	for from := range h.choices {
		for to := range h.choices {
			list := make([]int32, len(h.shares))
			for k := range list {
				list[k] = int32(k)
			}
			slices.SortStableFunc(list, func(a, b int32) int {
				x, y := &h.shares[a], &h.shares[b]
				return cmp.Compare(x.cost[to]-x.cost[from], y.cost[to]-y.cost[from])
			})
			h.order = append(h.order, list)
		}
	}
}

// over is the cost of moving n pods from one choice to another: the pods for which that is cheapest.
func (h *podGroup) over(from, to int, n int64) (cost int64) {
	for _, k := range h.order[from*len(h.choices)+to] {
		c := &h.shares[k]
		some := min(n, c.n[from])
		cost += some * (c.cost[to] - c.cost[from])
		if n -= some; n == 0 {
			break
		}
	}
	return cost
}

// relocate lets those pods go.
func (h *podGroup) relocate(from, to int, n int64) {
	for _, k := range h.order[from*len(h.choices)+to] {
		c := &h.shares[k]
		some := min(n, c.n[from])
		c.n[from] -= some
		c.n[to] += some
		if n -= some; n == 0 {
			break
		}
	}
}
