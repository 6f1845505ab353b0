package topology

// toll is pods that a plan loses.
type toll struct {
	priority int32
	pods     int64
}

func (l *toll) add(priority int32, n int64) {
	if l.pods == 0 || priority > l.priority {
		l.priority = priority
	}
	l.pods += n
}

// less reports whether a toll is the lesser one.
func (l *toll) less(than *toll) bool {
	if l.priority != than.priority {
		return l.priority < than.priority
	}
	return l.pods < than.pods
}

// drop takes pods away that keep others, or are kept themselves, from firm ground in
// one domain, whichever loses less: those that hold the affinity there, or those that
// it counts elsewhere. It is for use after a run that has failed.
func (g *ground) drop(cl *cluster, placed []int64) {
	holders := make(map[int32]*toll)
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
				holders[e.dom] = &toll{}
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

// cheapest finds the domain in which least is lost, and whether that is by dropping
// what counts elsewhere.
func (g *ground) cheapest(
	cl *cluster, placed []int64, holders map[int32]*toll, can map[int32]bool,
) (at int32, elsewhere bool) {
	var least *toll
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
func (g *ground) runs(rule int32) bool {
	r := &g.p.Rules[rule]
	for d := range r.Domains {
		if r.Domains[d].Count > 0 {
			return true
		}
	}
	return r.Total > 0
}

// others is the pods that count for the rule of a domain, but in other domains.
func (g *ground) others(cl *cluster, placed []int64, at int32) *toll {
	var l toll
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
func (g *ground) concerns(i, at int32, elsewhere bool) bool {
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
