package model

import (
	"cmp"
	"iter"
	"slices"
)

// Rooms is an index of bins by room, resource by resource, to find bins with enough of everything without
// looking at all of them. It is immutable.
type Rooms struct {
	Of    [][]int64 // by resource, by bin
	Order [][]int32 // by resource, the bins: least room first, then by number
	tree  *roomTree // nil where there are no resources
}

// NewRooms indexes bins with the given room.
func NewRooms(dims int, rooms [][]int64) *Rooms {
	every := make([]int32, len(rooms))
	for i := range every {
		every[i] = int32(i)
	}
	r := &Rooms{}
	for d := range dims {
		of := make([]int64, len(rooms))
		for i, room := range rooms {
			of[i] = room[d]
		}
		order := slices.Clone(every)
		sortByRoom(order, of)
		r.Of, r.Order = append(r.Of, of), append(r.Order, order)
	}
	if dims > 0 {
		r.tree = newRoomTree(r, len(rooms))
	}
	return r
}

// sortByRoom sorts bins by their room of one resource.
func sortByRoom(bins []int32, of []int64) {
	slices.SortFunc(bins, func(a, b int32) int { return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(a, b)) })
}

// Renewed returns the index of bins most of which are in r. number is the new number of each bin of r, −1 if it
// is gone; otherwise it must be ascending.
func (r *Rooms) Renewed(number []int32, rooms [][]int64) *Rooms {
	known := make([]bool, len(rooms))
	for _, n := range number {
		if n >= 0 {
			known[n] = true
		}
	}
	var fresh []int32
	for i := range rooms {
		if !known[i] {
			fresh = append(fresh, int32(i))
		}
	}
	out := &Rooms{}
	for d := range r.Of {
		of, order := make([]int64, len(rooms)), make([]int32, 0, len(rooms))
		for i, n := range number {
			if n >= 0 {
				of[n] = r.Of[d][i]
			}
		}
		for _, n := range fresh {
			of[n] = rooms[n][d]
		}
		sortByRoom(fresh, of)
		next := 0
		for _, old := range r.Order[d] {
			n := number[old]
			if n < 0 {
				continue
			}
			for ; next < len(fresh) && (of[fresh[next]] < of[n] || of[fresh[next]] == of[n] && fresh[next] < n); next++ {
				order = append(order, fresh[next])
			}
			order = append(order, n)
		}
		out.Of, out.Order = append(out.Of, of), append(out.Order, append(order, fresh[next:]...))
	}
	if r.tree != nil {
		out.tree = r.tree.renewed(out, number, fresh)
	}
	return out
}

// Above returns the first position in the order of resource d at which bins have at least least.
func (r *Rooms) Above(d int, least int64) int {
	of := r.Of[d]
	at, _ := slices.BinarySearchFunc(r.Order[d], least, func(i int32, least int64) int {
		if of[i] < least {
			return -1
		}
		return 1
	})
	return at
}

// Fit reports whether a bin has room for a request.
func (r *Rooms) Fit(i int32, request []int64) bool {
	for d, q := range request {
		if r.Of[d][i] < q {
			return false
		}
	}
	return true
}

// Fitting yields the bins with room for a request, in ascending order of the resource that the fewest bins have
// enough of.
func (r *Rooms) Fitting(request []int64) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		d, from := r.scarcest(request)
		for _, i := range r.Order[d][from:] {
			if r.Fit(i, request) && !yield(i) {
				return
			}
		}
	}
}

// scarcest returns the resource that the fewest bins have enough of, and the position in its order from which
// on they do.
func (r *Rooms) scarcest(request []int64) (d, from int) {
	for i, q := range request {
		if at := r.Above(i, q); i == 0 || at > from {
			d, from = i, at
		}
	}
	return d, from
}
