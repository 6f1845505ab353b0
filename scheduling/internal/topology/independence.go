package topology

// several stands for more than one domain.
const several int32 = -2

// orderIndependence finds out which pods of a plan meet their affinities in whatever order pods
// bind. It takes no notice of other rules.
//
// In a domain of an affinity that they hold, pods stand on firm ground if a counted pod
// runs there, or one is planned there that is on firm ground itself: it is there sooner
// or later. Pods may also open a domain for their own kind, but only as long as there
// is no counted pod anywhere else. That does not depend on the order if all counted
// pods of the plan go to this one domain: either none of them is bound, and the pods
// may open it, or it is open.
type orderIndependence struct {
	*tables
	firm []bool   // by flat domain: a counted pod is sure to be there
	sole []int32  // by rule: the only domain with counted pods, [None], or several
	who  []uint64 // by rule: stands for the set of cells in which pods count for it
	open []int32  // cells whose pods are not on firm ground
}

func newOrderIndependence(t *tables) *orderIndependence {
	return &orderIndependence{
		tables: t, firm: make([]bool, t.domFirst[len(t.p.Rules)]),
		sole: make([]int32, len(t.p.Rules)), who: make([]uint64, len(t.p.Rules)),
	}
}

// run looks for firm ground for the pods that are placed in the cells of a cluster, and
// reports whether all are on it.
func (g *orderIndependence) run(cl *cluster, placed []int64) bool {
	g.start(cl, placed)
	for _, c := range cl.classes {
		for i := g.first[c]; i < g.first[c+1]; i++ {
			if placed[i] > 0 && !g.step(i) {
				g.open = append(g.open, i)
			}
		}
	}
	for before := -1; len(g.open) > 0 && len(g.open) != before; {
		before = len(g.open)
		left := g.open[:0]
		for _, i := range g.open {
			if !g.step(i) {
				left = append(left, i)
			}
		}
		g.open = left
	}
	return len(g.open) == 0
}

// start notes where counted pods run, and where they are planned.
func (g *orderIndependence) start(cl *cluster, placed []int64) {
	g.open = g.open[:0]
	for _, rule := range cl.rules {
		r := &g.p.Rules[rule]
		if r.Kind != Affinity {
			continue
		}
		g.sole[rule], g.who[rule] = None, 0
		if r.Total > 0 {
			g.sole[rule] = several
		}
		for d := range r.Domains {
			g.firm[int(g.domFirst[rule])+d] = r.Domains[d].Count > 0
			if r.Domains[d].Count > 0 {
				g.sole[rule] = several
			}
		}
	}
	for _, c := range cl.classes {
		for i := g.first[c]; i < g.first[c+1]; i++ {
			if placed[i] <= 0 {
				continue
			}
			for k := range g.cells[i].terms {
				e := &g.cells[i].terms[k]
				if e.kind != Affinity || e.adds == 0 || e.dom < 0 {
					continue
				}
				g.who[e.rule] += mix(uint64(i))
				switch g.sole[e.rule] {
				case None, e.dom:
					g.sole[e.rule] = e.dom
				default:
					g.sole[e.rule] = several
				}
			}
		}
	}
}

// step reports whether the pods of a cell are on firm ground, as far as is known, and
// makes it firm for others if they are.
func (g *orderIndependence) step(i int32) bool {
	if !g.meets(i) {
		return false
	}
	g.add(i)
	return true
}

// meets reports whether the pods of a cell are known to meet their affinities.
func (g *orderIndependence) meets(i int32) bool {
	firm := true
	for k := range g.cells[i].terms {
		if e := &g.cells[i].terms[k]; e.affine() {
			if e.dom < 0 {
				return false
			}
			firm = firm && g.firm[e.dom]
		}
	}
	return firm || g.opens(i)
}

// opens reports whether the pods of a cell can open its domains as long as they are not
// open. With several affinities, the same pods have to count for all of them, so that
// either all are open or none.
func (g *orderIndependence) opens(i int32) bool {
	first := int32(-1)
	for k := range g.cells[i].terms {
		e := &g.cells[i].terms[k]
		if !e.affine() {
			continue
		}
		if first < 0 {
			first = e.rule
		}
		if !e.self || g.sole[e.rule] != e.dom && g.sole[e.rule] != None || g.who[e.rule] != g.who[first] {
			return false
		}
	}
	return true
}

