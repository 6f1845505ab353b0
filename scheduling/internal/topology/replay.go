package topology

import (
	"slices"
)

// Replay binds the given counts one by one, in order of priority and then of classes, again and again until no further pod
// binds, and returns the pods that are bound. Pods whose affinities hold in one order of binding and not in another are left
// out, too. Costs, limits, room and preferences play no part. The domains of a spread rule are the domains of running nodes,
// the domains in which pods are given, and the domains in extra, where other pods are planned.
func Replay(p *Problem, given [][]int64, extra [][]int32) (bound [][]int64) {
	t := compile(p)
	r := newReplay(t)
	placed := make([]int64, len(t.cells))
	for i := range t.cells {
		c, s := int(t.cells[i].class), int(t.cells[i].site)
		if c < len(given) && s < len(given[c]) {
			placed[i] = max(given[c][s], 0)
		}
	}
	t.exist(placed, extra)
	r.hold(placed)
	bound = make([][]int64, len(p.Classes))
	for c := range bound {
		from, to := t.first[c], t.first[c+1]
		bound[c] = placed[from:to:to]
	}
	return bound
}

// Binds reports whether pods bind one by one in the order given, again and again until no further pod binds, and would
// meet their affinities in any order. A pod is the index of a class in p.Classes, and goes to the class's only site; Count,
// costs, limits, room and preferences play no part. The domains of a spread are as in [Replay].
//
// The result is that of Replay for as many classes of one pod each. It is not asked of a cluster.State, which must first read
// every node and running pod: the benchmark Cold with topology terms took twice the CPU time for the same plans.
func Binds(p *Problem, pods []int32, extra [][]int32) bool {
	t := compile(p)
	r := newReplay(t)
	placed := make([]int64, len(t.cells))
	for _, c := range pods {
		placed[t.first[c]]++
	}
	t.exist(placed, extra)
	all := newCluster(t)
	r.start(all, placed, t.eligible)
	return r.inOrder(pods) && newOrderIndependence(t).run(all, placed)
}

// exist adds to the eligible domains those in which pods are given, and those that extra
// lists by rule.
func (t *tables) exist(placed []int64, extra [][]int32) {
	for rule, domains := range extra[:min(len(extra), len(t.p.Rules))] {
		for _, d := range domains {
			if d >= 0 && int(d) < len(t.p.Rules[rule].Domains) {
				t.eligible[t.domFirst[rule]+d] = true
			}
		}
	}
	for i := range t.cells { // machines exist, even if their pods do not bind
		for k := range t.cells[i].terms {
			if e := &t.cells[i].terms[k]; placed[i] > 0 && e.dom >= 0 && (e.holds || e.adds > 0) {
				t.eligible[e.dom] = true
			}
		}
	}
}

// regained is how many groups of pods are tried once more when other pods have been dropped.
const regained = 64

// hold drops pods that do not bind, or that their affinities do not let bind in every order.
func (r *replay) hold(placed []int64) {
	all, g := newCluster(r.tables), newOrderIndependence(r.tables)
	given := slices.Clone(placed)
	var dropped []int32
	for {
		r.run(all, placed, r.eligible)
		copy(placed, r.bound)
		if g.run(all, placed) {
			break
		}
		g.drop(all, placed)
		for _, c := range all.classes {
			for i := r.first[c]; i < r.first[c+1]; i++ {
				if r.bound[i] > placed[i] {
					dropped = append(dropped, i)
				}
			}
		}
	}
	for _, i := range dropped[:min(len(dropped), regained)] {
		n := placed[i]
		placed[i] = given[i]
		if !r.run(all, placed, r.eligible) || !g.run(all, placed) {
			placed[i] = n
		}
	}
}

// replay is pods that bind one by one.
type replay struct {
	*tables
	counts *counts
	bound  []int64 // by cell
	todo   []int64 // by class
	seen   []int32 // by class: the changes of its rules when no more pods could bind
}

func newReplay(t *tables) *replay {
	s := newCounts(t)
	return &replay{
		tables: t, counts: s, bound: make([]int64, len(t.cells)),
		todo: make([]int64, len(t.p.Classes)), seen: make([]int32, len(t.p.Classes)),
	}
}

// run binds the pods that are placed in the cells of a cluster. The machines of all of
// them stand from the start; in are the domains that there are besides. It reports
// whether all pods are bound.
func (r *replay) run(cl *cluster, placed []int64, in []bool) bool {
	r.start(cl, placed, in)
	todo := int64(0)
	for _, c := range cl.classes {
		r.todo[c], r.seen[c] = 0, -1
		for i := r.first[c]; i < r.first[c+1]; i++ {
			r.bound[i] = 0
			r.todo[c] += placed[i]
		}
		todo += r.todo[c]
	}
	for before := int64(-1); todo > 0 && todo != before; {
		before = todo
		for _, c := range cl.classes {
			if r.todo[c] > 0 && r.seen[c] != r.counts.changes(c) {
				todo -= r.bind(c, placed)
				r.seen[c] = r.counts.changes(c)
			}
		}
	}
	return todo == 0
}

// inOrder binds pods in their order, tries pods again that did not bind, and reports whether all are bound in the end. A pod
// that a rule has refused is not tried again until the counts of the rule change.
func (r *replay) inOrder(pods []int32) bool {
	for c := range r.seen {
		r.seen[c] = -1
	}
	left := append([]int32(nil), pods...)
	for {
		waiting := left[:0]
		for _, c := range left {
			now := r.counts.changes(c)
			if r.seen[c] != now {
				terms := r.cells[r.first[c]].terms
				if n, _ := r.counts.admits(terms); n > 0 {
					r.counts.add(terms, 1)
					continue
				}
				r.seen[c] = now
			}
			waiting = append(waiting, c)
		}
		if len(waiting) == 0 || len(waiting) == len(left) {
			return len(waiting) == 0
		}
		left = waiting
	}
}

// start sets the counts of the rules of a cluster to the running pods, and lets the machines exist of the pods that are
// placed.
func (r *replay) start(cl *cluster, placed []int64, in []bool) {
	for _, rule := range cl.rules {
		r.counts.restart(rule, in)
	}
	for _, c := range cl.classes {
		cells, first := r.of(c)
		for k := range cells {
			if placed[int(first)+k] > 0 {
				r.counts.openCell(cells[k].terms)
			}
		}
	}
	for _, rule := range cl.rules {
		r.counts.measure(rule)
	}
}

// bind binds as many pods of a class as it can, in turns between its sites.
func (r *replay) bind(class int32, placed []int64) (all int64) {
	cells, first := r.of(class)
	for some := true; some && r.todo[class] > 0; {
		some = false
		for k := range cells {
			i := int(first) + k
			if r.bound[i] == placed[i] {
				continue
			}
			n, _ := r.counts.admits(cells[k].terms)
			if n = min(n, placed[i]-r.bound[i]); n == 0 {
				continue
			}
			r.counts.add(cells[k].terms, n)
			r.bound[i] += n
			r.todo[class] -= n
			all += n
			some = true
		}
	}
	return all
}
