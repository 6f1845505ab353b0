package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// rackedFrom is how many machines a blend must have for racks to be put up for them.
	rackedFrom = 64
	// rackSize is how many shelves stand in one rack, and bandSize how many of like shape
	// are sorted by how large they are.
	rackSize, bandSize = 16, 64
	// rackSlack is by what share the most that a rack could hold may be off.
	rackSlack = 1e-9
)

// racks are many shelves, those side by side that are alike in shape and size, so that racks
// are passed by where no class can be the best.
type racks struct {
	shelves  []shelf
	order    []int32   // shelves, rack by rack
	cursors  []cursor  // as they stand before a machine is filled, rack by rack
	requests []float64 // cursors × stride, scaled
	// bounds are by rack: per resource the least that a class there asks for, per resource
	// the most that any is worth for each unit, and the most that any is worth.
	bounds []float64

	// Of the machine that is being filled:
	open   []int32   // racks where something may still fit; −1 for those where nothing does
	most   []float64 // by place in open, what a class there could score at most; negative where that was looked at
	least  []float64 // by rack, no less than the best score there
	opened []bool    // by rack, whether its cursors are set
}

// shapes is what racks go by, once and for all.
type shapes struct {
	rank  []int32   // by size, its place in the order of shapes; nil until asked
	large []float64 // by size
}

// rack puts the shelves of a stage into racks, by row, where there are many.
func (f *filler) rack(s *stage, values []float64) {
	s.racks = slices.Grow(s.racks[:0], len(s.shelves))[:len(s.shelves)]
	for r, shelves := range s.shelves {
		if len(shelves) > manyOpen {
			f.putUp(&s.racks[r], shelves, values)
		}
	}
}

// racksOf are the racks of a row, nil where its shelves stand on their own.
func (s *stage) racksOf(row int32) *racks {
	if int(row) >= len(s.racks) || len(s.shelves[row]) <= manyOpen {
		return nil
	}
	return &s.racks[row]
}

// putUp puts shelves into racks, by what their first classes are worth.
func (f *filler) putUp(k *racks, shelves []shelf, values []float64) {
	k.shelves = shelves
	f.lineUp(k)
	n, stride := len(shelves), f.stride
	k.cursors, k.requests = slices.Grow(k.cursors[:0], n), slices.Grow(k.requests[:0], n*stride)
	k.bounds = slices.Grow(k.bounds[:0], (n/rackSize+1)*(2*stride+1))
	for rack := range slices.Chunk(k.order, rackSize) {
		from := len(k.bounds)
		k.bounds = k.bounds[:from+2*stride+1]
		bounds := k.bounds[from:]
		clear(bounds)
		least, per := bounds[:stride], bounds[stride:2*stride]
		for at, i := range rack {
			x := &shelves[i]
			worth, request := values[x.classes[0]], f.scaled[int(x.size)*stride:][:stride]
			k.cursors = append(k.cursors, cursor{worth: worth, size: x.size, shelf: i})
			k.requests = append(k.requests, request...)
			for d, q := range request {
				if at == 0 || q < least[d] {
					least[d] = q
				}
				if q > 0 {
					per[d] = max(per[d], worth/q)
				} else {
					per[d] = math.Inf(1)
				}
			}
			bounds[2*stride] = max(bounds[2*stride], worth)
		}
	}
}

// lineUp sorts shelves by shape, and those of like shape by how large they are.
func (f *filler) lineUp(k *racks) {
	if f.shapes.rank == nil {
		f.sortShapes()
	}
	k.order = slices.Grow(k.order[:0], len(f.requests))[:len(f.requests)]
	for rank := range k.order {
		k.order[rank] = -1
	}
	for i := range k.shelves {
		k.order[f.shapes.rank[k.shelves[i].size]] = int32(i)
	}
	k.order = slices.DeleteFunc(k.order, func(i int32) bool { return i < 0 })
	large := func(i int32) float64 { return f.shapes.large[k.shelves[i].size] }
	for band := range slices.Chunk(k.order, bandSize) {
		slices.SortFunc(band, func(a, b int32) int { return cmp.Or(cmp.Compare(large(a), large(b)), cmp.Compare(a, b)) })
	}
}