// add makes ground firm on which pods of a cell are counted.
func (g *orderIndependence) add(i int32) {
	for k := range g.cells[i].terms {
		if e := &g.cells[i].terms[k]; e.kind == Affinity && e.adds > 0 && e.dom >= 0 {
			g.firm[e.dom] = true
		}
	}
}

// loss is pods that a plan loses.
type loss struct {
	priority int32
	pods     int64
}

func (l *loss) add(priority int32, n int64) {
	if l.pods == 0 || priority > l.priority {
		l.priority = priority
	}
	l.pods += n
}

// less reports whether a loss is the lesser one.
func (l *loss) less(than *loss) bool {
	if l.priority != than.priority {
		return l.priority < than.priority
	}
	return l.pods < than.pods
}

// drop takes pods away that keep others, or are kept themselves, from firm ground in
// one domain, whichever loses less: those that hold the affinity there, or those that
// it counts elsewhere. It is for use after a run that has failed.
func (g *orderIndependence) drop(cl *cluster, placed []int64) {
	holders := make(map[int32]*loss)
	can := make(map[int32]bool) // be opened, were it the only domain
	for _, i := range g.open {
		for k := range g.cells[i].terms {
			e := &g.cells[i].terms[k]
			if !e.affine() || e.dom >= 0 && g.firm[e.dom] {
				continue
			}
			if e.dom < 0 {
				placed[i] = 0
				return
			}
			if holders[e.dom] == nil {
				holders[e.dom] = &loss{}
			}
			holders[e.dom].add(g.p.Classes[g.cells[i].class].Priority, placed[i])
			can[e.dom] = can[e.dom] || e.self
		}
	}
	at, elsewhere := g.cheapest(cl, placed, holders, can)
	for _, c := range cl.classes {
		for i := g.first[c]; i < g.first[c+1]; i++ {
			if placed[i] > 0 && g.concerns(i, at, elsewhere) {
				placed[i] = 0
			}
		}
	}
}

// cheapest finds the domain in which the fewest pods are given up, and whether these are the pods that count elsewhere.
func (g *orderIndependence) cheapest(
	cl *cluster, placed []int64, holders map[int32]*loss, can map[int32]bool,
) (at int32, elsewhere bool) {
	var least *loss
	at = None
	for _, rule := range cl.rules {
		from, to := g.domains(rule)
		for d := from; d < to; d++ {
			if holders[d] == nil {
				continue
			}
			if least == nil || holders[d].less(least) {
				at, elsewhere, least = d, false, holders[d]
			}
			if !can[d] || g.runs(rule) {
				continue
			}
			if others := g.others(cl, placed, d); others.pods > 0 && others.less(least) {
				at, elsewhere, least = d, true, others
			}
		}
	}
	return at, elsewhere
}

// runs reports whether pods run that an affinity counts.
func (g *orderIndependence) runs(rule int32) bool {
	r := &g.p.Rules[rule]
	for d := range r.Domains {
		if r.Domains[d].Count > 0 {
			return true
		}
	}
	return r.Total > 0
}

// others is the pods that count for the rule of a domain, but in other domains.
func (g *orderIndependence) others(cl *cluster, placed []int64, at int32) *loss {
	var l loss
	for _, c := range cl.classes {
		for i := g.first[c]; i < g.first[c+1]; i++ {
			if placed[i] > 0 && g.concerns(i, at, true) {
				l.add(g.p.Classes[c].Priority, placed[i])
			}
		}
	}
	return &l
}

// concerns reports whether pods of a cell hold the affinity that a domain belongs to,
// there and without firm ground, or are counted by it elsewhere.
func (g *orderIndependence) concerns(i, at int32, elsewhere bool) bool {
	for k := range g.cells[i].terms {
		e := &g.cells[i].terms[k]
		switch {
		case e.kind != Affinity:
		case elsewhere && e.adds > 0 && e.dom >= 0 && e.dom != at &&
			e.dom >= g.domFirst[e.rule] && at >= g.domFirst[e.rule] && at < g.domFirst[e.rule+1]:
			return true
		case !elsewhere && e.affine() && e.dom == at:
			return !g.meets(i)
		}
	}
	return false
}
