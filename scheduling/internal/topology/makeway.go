package topology

import "slices"

// makeWayWork is how much looking at flocks one proof stands for, see [Problem.Proofs].
const makeWayWork = 10_000

// makeWay looks for sites that are better though no single flock can get there alone. Those
// that hold a spread stay away from where most pods are that it counts, and as long as some
// are in a domain those others cannot come. So for each rule and each of its domains the
// others are taken to be there: flocks that hold the rule leave, and may go to where the others
// come from. What is better is kept.
func (x *scattered) makeWay(left int64) {
	each := int64(len(x.flocks) + len(x.others))
	least := x.judge()
	for again := left > 0; again; {
		again = false
		for _, r := range x.rules {
			from, to := x.domains(r)
			for d := from; d < to; d++ {
				if left <= 0 {
					return
				}
				before := slices.Clone(x.at)
				x.pinTo(d)
				judged := x.descend()
				for i := range x.pin {
					x.pin[i] = -1
				}
				left -= (judged + x.descend()) * each
				if v := x.judge(); v.less(least) {
					least, again = v, true
				} else {
					copy(x.at, before)
				}
			}
		}
	}
}

// pinTo takes others to be in a domain that count there.
func (x *scattered) pinTo(dom int32) {
	for i, f := range x.others {
		for k, c := range f.cells {
			if slices.ContainsFunc(x.cells[c].terms, func(e term) bool { return e.spreads() && e.dom == dom && e.adds > 0 }) {
				x.pin[i] = k
			}
		}
	}
}

// pinned adds what it costs that others are where they are taken to be. As many as are in a
// home of a rule that counts them are missing elsewhere.
func (x *scattered) pinned(f *flock, k int, v *verdict) {
	v.cost += f.cost[k]
	terms := x.cells[f.cells[k]].terms
	for t := range terms {
		if e := &terms[t]; e.spreads() && e.adds > 0 && e.dom >= 0 && x.home[e.dom] {
			v.lack += f.pods
		}
	}
}

// rival plans a cluster once more with flocks at sites for which others make way, and keeps
// that if it binds in any order as well and costs less.
func (s *planner) rival(cl *cluster, classes []int32) {
	if s.p.Proofs == 0 || !s.certified(cl) {
		return
	}
	best := s.save(cl, risk{}, s.stuck(cl))
	if s.cheapest(cl, best) {
		return
	}
	h := s.scatter(cl, s.p.Proofs)
	if h == nil {
		return
	}
	s.mode = mode{urgent: true, home: h}
	s.again(cl, s.homeward(classes))
	s.mode = mode{}
	s.polish(cl, s.p.Proofs)
	d := s.save(cl, risk{doubt: s.doubtful(cl)}, s.stuck(cl))
	if d.risk.doubt > 0 || best.better(d) || s.cost(cl, d) >= s.cost(cl, best) {
		s.restore(cl, best)
	}
}