// sortShapes sorts sizes by shape: by how much they ask of the first resource of which not
// all ask for as much, beside what they ask of the second.
func (f *filler) sortShapes() {
	n := len(f.requests)
	x := shapes{rank: make([]int32, n), large: make([]float64, n)}
	var differ []int
	for d := range f.p.Dims {
		if slices.ContainsFunc(f.requests, func(q []int64) bool { return q[d] != f.requests[0][d] }) {
			differ = append(differ, d)
		}
	}
	slope := make([]float64, n)
	for at, d := range differ[:min(len(differ), 2)] {
		sum := 0.0
		for _, q := range f.requests {
			sum += float64(q[d])
		}
		for size, q := range f.requests {
			part := float64(q[d]) / sum
			if x.large[size] += part; at == 0 {
				slope[size] = part
			}
		}
	}
	order := make([]int32, n)
	for size := range order {
		order[size] = int32(size)
		if x.large[size] > 0 {
			slope[size] /= x.large[size]
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(slope[a], slope[b]), cmp.Compare(a, b)) })
	for rank, size := range order {
		x.rank[size] = int32(rank)
	}
	f.shapes = x
}

// enter begins a machine that is filled from racks.
func (f *filler) enter(k *racks) {
	n := (len(k.cursors) + rackSize - 1) / rackSize
	k.open, k.most = slices.Grow(k.open[:0], n)[:n], slices.Grow(k.most[:0], n)[:n]
	k.least, k.opened = slices.Grow(k.least[:0], n)[:n], slices.Grow(k.opened[:0], n)[:n]
	for r := range k.open {
		k.open[r], k.least[r], k.opened[r] = int32(r), math.Inf(1), false
	}
	f.shelves, f.cursors = k.shelves, slices.Grow(f.cursors[:0], len(k.cursors))[:len(k.cursors)]
}

// bestInRacks returns the cursor whose class to take next, or nil: it looks where a class
// could be better than the best so far, and first where it could be best. Scores never rise
// while a machine is filled.
func (f *filler) bestInRacks(k *racks, remaining []int64, values []float64) (best *cursor) {
	f.bound(k)
	score := -1.0
	for best == nil {
		first := -1
		for at, most := range k.most {
			if most >= 0 && (first < 0 || most > k.most[first]) {
				first = at
			}
		}
		if first < 0 {
			return nil
		}
		best, score = f.look(k, first, best, score, remaining, values)
	}
	for at := range k.most {
		if k.most[at] >= score {
			best, score = f.look(k, at, best, score, remaining, values)
		}
	}
	return best
}

// bound works out what the classes of each rack could score at most, and drops racks where
// nothing fits any more.
func (f *filler) bound(k *racks) {
	stride, kept := f.stride, 0
	for _, r := range k.open {
		if r < 0 {
			continue
		}
		bounds := k.bounds[int(r)*(2*stride+1):][:2*stride+1]
		share, most := 0.0, math.Inf(1)
		for d, inverse := range f.inverse {
			if share = max(share, bounds[d]*inverse); inverse > 0 {
				most = min(most, bounds[stride+d]/inverse)
			}
		}
		if share > 1+rackSlack {
			continue
		}
		k.open[kept], k.most[kept] = r, min(k.least[r], (1+rackSlack)*(most+bigFirst*bounds[2*stride]))
		kept++
	}
	// What is passed by counts as looked at, so that as much is improved later as without racks.
	f.work += int64(kept) * rackSize
	k.open, k.most = k.open[:kept], k.most[:kept]
}

// look looks for a better cursor than the best so far in an open rack.
func (f *filler) look(k *racks, at int, best *cursor, bestScore float64, remaining []int64, values []float64) (*cursor, float64) {
	r, stride := k.open[at], f.stride
	from := int(r) * rackSize
	cursors := f.cursors[from:min(from+rackSize, len(f.cursors))]
	if !k.opened[r] {
		k.opened[r] = true
		copy(cursors, k.cursors[from:])
	}
	most := -1.0
	for i := range cursors {
		x := &cursors[i]
		if x.worth < 0 {
			continue
		}
		share := f.shareOf(k.requests[(from+i)*stride:][:stride])
		if share > 1 && !model.Fits(f.left, f.requests[x.size]) {
			x.worth = -1
			continue
		}
		score := x.worth * density(share)
		if score > bestScore {
			if !f.advance(x, remaining, values) {
				continue
			}
			if score = x.worth * density(share); score > bestScore {
				best, bestScore = x, score
			}
		}
		most = max(most, score)
	}
	if k.most[at], k.least[r] = -1, most*(1+rackSlack); most < 0 {
		k.open[at] = -1
	}
	return best, bestScore
}
