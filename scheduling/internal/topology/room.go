package topology

import "slices"

// tried is the number of machines with room among which the tightest is chosen.
const tried = 32

// rooms is the room that running machines and limits of sites have left.
type rooms struct {
	t *tables
	// own is the free room of bins from which something was taken at some time, those that owned is set for. The others
	// have the room that the problem states.
	own   map[int32][]int64
	owned []uint64
	left  []int64 // by cell: pods below its limit
	// By cell: the place in the site's list before which no machine has room, and the
	// machine in use, or -1. Both hold while since, by cell, is the current epoch:
	// a new one starts when machines get room back.
	next, bin, since []int32
	epoch            int32
	// used is the room that has been taken, by class.
	used [][]use
}

// use is pods of a class that sit on a machine which runs.
type use struct {
	cell, bin int32
	n         int64
}

func newRooms(t *tables) *rooms {
	r := &rooms{
		t:   t,
		own: map[int32][]int64{}, owned: make([]uint64, (len(t.p.Bins)+63)/64), left: make([]int64, len(t.cells)),
		next: make([]int32, len(t.cells)), bin: make([]int32, len(t.cells)),
		since: make([]int32, len(t.cells)), epoch: 1,
		used: make([][]use, len(t.p.Classes)),
	}
	for i := range t.cells {
		r.left[i] = t.cells[i].limit(t)
	}
	return r
}

// free is the room that a machine has left.
func (r *rooms) free(bin int32) []int64 {
	if r.owned[bin>>6]&(1<<(bin&63)) != 0 {
		return r.own[bin]
	}
	return r.t.p.Bins[bin]
}

// roomFor is how many pods with a request a machine has room for.
func (r *rooms) roomFor(bin int32, request []int64) int64 {
	n := int64(many)
	free := r.free(bin)
	for d, q := range request {
		if q <= 0 {
			continue
		}
		if free[d] < q {
			return 0
		}
		n = min(n, free[d]/q)
	}
	return n
}

// find is how many pods of its class a cell takes at one and the same cost, 0 if it
// has no room. The cost is 0 on machines that run.
func (r *rooms) find(i int32) (n, cost int64) {
	if r.left[i] <= 0 {
		return 0, 0
	}
	c := &r.t.cells[i]
	site := c.source(r.t)
	if r.since[i] != r.epoch || int(r.next[i]) < len(site.Bins) {
		if n := r.tightest(i, site, r.t.p.Classes[c.class].Request); n > 0 {
			return min(n, r.left[i]), 0
		}
	}
	if site.Cost < 0 {
		return 0, 0
	}
	return r.left[i], site.Cost
}

// running reports whether the room that find has found is on a machine that runs.
func (r *rooms) running(i int32) bool {
	return r.since[i] == r.epoch && r.bin[i] >= 0
}

// tightest puts the machine with the least room for the class in use, and returns how
// many pods it holds. A machine stays in use until it is full.
func (r *rooms) tightest(i int32, site *Site, request []int64) int64 {
	if r.since[i] != r.epoch {
		r.since[i], r.next[i], r.bin[i] = r.epoch, 0, -1
	}
	if b := r.bin[i]; b >= 0 {
		if n := r.roomFor(b, request); n > 0 {
			return n
		}
	}
	r.bin[i] = -1
	best, found := int64(0), 0
	for at := int(r.next[i]); at < len(site.Bins) && found < tried; at++ {
		n := r.roomFor(site.Bins[at], request)
		if n == 0 {
			if found == 0 {
				r.next[i] = int32(at) + 1
			}
			continue
		}
		if found++; found == 1 || n < best {
			best, r.bin[i] = n, site.Bins[at]
		}
	}
	return best
}

// capacity is how many pods of its class a cell takes on machines that run, going by
// some of them, and how many in all.
func (r *rooms) capacity(i int32) (free, all int64) {
	site := r.t.cells[i].source(r.t)
	request := r.t.p.Classes[r.t.cells[i].class].Request
	all = r.left[i]
	for _, b := range site.Bins[:min(len(site.Bins), tried)] {
		n := r.roomFor(b, request)
		if n >= all-free {
			return all, all
		}
		free += n
	}
	if site.Cost < 0 {
		all = free
	}
	return free, all
}

// take uses room that find has found, on a machine that runs if it was found there.
func (r *rooms) take(i int32, n int64, runs bool) {
	if r.left[i] != many {
		r.left[i] -= n
	}
	if !runs {
		return
	}
	c, b := r.t.cells[i].class, r.bin[i]
	r.shift(c, b, -n)
	if last := len(r.used[c]) - 1; last >= 0 && r.used[c][last].bin == b && r.used[c][last].cell == i {
		r.used[c][last].n += n
		return
	}
	r.used[c] = append(r.used[c], use{cell: i, bin: b, n: n})
}

// shift gives a machine room for n more pods of a class.
func (r *rooms) shift(class, bin int32, n int64) {
	free, owned := r.own[bin]
	if !owned {
		free = slices.Clone(r.t.p.Bins[bin])
		r.own[bin] = free
		r.owned[bin>>6] |= 1 << (bin & 63)
	}
	for d, q := range r.t.p.Classes[class].Request {
		free[d] += n * max(q, 0)
	}
}

// drop gives the room of n pods in a cell back, that of machines that run last.
func (r *rooms) drop(i int32, n, placed int64) {
	if r.left[i] != many {
		r.left[i] += n
	}
	c := r.t.cells[i].class
	onRunning := int64(0)
	for _, u := range r.used[c] {
		if u.cell == i {
			onRunning += u.n
		}
	}
	n -= min(n, placed-onRunning)
	for k := len(r.used[c]) - 1; k >= 0 && n > 0; k-- {
		u := &r.used[c][k]
		if u.cell != i {
			continue
		}
		back := min(n, u.n)
		u.n -= back
		n -= back
		r.shift(c, u.bin, back)
		r.epoch++
	}
}

// clear gives everything that a class has taken back.
func (r *rooms) clear(class int32) {
	for i := r.t.first[class]; i < r.t.first[class+1]; i++ {
		r.left[i] = r.t.cells[i].limit(r.t)
	}
	for _, u := range r.used[class] {
		r.shift(class, u.bin, u.n)
	}
	r.used[class] = r.used[class][:0]
	r.epoch++
}

// restore takes the room again that a class had taken before, given with its pods by site.
func (r *rooms) restore(class int32, used []use, placed []int64) {
	r.clear(class)
	for k, n := range placed {
		if i := int(r.t.first[class]) + k; r.left[i] != many {
			r.left[i] -= n
		}
	}
	for _, u := range used {
		r.shift(class, u.bin, -u.n)
	}
	r.used[class] = append(r.used[class], used...)
}
