package room

import (
	"cmp"
	"slices"
)

// Rooms is what is free on nodes that take pods in, side by side.
type Rooms struct {
	Names     []string
	Free      [][]int64
	freeShare []float64 // the sum of the shares that are free
	perUnit   []float64 // by resource, one over what is free of it
}

// New begins with what is free on nodes, of so many resources.
func New(names []string, free [][]int64, resources int) *Rooms {
	r := &Rooms{Names: names, Free: free, perUnit: make([]float64, resources)}
	for _, room := range free {
		for d, n := range room {
			r.perUnit[d] += float64(max(n, 0))
		}
	}
	for d, sum := range r.perUnit {
		r.perUnit[d] = 1 / max(sum, 1)
	}
	for _, room := range free {
		r.freeShare = append(r.freeShare, r.Share(room))
	}
	return r
}

// Share is the sum of the shares that a size has of what is free.
func (r *Rooms) Share(v []int64) (sum float64) {
	for d, n := range v {
		sum += float64(n) * r.perUnit[d]
	}
	return sum
}

// Put finds room for sizes, the largest first, each where least is free, and returns where.
// Where all find some, it is taken if keep says so. skip is a node to leave out.
func (r *Rooms) Put(sizes [][]int64, skip string, keep bool) (into []string, ok bool) {
	order := slices.Clone(sizes)
	slices.SortStableFunc(order, func(a, b []int64) int { return cmp.Compare(r.Share(b), r.Share(a)) })
	var taken []int
	for _, size := range order {
		best := r.bestFit(size, skip)
		if best < 0 {
			break
		}
		taken, into = append(taken, best), append(into, r.Names[best])
		r.use(best, size, 1)
	}
	ok = len(taken) == len(order)
	if !ok || !keep {
		for j, i := range taken {
			r.use(i, order[j], -1)
		}
	}
	return into, ok
}

// Close lets a node take in nobody.
func (r *Rooms) Close(name string) {
	if i := slices.Index(r.Names, name); i >= 0 {
		r.Names, r.Free, r.freeShare = slices.Delete(r.Names, i, i+1), slices.Delete(r.Free, i, i+1), slices.Delete(r.freeShare, i, i+1)
	}
}

// tightest is the fullest of the rooms that hold a size, -1 if none does.
func (r *Rooms) bestFit(size []int64, skip string) int {
	best := -1
rooms:
	for i, free := range r.Free {
		if best >= 0 && r.freeShare[i] >= r.freeShare[best] {
			continue
		}
		for d, n := range size {
			if n > free[d] {
				continue rooms
			}
		}
		if r.Names[i] != skip {
			best = i
		}
	}
	return best
}

func (r *Rooms) use(i int, size []int64, sign int64) {
	for d, n := range size {
		r.Free[i][d] -= sign * n
	}
	r.freeShare[i] -= float64(sign) * r.Share(size)
}
