package topology

import "math"

// many stands for any number of pods.
const many = math.MaxInt64

// term is a link of a class at one of its sites, with everything that a check needs
// in one place.
type term struct {
	adds       int64 // how many a pod counts for in the domain
	dom        int32 // place in the flat tables of domains, or None
	rule       int32
	kind       Kind
	holds      bool
	preference bool
	self       bool // the class is counted by the rule, wherever it goes
}

// cell is a site of a class.
type cell struct {
	class int32
	site  int32
	terms []term
}

// tables is a problem with its rules, domains and sites numbered through.
type tables struct {
	p *Problem
	// cells are the sites of all classes, class by class; those of class c start at
	// first[c] and end before first[c+1].
	cells []cell
	first []int32
	// domains of rule r start at domFirst[r].
	domFirst []int32
	// members are, by rule, the classes with a link to it.
	members [][]member
	// eligible and reach say, by flat domain, of which domains a Spread rule takes the
	// minimum: those of running nodes, and with them those to which a class that holds
	// the rule could go.
	eligible, reach []bool
}

// member is a class with a link to a rule, and the place of the link among the terms
// of its cells.
type member struct{ class, term int32 }

// compile numbers a problem through. Links to rules that do not exist are dropped, and
// domains that do not exist are None.
func compile(p *Problem) *tables {
	t := &tables{p: p}
	t.domFirst = make([]int32, len(p.Rules)+1)
	for r := range p.Rules {
		t.domFirst[r+1] = t.domFirst[r] + int32(len(p.Rules[r].Domains))
	}
	sites, terms := 0, 0
	t.first = make([]int32, len(p.Classes)+1)
	t.members = make([][]member, len(p.Rules))
	for c := range p.Classes {
		class := &p.Classes[c]
		sites += len(class.Sites)
		terms += len(class.Sites) * len(class.Links)
		t.first[c+1] = int32(sites)
		at := int32(0)
		for _, link := range class.Links {
			if t.exists(link.Rule) {
				t.members[link.Rule] = append(t.members[link.Rule], member{int32(c), at})
				at++
			}
		}
	}
	t.cells = make([]cell, 0, sites)
	flat := make([]term, 0, terms)
	for c := range p.Classes {
		class := &p.Classes[c]
		for s := range class.Sites {
			from := len(flat)
			flat = t.appendTerms(flat, class.Links, &class.Sites[s])
			t.cells = append(t.cells, cell{
				class: int32(c), site: int32(s), terms: flat[from:len(flat):len(flat)],
			})
		}
	}
	t.survey()
	return t
}

// exists reports whether there is such a rule.
func (t *tables) exists(rule int32) bool {
	return rule >= 0 && int(rule) < len(t.p.Rules)
}

// appendTerms adds the links of a class at a site.
func (t *tables) appendTerms(flat []term, links []Link, site *Site) []term {
	for l, link := range links {
		if !t.exists(link.Rule) {
			continue
		}
		rule := &t.p.Rules[link.Rule]
		e := term{
			dom: None, rule: link.Rule, kind: rule.Kind, holds: link.Holds,
			preference: rule.Weight > 0, self: link.Counts > 0,
		}
		if l < len(site.Domains) && site.Domains[l] >= 0 && int(site.Domains[l]) < len(rule.Domains) {
			e.dom = t.domFirst[link.Rule] + site.Domains[l]
		}
		if l >= len(site.Counted) || site.Counted[l] {
			e.adds = max(link.Counts, 0)
		}
		flat = append(flat, e)
	}
	return flat
}

// survey finds the domains that classes can reach.
func (t *tables) survey() {
	n := t.domFirst[len(t.p.Rules)]
	t.eligible, t.reach = make([]bool, n), make([]bool, n)
	for r := range t.p.Rules {
		for d := range t.p.Rules[r].Domains {
			t.eligible[int(t.domFirst[r])+d] = t.p.Rules[r].Domains[d].Eligible
		}
	}
	copy(t.reach, t.eligible)
	for i := range t.cells {
		if !t.cells[i].source(t).usable() {
			continue
		}
		for k := range t.cells[i].terms {
			if e := &t.cells[i].terms[k]; e.holds && e.dom >= 0 {
				t.reach[e.dom] = true
			}
		}
	}
}

// of returns the cells of a class, and the number of the first.
func (t *tables) of(class int32) (cells []cell, first int32) {
	first = t.first[class]
	return t.cells[first:t.first[class+1]], first
}

// source is the site behind a cell.
func (c *cell) source(t *tables) *Site {
	return &t.p.Classes[c.class].Sites[c.site]
}

// domains returns the flat numbers of a rule's domains, as a range.
func (t *tables) domains(rule int32) (from, to int32) {
	return t.domFirst[rule], t.domFirst[rule+1]
}

// usable reports whether any pod could go to a site, rules aside.
func (s *Site) usable() bool {
	return s.Limit != 0 && (s.Cost >= 0 || len(s.Bins) > 0)
}

// affine reports whether a term is an affinity that has to be met.
func (e *term) affine() bool { return e.kind == Affinity && e.holds && !e.preference }

// spreads reports whether a term is a spread that must hold.
func (e *term) spreads() bool { return e.kind == Spread && !e.preference }

// limit is how many pods may go to a cell.
func (c *cell) limit(t *tables) int64 {
	if n := c.source(t).Limit; n >= 0 {
		return n
	}
	return many
}
