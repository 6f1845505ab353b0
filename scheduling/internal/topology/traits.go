package topology

import "slices"

// termOf is the term of a member at its first site; nil if it has none.
func (t *tables) termOf(m member) *term {
	cells, _ := t.of(m.class)
	if len(cells) == 0 {
		return nil
	}
	return &cells[0].terms[m.term]
}

// follows reports whether a class holds an affinity that must be met.
func (t *tables) follows(class int32) bool {
	cells, _ := t.of(class)
	return len(cells) > 0 && slices.ContainsFunc(cells[0].terms, func(e term) bool { return e.affine() })
}

// spreads is the number of hard spread rules that a class holds.
func (t *tables) spreads(class int32) (n int) {
	cells, _ := t.of(class)
	if len(cells) == 0 {
		return 0
	}
	for k := range cells[0].terms {
		if e := &cells[0].terms[k]; e.kind == Spread && e.holds && !e.preference {
			n++
		}
	}
	return n
}

// alone reports whether pods that hold so many spreads hold that of a term and no other, so that
// nothing keeps them out of the domain that has the fewest.
func (t *tables) alone(e *term, spreads int) bool {
	return e.holds && spreads == 1 && e.adds <= t.p.Rules[e.rule].Max
}

// barredFrom reports whether a class is counted by an affinity, does not hold it, and cannot
// go to one of its domains.
func (t *tables) barredFrom(m member, dom int32) bool {
	cells, _ := t.of(m.class)
	counted := false
	for i := range cells {
		e := &cells[i].terms[m.term]
		if e.holds {
			return false
		}
		counted = counted || e.adds > 0 && e.dom >= 0
		if e.dom == dom && cells[i].source(t).usable() {
			return false
		}
	}
	return counted
}

// eachPair goes through spreads that count a class, which does not hold them, and
// spreads that it holds.
func (t *tables) eachPair(class int32, do func(counts, holds *term)) {
	cells, _ := t.of(class)
	if len(cells) == 0 {
		return
	}
	terms := cells[0].terms
	for i := range terms {
		for k := range terms {
			if x, y := &terms[i], &terms[k]; x.spreads() && y.spreads() && x.self && !x.holds && y.holds {
				do(x, y)
			}
		}
	}
}

// open reports whether any number of pods may be bought for a cell, rules aside.
func (c *cell) open(t *tables) bool {
	site := c.source(t)
	return site.Limit < 0 && site.Cost >= 0
}

// barred reports whether the nodes of a cell lack the key of a spread that its class must
// hold: whatever the counts, none of its pods binds there.
func (c *cell) barred() bool {
	return slices.ContainsFunc(c.terms, func(e term) bool { return e.spreads() && e.holds && e.dom < 0 })
}
