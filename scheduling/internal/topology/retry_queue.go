package topology

import "slices"

// retryQueue is pods that a rule keeps out of a cell until something changes in the domain
// or in the rule. They are looked at when it does, so that many classes which wait for
// each other are not gone through for every pod.
type retryQueue struct {
	*tables
	counts *counts
	rank   []int32 // by class: who goes first
	// lists are the cells that wait, by the flat domain that is closed to them: first
	// those whose pods do not count there, then those whose pods do.
	lists [][]queueEntry
	turn  []int32 // by class: entries of earlier turns are void
}

type queueEntry struct{ cell, turn int32 }

func newRetryQueue(t *tables, s *counts) *retryQueue {
	return &retryQueue{
		tables: t, counts: s, rank: make([]int32, len(t.p.Classes)),
		lists: make([][]queueEntry, 2*len(s.count)), turn: make([]int32, len(t.p.Classes)),
	}
}

// start begins with nobody waiting, and sets who goes first.
func (w *retryQueue) start(order []int32) {
	for at, c := range order {
		w.rank[c] = int32(at)
		w.turn[c]++
		cells, _ := w.of(c)
		for i := range cells {
			for k := range cells[i].terms {
				if dom := cells[i].terms[k].dom; dom >= 0 {
					w.lists[2*dom] = w.lists[2*dom][:0]
					w.lists[2*dom+1] = w.lists[2*dom+1][:0]
				}
			}
		}
	}
	w.counts.settled()
}

// wait puts a class where it has to wait, for each of its cells that it wants.
func (w *retryQueue) wait(class int32, wants func(cell int32) bool) {
	w.turn[class]++
	for i := w.first[class]; i < w.first[class+1]; i++ {
		if wants(i) {
			w.enter(i)
		}
	}
}

// enter puts a cell into the list of the domain that is closed to it, unless it is
// closed for good.
func (w *retryQueue) enter(i int32) {
	c := &w.cells[i]
	n, at, _ := w.counts.admits(c.terms)
	if n > 0 || c.terms[at].dom < 0 || c.terms[at].kind == Anti {
		return
	}
	list := listOf(&c.terms[at])
	to, _ := slices.BinarySearchFunc(w.lists[list], w.rank[c.class], func(e queueEntry, rank int32) int {
		return int(w.rank[w.cells[e.cell].class]) - int(rank)
	})
	w.lists[list] = slices.Insert(w.lists[list], to, queueEntry{cell: i, turn: w.turn[c.class]})
}

// listOf is the list in which a cell waits for a term.
func listOf(e *term) int32 {
	if e.adds > 0 {
		return 2*e.dom + 1
	}
	return 2 * e.dom
}

// wake lets classes try again that wait for what has changed, until nothing changes
// any more.
func (w *retryQueue) wake(wants func(cell int32) bool, try func(class int32)) {
	for {
		rule := w.counts.next()
		if rule < 0 {
			return
		}
		from, to := w.domains(rule)
		for list := 2 * from; list < 2*to; list++ {
			w.open(list, wants, try)
		}
	}
}

// open goes through a list until its first cell is still closed.
func (w *retryQueue) open(list int32, wants func(cell int32) bool, try func(class int32)) {
	for len(w.lists[list]) > 0 {
		e := w.lists[list][0]
		c := &w.cells[e.cell]
		valid := e.turn == w.turn[c.class] && wants(e.cell)
		n, at, _ := w.counts.admits(c.terms)
		if valid && n == 0 && listOf(&c.terms[at]) == list && c.terms[at].dom >= 0 {
			return
		}
		w.lists[list] = slices.Delete(w.lists[list], 0, 1)
		switch {
		case !valid:
		case n == 0:
			w.enter(e.cell)
		default:
			try(c.class)
		}
	}
}
