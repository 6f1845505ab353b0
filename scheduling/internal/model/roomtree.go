package model

import (
	"math"
	"slices"
)

const (
	// treeLeaf is the number of bins below which they are scanned.
	treeLeaf = 8
	// rebuildShare is the part of bins added or removed, as a divisor, above which the tree is built again.
	rebuildShare = 4
)

// roomTree is a k-d tree of bins that finds those that a request nearly fills: it halves the bins by the
// resource in which they differ most, and knows the least and the most of each resource in every part. It is
// immutable.
type roomTree struct {
	dims, depth int
	slots       []int32 // bins, part after part; −1 for removed ones
	rooms       []int64 // by slot, dims each
	boxes       []int64 // by part: the least of every resource, then the most
	added       []int32 // bins added since the tree was built, ascending
}

// newRoomTree builds a tree of all bins.
func newRoomTree(r *Rooms, bins int) *roomTree {
	t := &roomTree{dims: len(r.Of)}
	for bins>>t.depth > treeLeaf {
		t.depth++
	}
	t.slots = make([]int32, bins)
	for i := range t.slots {
		t.slots[i] = int32(i)
	}
	t.boxes = make([]int64, 2*t.dims<<(t.depth+1))
	if bins > 0 {
		t.grow(r, 0, 0, bins)
	}
	t.rooms = make([]int64, 0, t.dims*bins)
	for _, i := range t.slots {
		for d := range r.Of {
			t.rooms = append(t.rooms, r.Of[d][i])
		}
	}
	return t
}

// grow computes the box of the part with a range of slots, and divides it.
func (t *roomTree) grow(r *Rooms, part, from, to int) {
	box, slots := t.boxes[2*t.dims*part:][:2*t.dims], t.slots[from:to]
	widest, width := 0, -1.0
	for d, of := range r.Of {
		least, most := of[slots[0]], of[slots[0]]
		for _, i := range slots {
			least, most = min(least, of[i]), max(most, of[i])
		}
		box[d], box[t.dims+d] = least, most
		if w := float64(most-least) / float64(max(most, 1)); w > width {
			widest, width = d, w
		}
	}
	if 2*part+2 >= 1<<(t.depth+1) {
		return
	}
	middle := (from + to) / 2
	halve(slots, middle-from, r.Of[widest])
	t.grow(r, 2*part+1, from, middle)
	t.grow(r, 2*part+2, middle, to)
}

// halve moves the front bins with the least of a resource to the beginning (quickselect).
func halve(bins []int32, front int, of []int64) {
	for len(bins) > 1 {
		a, b, c := of[bins[0]], of[bins[len(bins)/2]], of[bins[len(bins)-1]]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(bins)-1
		for i <= j {
			for of[bins[i]] < pivot {
				i++
			}
			for of[bins[j]] > pivot {
				j--
			}
			if i <= j {
				bins[i], bins[j] = bins[j], bins[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case front <= j:
			bins = bins[:j+1]
		case front > i:
			bins, front = bins[i:], front-i
		default:
			return
		}
	}
}

// renewed returns the tree of the bins of r, most of which are in t; see [Rooms.Renewed]. New bins are listed
// apart, and the tree is built again where there are too many.
func (t *roomTree) renewed(r *Rooms, number, fresh []int32) *roomTree {
	n, gone := *t, 0
	n.slots, n.added = slices.Clone(t.slots), slices.Clone(fresh)
	for at, i := range n.slots {
		if i >= 0 {
			n.slots[at] = number[i]
		}
		if n.slots[at] < 0 {
			gone++
		}
	}
	for _, i := range t.added {
		if now := number[i]; now >= 0 {
			n.added = append(n.added, now)
		}
	}
	slices.Sort(n.added)
	if (gone+len(n.added))*rebuildShare > len(n.slots) {
		return newRoomTree(r, len(r.Of[0]))
	}
	return &n
}

// nearly is a search in a roomTree.
type nearly struct {
	t       *roomTree
	request []int64
	most    float64 // left share above which bins are skipped
	visit   func(bin int32, left float64) (most float64)
}

// Nearly visits bins with room for a request, roughly in ascending order of the share that stays free of the
// requested resource with the largest free share. It skips bins with a larger share than the last result of
// visit.
func (r *Rooms) Nearly(request []int64, visit func(bin int32, left float64) (most float64)) {
	if r.tree == nil {
		return
	}
	x := nearly{r.tree, request, math.Inf(1), visit}
	room := make([]int64, x.t.dims)
	for _, i := range x.t.added {
		for d := range room {
			room[d] = r.Of[d][i]
		}
		x.bin(i, room)
	}
	if left, fits := x.leastLeft(0); fits {
		x.part(0, 0, len(x.t.slots), left)
	}
}

// leastLeft returns a lower bound of the free share of the bins of a part, and whether any could fit.
func (x *nearly) leastLeft(part int) (left float64, fits bool) {
	box := x.t.boxes[2*x.t.dims*part:][:2*x.t.dims]
	for d, q := range x.request {
		if q > box[x.t.dims+d] {
			return 0, false
		}
		if room := box[d]; q > 0 && room > q {
			left = max(left, float64(room-q)/float64(room))
		}
	}
	// The share of a single bin may differ by a rounding error.
	return left * (1 - 1e-9), true
}

// bin visits a bin with this room, if it fits and its free share is not above most.
func (x *nearly) bin(i int32, room []int64) {
	left := 0.0
	for d, q := range x.request {
		n := room[d]
		if n < q {
			return
		}
		if q > 0 {
			left = max(left, float64(n-q)/float64(n))
		}
	}
	if left <= x.most {
		x.most = x.visit(i, left)
	}
}

// part visits the bins of a part whose free share is at least left.
func (x *nearly) part(part, from, to int, left float64) {
	if left > x.most {
		return
	}
	if 2*part+2 >= 1<<(x.t.depth+1) {
		for at, i := range x.t.slots[from:to] {
			if i >= 0 {
				x.bin(i, x.t.rooms[(from+at)*x.t.dims:][:x.t.dims])
			}
		}
		return
	}
	middle := (from + to) / 2
	low, fitsLow := x.leastLeft(2*part + 1)
	high, fitsHigh := x.leastLeft(2*part + 2)
	if fitsLow && (low <= high || !fitsHigh) {
		x.part(2*part+1, from, middle, low)
	}
	if fitsHigh {
		x.part(2*part+2, middle, to, high)
	}
	if fitsLow && fitsHigh && low > high {
		x.part(2*part+1, from, middle, low)
	}
}
