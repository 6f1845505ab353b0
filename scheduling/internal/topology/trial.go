package topology

import "slices"

// trial binds pods one by one in an order that a seed stands for, with retries.
type trial struct {
	*tables
	counts *counts
	order  []int32 // cells, one entry for each pod
	left   []int64 // by cell
}

func newTrial(t *tables) *trial {
	return &trial{tables: t, counts: newCounts(t), left: make([]int64, len(t.cells))}
}

// run binds the pods that are placed in the cells of a cluster, and returns how many do
// not bind. The machines of all of them stand from the start; in are the domains that
// there are besides.
func (t *trial) run(cl *cluster, placed []int64, in []bool, seed uint64) (lost int64) {
	t.start(cl, placed, in)
	for k := range t.order {
		x := mix(seed<<32 + uint64(k))
		j := k + int(x%uint64(len(t.order)-k))
		t.order[k], t.order[j] = t.order[j], t.order[k]
	}
	waiting := t.order[:0]
	for _, i := range t.order {
		if t.bind(i, 1) == 0 {
			if t.left[i]++; t.left[i] == 1 {
				waiting = append(waiting, i)
			}
		}
	}
	for some := true; some; {
		some = false
		waiting = slices.DeleteFunc(waiting, func(i int32) bool {
			n := t.bind(i, t.left[i])
			t.left[i] -= n
			some = some || n > 0
			return t.left[i] == 0
		})
	}
	for _, i := range waiting {
		lost += t.left[i]
	}
	return lost
}

// start sets the counts of the rules of a cluster to the running pods, and lists the pods.
func (t *trial) start(cl *cluster, placed []int64, in []bool) {
	for _, rule := range cl.rules {
		t.counts.restart(rule, in)
	}
	t.order = t.order[:0]
	for _, c := range cl.classes {
		for i := t.first[c]; i < t.first[c+1]; i++ {
			t.left[i] = 0
			if placed[i] > 0 {
				t.counts.openCell(t.cells[i].terms)
				t.order = append(t.order, slices.Repeat([]int32{i}, int(placed[i]))...)
			}
		}
	}
	for _, rule := range cl.rules {
		t.counts.measure(rule)
	}
}

// bind binds up to n pods in a cell, and returns how many.
func (t *trial) bind(i int32, n int64) int64 {
	terms := t.cells[i].terms
	may, _ := t.counts.admits(terms)
	if n = min(n, may); n > 0 {
		t.counts.add(terms, n)
	}
	return n
}

// mix scrambles a number.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
