package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// binFiller is scratch memory for filling bins.
type binFiller struct {
	option  model.Option // stands for the bin
	shelves []Shelf
	classes []model.ClassID // what the shelves are slices of
}

// FillBins puts remaining pods onto the bins, one bin after the other, as new machines are
// filled: such that none runs out of a resource before the others. Bins with the least room
// come first. Bins that hold some of the pods already are passed over, as are pods that would
// rather avoid a bin.
func (f *Filler) FillBins(b *Bins, remaining []int64, values []float64) {
	classes, least := f.pending(remaining)
	if len(classes) == 0 {
		return
	}
	room := make([]int64, f.p.Dims) // that all bins have
	for i := range b.Room {
		for d, n := range b.Room[i] {
			room[d] += max(n, 0)
		}
	}
	values = f.binValues(classes, remaining, values, room)
	f.arrange(classes, values)
	for _, i := range f.roomiestLast(b, room) {
		bin := &f.p.Bins[i]
		if len(b.Items[i]) > 0 || !model.Fits(b.Room[i], least) {
			continue
		}
		shelves := f.shelve(bin, classes, remaining)
		if len(shelves) == 0 {
			continue
		}
		copy(f.left, b.Room[i])
		f.items = f.items[:0]
		for _, x := range bin.Present {
			f.used[x.Limit] = x.N
		}
		f.fillUp(&f.bin.option, shelves, remaining, values)
		f.leave(f.items)
		for _, x := range bin.Present {
			f.used[x.Limit] = 0
		}
		b.Items[i] = slices.Clone(f.items)
		copy(b.Room[i], f.left)
		for _, it := range f.items {
			remaining[it.Class] -= it.N
		}
	}
}

// pending lists the classes with pods left, and the least that any of them asks for.
func (f *Filler) pending(remaining []int64) (classes []model.ClassID, least []int64) {
	for c, n := range remaining {
		if n <= 0 {
			continue
		}
		classes = append(classes, model.ClassID(c))
		request := f.p.Classes[c].Request
		if least == nil {
			least = slices.Clone(request)
		}
		for d, q := range request {
			least[d] = min(least[d], q)
		}
	}
	return classes, least
}

// binValues are the worths by which bins are filled: where something is not for sale, what
// pods take of the room that all bins have, the more of what is scarce.
func (f *Filler) binValues(classes []model.ClassID, remaining []int64, values []float64, room []int64) []float64 {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return values[c] <= 0 }) {
		return values
	}
	rate := make([]float64, f.p.Dims)
	for _, c := range classes {
		for d, q := range f.p.Classes[c].Request {
			rate[d] += float64(remaining[c]) * float64(q)
		}
	}
	for d := range rate {
		all := float64(max(room[d], 1))
		rate[d] /= all * all
	}
	out := make([]float64, len(values))
	for _, c := range classes {
		for d, q := range f.p.Classes[c].Request {
			out[c] += float64(q) * rate[d]
		}
	}
	return out
}

// roomiestLast are the bins in the order of the room that they have.
func (f *Filler) roomiestLast(b *Bins, room []int64) []int {
	share := make([]float64, len(b.Room))
	for i := range b.Room {
		for d, n := range b.Room[i] {
			share[i] += float64(max(n, 0)) / float64(max(room[d], 1))
		}
	}
	order := model.Every[int](len(f.p.Bins))
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(share[i], share[j]), cmp.Compare(i, j)) })
	return order
}

// shelve puts those of the classes on shelves, as they stand, that have pods left for a bin.
func (f *Filler) shelve(bin *model.Bin, classes []model.ClassID, remaining []int64) []Shelf {
	x := &f.bin
	x.shelves, x.classes = x.shelves[:0], slices.Grow(x.classes[:0], len(classes))
	for _, c := range classes {
		group := int(f.p.Classes[c].Group)
		if remaining[c] == 0 || !bin.Admits.Has(group) || bin.Soft.Has(group) {
			continue
		}
		if n := len(x.shelves); n == 0 || x.shelves[n-1].size != f.SizeOf[c] {
			x.shelves = append(x.shelves, Shelf{size: f.SizeOf[c]})
		}
		x.classes = append(x.classes, c)
		last := &x.shelves[len(x.shelves)-1]
		last.classes = x.classes[len(x.classes)-len(last.classes)-1:]
	}
	return x.shelves
}
