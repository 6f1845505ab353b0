package room

import (
	"cmp"
	"slices"
)

// Rooms is what is free on nodes that take pods in, side by side.
type Rooms struct {
	Names []string
	Free  [][]int64
	left  []float64 // the sum of the shares that are free
	unit  []float64 // by resource, one over what is free of it
}

// New begins with what is free on nodes, of so many resources.
func New(names []string, free [][]int64, resources int) *Rooms {
	r := &Rooms{Names: names, Free: free, unit: make([]float64, resources)}
	for _, room := range free {
		for d, n := range room {
			r.unit[d] += float64(max(n, 0))
		}
	}
	for d, sum := range r.unit {
		r.unit[d] = 1 / max(sum, 1)
	}
	for _, room := range free {
		r.left = append(r.left, r.Share(room))
	}
	return r
}

// Share is the sum of the shares that a size has of what is free.
func (r *Rooms) Share(v []int64) (sum float64) {
	for d, n := range v {
		sum += float64(n) * r.unit[d]
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
		best := r.tightest(size, skip)
		if best < 0 {
			break
		}
		taken, into = append(taken, best), append(into, r.Names[best])
		r.take(best, size, 1)
	}
	ok = len(taken) == len(order)
	if !ok || !keep {
		for j, i := range taken {
			r.take(i, order[j], -1)
		}
	}
	return into, ok
}

// Close lets a node take in nobody.
func (r *Rooms) Close(name string) {
	if i := slices.Index(r.Names, name); i >= 0 {
		r.Names, r.Free, r.left = slices.Delete(r.Names, i, i+1), slices.Delete(r.Free, i, i+1), slices.Delete(r.left, i, i+1)
	}
}

// tightest is the fullest of the rooms that hold a size, -1 if none does.
func (r *Rooms) tightest(size []int64, skip string) int {
	best := -1
rooms:
	for i, free := range r.Free {
		if best >= 0 && r.left[i] >= r.left[best] {
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

func (r *Rooms) take(i int, size []int64, sign int64) {
	for d, n := range size {
		r.Free[i][d] -= sign * n
	}
	r.left[i] -= float64(sign) * r.Share(size)
}
