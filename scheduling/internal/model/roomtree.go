package model

import (
	"math"
	"slices"
)

const (
	// treeLeaf is up to how many bins are looked at one by one.
	treeLeaf = 8
	// treeStrays is what part of the bins may have come or gone until the tree is grown anew.
	treeStrays = 4
)

// roomTree finds bins that a request fills nearly: it halves them again and again, each time
// by the resource of which they differ the most, and knows of every part the least and the
// most that a bin of it has. It is not changed once it is grown.
type roomTree struct {
	dims, depth int
	slots       []int32 // the bins, part after part; -1 for those that are gone
	rooms       []int64 // by slot, dims each
	boxes       []int64 // by part, the least of every resource, then the most
	strays      []int32 // bins that have come since, ascending
}

// newRoomTree grows a tree of all bins.
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

// grow measures the part of the slots from one to another, and halves it.
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

// halve moves those bins to the front that have the least, so many of them.
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

// renewed is a tree of the bins of r, most of which are those of t, see [Rooms.Renewed]: those
// that have come are strays. It is nil where these are too many.
func (t *roomTree) renewed(r *Rooms, number, fresh []int32) *roomTree {
	n, gone := *t, 0
	n.slots, n.strays = slices.Clone(t.slots), slices.Clone(fresh)
	for at, i := range n.slots {
		if i >= 0 {
			n.slots[at] = number[i]
		}
		if n.slots[at] < 0 {
			gone++
		}
	}
	for _, i := range t.strays {
		if now := number[i]; now >= 0 {
			n.strays = append(n.strays, now)
		}
	}
	slices.Sort(n.strays)
	if (gone+len(n.strays))*treeStrays > len(n.slots) {
		return newRoomTree(r, len(r.Of[0]))
	}
	return &n
}

// nearly looks at one part after the other.
type nearly struct {
	*roomTree
	request []int64
	most    float64
	visit   func(bin int32, left float64) (most float64)
}

// Nearly visits bins with room for a request, about in the order of what it leaves free of
// them: of the resource that is requested of which most is left, the share. It leaves out those
// of which more is left free than visit has returned last.
func (r *Rooms) Nearly(request []int64, visit func(bin int32, left float64) (most float64)) {
	if r.tree == nil {
		return
	}
	x := nearly{r.tree, request, math.Inf(1), visit}
	room := make([]int64, x.dims)
	for _, i := range x.strays {
		for d := range room {
			room[d] = r.Of[d][i]
		}
		x.bin(i, room)
	}
	if left, fits := x.left(0); fits {
		x.part(0, 0, len(x.slots), left)
	}
}

// left is how much at least is left free of the bins of a part, and whether any could fit.
func (x *nearly) left(part int) (left float64, fits bool) {
	box := x.boxes[2*x.dims*part:][:2*x.dims]
	for d, q := range x.request {
		if q > box[x.dims+d] {
			return 0, false
		}
		if room := box[d]; q > 0 && room > q {
			left = max(left, float64(room-q)/float64(room))
		}
	}
	// What is reckoned of a bin may differ by a rounding error.
	return left * (1 - 1e-9), true
}

// bin visits a bin with so much room, if that is enough and not too much.
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

// part visits the bins of a part, of which so much is left free at least.
func (x *nearly) part(part, from, to int, left float64) {
	if left > x.most {
		return
	}
	if 2*part+2 >= 1<<(x.depth+1) {
		for at, i := range x.slots[from:to] {
			if i >= 0 {
				x.bin(i, x.rooms[(from+at)*x.dims:][:x.dims])
			}
		}
		return
	}
	middle := (from + to) / 2
	low, fitsLow := x.left(2*part + 1)
	high, fitsHigh := x.left(2*part + 2)
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
