package topology

// tried is the number of machines with room among which the tightest is chosen.
const tried = 32

// rooms is what running machines and limits of sites have left.
type rooms struct {
	t    *tables
	free []int64 // by bin and resource
	left []int64 // by cell: pods below its limit
	// By cell: the place in the site's list before which no machine has room, and the
	// machine in use, or -1.
	next []int32
	bin  []int32
	// used is what has been taken, by class.
	used [][]use
}

// use is pods of a class on a machine that runs.
type use struct {
	bin int32
	n   int64
}

func newRooms(t *tables) *rooms {
	r := &rooms{
		t:    t,
		free: make([]int64, len(t.p.Bins)*t.p.Dims), left: make([]int64, len(t.cells)),
		next: make([]int32, len(t.cells)), bin: make([]int32, len(t.cells)),
		used: make([][]use, len(t.p.Classes)),
	}
	for b, bin := range t.p.Bins {
		copy(r.free[b*t.p.Dims:(b+1)*t.p.Dims], bin)
	}
	for i := range t.cells {
		r.left[i] = t.cells[i].source(t).Limit
		if r.left[i] < 0 {
			r.left[i] = many
		}
		r.bin[i] = -1
	}
	return r
}

// source is the site behind a cell.
func (c *cell) source(t *tables) *Site {
	return &t.p.Classes[c.class].Sites[c.site]
}

// holds is how many pods with a request a machine has room for.
func (r *rooms) holds(bin int32, request []int64) int64 {
	n := int64(many)
	free := r.free[int(bin)*r.t.p.Dims:]
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
	if int(r.next[i]) < len(site.Bins) {
		if n := r.tightest(i, site, r.t.p.Classes[c.class].Request); n > 0 {
			return min(n, r.left[i]), 0
		}
	}
	if site.Cost < 0 {
		return 0, 0
	}
	return r.left[i], site.Cost
}

// tightest puts the machine with the least room for the class in use, and returns how
// many pods it holds. A machine stays in use until it is full.
func (r *rooms) tightest(i int32, site *Site, request []int64) int64 {
	if b := r.bin[i]; b >= 0 {
		if n := r.holds(b, request); n > 0 {
			return n
		}
	}
	r.bin[i] = -1
	best, found := int64(0), 0
	for at := int(r.next[i]); at < len(site.Bins) && found < tried; at++ {
		n := r.holds(site.Bins[at], request)
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

// take uses room that find has found.
func (r *rooms) take(i int32, n, cost int64) {
	if r.left[i] != many {
		r.left[i] -= n
	}
	b := r.bin[i]
	if b < 0 || cost > 0 {
		return
	}
	c := r.t.cells[i].class
	r.shift(c, b, -n)
	if last := len(r.used[c]) - 1; last >= 0 && r.used[c][last].bin == b {
		r.used[c][last].n += n
		return
	}
	r.used[c] = append(r.used[c], use{bin: b, n: n})
}

// shift gives a machine room for n more pods of a class.
func (r *rooms) shift(class, bin int32, n int64) {
	free := r.free[int(bin)*r.t.p.Dims:]
	for d, q := range r.t.p.Classes[class].Request {
		free[d] += n * max(q, 0)
	}
}
