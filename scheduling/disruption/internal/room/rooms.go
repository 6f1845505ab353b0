package room

import (
	"cmp"
	"slices"
)

// Rooms is the free capacity of nodes that take in pods. Free has one vector for each of Names, in units of each
// resource.
type Rooms struct {
	Names     []string
	Free      [][]int64
	freeShare []float64 // by node, the sum over the resources of free capacity, as Share counts it
	perUnit   []float64 // by resource, 1 divided by the free capacity of all nodes
}

// New is the free capacity of nodes, with vectors of so many resources. It owns both slices.
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

// Share is the sum over the resources of the share that a vector has of all free capacity.
func (r *Rooms) Share(v []int64) (sum float64) {
	for d, n := range v {
		sum += float64(n) * r.perUnit[d]
	}
	return sum
}

// Put packs vectors into free capacity by best-fit decreasing: the largest first, each on the fullest node that holds
// it. It returns the nodes and whether all fit. If all fit and keep is set, the capacity is used from now on. The
// node skip is left out.
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

// Close lets a node take in no pods.
func (r *Rooms) Close(name string) {
	if i := slices.Index(r.Names, name); i >= 0 {
		r.Names, r.Free, r.freeShare = slices.Delete(r.Names, i, i+1), slices.Delete(r.Free, i, i+1), slices.Delete(r.freeShare, i, i+1)
	}
}

// bestFit is the index of the fullest node that holds a vector, -1 if none does.
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

// use takes a vector off the free capacity of a node, or gives it back with sign -1.
func (r *Rooms) use(i int, size []int64, sign int64) {
	for d, n := range size {
		r.Free[i][d] -= sign * n
	}
	r.freeShare[i] -= float64(sign) * r.Share(size)
}
