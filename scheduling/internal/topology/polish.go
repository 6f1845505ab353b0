package topology

import (
	"cmp"
	"slices"
)

// A plan of sites that binds in any order keeps classes together that could be apart. Its
// pods are moved to cheaper sites a few at a time, those first that gain most, as long as
// there is a proof that all bind in any order.

// shift is pods of a class that go from one cell to a cheaper one.
type shift struct {
	from, to int32
	gain     int64 // for each
}

// polish moves pods of a cluster of which it is proven that they bind in any order. It
// gives up after so many proofs.
func (s *planner) polish(cl *cluster, proofs int) {
	for again := proofs > 0 && s.certified(cl); again; {
		again = false
		for _, m := range s.shifts(cl) {
			for _, n := range []int64{s.placed[m.from], 1} {
				if n == 0 || n > s.placed[m.from] {
					continue
				}
				if proofs--; proofs < 0 || s.late() {
					return
				}
				s.move(m, n)
				if s.certified(cl) {
					again = true
					break
				}
				s.move(shift{from: m.to, to: m.from}, n)
			}
		}
	}
}

// move moves some pods.
func (s *planner) move(m shift, n int64) {
	s.placed[m.from] -= n
	s.placed[m.to] += n
	s.counts.add(s.cells[m.from].terms, -n)
	s.counts.add(s.cells[m.to].terms, n)
}

// shifts are those to cheaper cells, the one that gains most first.
func (s *planner) shifts(cl *cluster) (out []shift) {
	for _, c := range cl.classes {
		if cells, _ := s.of(c); len(cells) == 0 || slices.ContainsFunc(cells[0].terms, func(e term) bool { return !e.spreads() }) {
			continue // where it is matters in other ways, too
		}
		for i := s.first[c]; i < s.first[c+1]; i++ {
			for j := s.first[c]; j < s.first[c+1] && s.placed[i] > 0; j++ {
				if !s.open(i) || !s.open(j) || s.barred(j) {
					continue
				}
				if gain := s.cells[i].source(s.tables).Cost - s.cells[j].source(s.tables).Cost; gain > 0 {
					out = append(out, shift{i, j, gain})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b shift) int { return cmp.Compare(b.gain, a.gain) })
	return out
}

// open reports whether any number of pods may be bought for a cell, rules aside.
func (s *planner) open(i int32) bool {
	site := s.cells[i].source(s.tables)
	return site.Limit < 0 && site.Cost >= 0
}

// barred reports whether the nodes of a cell lack the key of a spread that its class must
// hold: whatever the counts, none of its pods binds there.
func (s *planner) barred(i int32) bool {
	return slices.ContainsFunc(s.cells[i].terms, func(e term) bool { return e.spreads() && e.holds && e.dom < 0 })
}
