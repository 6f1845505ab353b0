package topology

import (
	"cmp"
	"slices"
)

// Replay binds the given counts one by one, in order of priority and then of classes,
// again and again until nothing more binds, and returns what is bound. Costs, limits,
// room and wishes play no part. The domains of a spread rule are those of running
// nodes, those in which pods are given, and those that extra lists for it: domains
// in which something else is planned.
func Replay(p *Problem, given [][]int64, extra [][]int32) (bound [][]int64) {
	t := compile(p)
	r := newReplay(t, given)
	for rule, domains := range extra {
		if rule >= len(p.Rules) {
			break
		}
		for _, d := range domains {
			if d >= 0 && int(d) < len(p.Rules[rule].Domains) {
				r.counts.in[t.domFirst[rule]+d] = true
			}
		}
	}
	r.begin()
	order := make([]int32, len(p.Classes))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(p.Classes[b].Priority, p.Classes[a].Priority)
	})
	r.run(order)
	bound = make([][]int64, len(p.Classes))
	for c := range bound {
		from, to := t.first[c], t.first[c+1]
		bound[c] = r.bound[from:to:to]
	}
	return bound
}

// replay is pods that bind one by one.
type replay struct {
	*tables
	counts *counts
	left   []int64 // by cell
	bound  []int64 // by cell
	todo   []int64 // by class
}

func newReplay(t *tables, given [][]int64) *replay {
	r := &replay{
		tables: t, counts: newCounts(t),
		left: make([]int64, len(t.cells)), bound: make([]int64, len(t.cells)),
		todo: make([]int64, len(t.p.Classes)),
	}
	for i := range t.cells {
		c, s := int(t.cells[i].class), int(t.cells[i].site)
		if c < len(given) && s < len(given[c]) {
			r.left[i] = max(given[c][s], 0)
			r.todo[c] += r.left[i]
		}
	}
	return r
}

// begin makes the machines of all pods stand.
func (r *replay) begin() {
	for i := range r.cells {
		if r.left[i] == 0 {
			continue
		}
		for _, e := range r.cells[i].terms {
			if e.dom >= 0 && (e.holds || e.adds > 0) {
				r.counts.in[e.dom] = true
			}
		}
	}
	for rule := range r.p.Rules {
		r.counts.measure(int32(rule))
	}
}

// run binds classes in order until a pass binds nothing.
func (r *replay) run(order []int32) {
	for again := true; again; {
		again = false
		for _, c := range order {
			for r.todo[c] > 0 && r.bind(c) {
				again = true
			}
		}
	}
}

// bind binds as many pods as it can at each site of a class, and reports whether it
// was any.
func (r *replay) bind(class int32) bool {
	some := false
	cells, first := r.of(class)
	for at := range cells {
		i := int(first) + at
		if r.left[i] == 0 {
			continue
		}
		n, _, _ := r.counts.admits(cells[at].terms)
		n = min(n, r.left[i])
		if n == 0 {
			continue
		}
		r.counts.add(cells[at].terms, n)
		r.left[i] -= n
		r.bound[i] += n
		r.todo[class] -= n
		some = true
	}
	return some
}
