package model

import (
	"cmp"
	"iter"
	"slices"
)

// Rooms is the room of bins resource by resource, and the bins in its order, for whoever
// looks for bins that have enough of everything without looking at all of them. It is not
// changed once it is made.
type Rooms struct {
	Of    [][]int64 // by resource, by bin
	Order [][]int32 // by resource, the bins: least room first, then by number
	tree  *roomTree // nil where there are no resources
}

// NewRooms puts bins with so much room in order.
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

// sortByRoom sorts bins by the room that they have of a resource.
func sortByRoom(bins []int32, of []int64) {
	slices.SortFunc(bins, func(a, b int32) int { return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(a, b)) })
}

// Renewed is the rooms of bins most of which are those of r: number says what number each
// of these has now, -1 for those that are gone, and is ascending but for them.
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

// Above is the first place in the order of a resource at which bins have so much of it.
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

// Fitting are the bins with room for a request, those first that have least of the resource that
// the fewest have.
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

// scarcest is the resource of which the fewest bins have what a request asks for, and the
// place in its order from which on they stand.
func (r *Rooms) scarcest(request []int64) (d, from int) {
	for i, q := range request {
		if at := r.Above(i, q); i == 0 || at > from {
			d, from = i, at
		}
	}
	return d, from
}
