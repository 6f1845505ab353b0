package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// binFiller is scratch memory of FillBins.
type binFiller struct {
	option  model.Option // stands for the bin, without a minValues floor
	lists   []SizeList
	classes []model.ClassID // backing array of lists
}

// FillBins fills existing nodes one by one with remaining pods, the node with the least room first, in the way
// of new machines: so that no resource runs out before the others. It passes over bins with pods of this
// answer, and over bins whose PreferNoSchedule taint a pod does not tolerate.
func (f *Filler) FillBins(b *Bins, remaining []int64, values []float64) {
	classes, least := f.pending(remaining)
	if len(classes) == 0 {
		return
	}
	room := make([]int64, f.on.p.Dims) // total of all bins, by resource
	for i := range b.Room {
		for d, n := range b.Room[i] {
			room[d] += max(n, 0)
		}
	}
	values = f.binValues(classes, remaining, values, room)
	f.arrange(classes, values)
	for _, i := range f.roomiestLast(b, room) {
		bin := &f.on.p.Bins[i]
		if len(b.Items[i]) > 0 || !model.Fits(b.Room[i], least) {
			continue
		}
		lists := f.admittedLists(bin, classes, remaining)
		if len(lists) == 0 {
			continue
		}
		copy(f.left, b.Room[i])
		f.items = f.items[:0]
		for _, x := range bin.Present {
			f.on.used[x.Limit] = x.N
		}
		f.fillUp(&f.bin.option, lists, remaining, values)
		f.on.leave(f.items)
		for _, x := range bin.Present {
			f.on.used[x.Limit] = 0
		}
		b.Items[i] = slices.Clone(f.items)
		copy(b.Room[i], f.left)
		for _, it := range f.items {
			remaining[it.Class] -= it.N
		}
	}
}

// pending lists the classes with remaining pods, and the least request among them by resource.
func (f *Filler) pending(remaining []int64) (classes []model.ClassID, least []int64) {
	for c, n := range remaining {
		if n <= 0 {
			continue
		}
		classes = append(classes, model.ClassID(c))
		request := f.on.p.Classes[c].Request
		if least == nil {
			least = slices.Clone(request)
		}
		for d, q := range request {
			least[d] = min(least[d], q)
		}
	}
	return classes, least
}

// binValues returns the values for FillBins. Where some class fits no option, values are shares of the total
// room instead of prices, higher for scarcer resources, because the given values are 0 for such a class.
func (f *Filler) binValues(classes []model.ClassID, remaining []int64, values []float64, room []int64) []float64 {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return values[c] <= 0 }) {
		return values
	}
	rate := make([]float64, f.on.p.Dims)
	for _, c := range classes {
		for d, q := range f.on.p.Classes[c].Request {
			rate[d] += float64(remaining[c]) * float64(q)
		}
	}
	for d := range rate {
		all := float64(max(room[d], 1))
		rate[d] /= all * all
	}
	out := make([]float64, len(values))
	for _, c := range classes {
		for d, q := range f.on.p.Classes[c].Request {
			out[c] += float64(q) * rate[d]
		}
	}
	return out
}

// roomiestLast returns the bins in ascending order of room.
func (f *Filler) roomiestLast(b *Bins, room []int64) []int {
	share := make([]float64, len(b.Room))
	for i := range b.Room {
		for d, n := range b.Room[i] {
			share[i] += float64(max(n, 0)) / float64(max(room[d], 1))
		}
	}
	order := model.Every[int](len(f.on.p.Bins))
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(share[i], share[j]), cmp.Compare(i, j)) })
	return order
}

// admittedLists returns the arranged classes, by size, that a bin admits and that have remaining pods.
func (f *Filler) admittedLists(bin *model.Bin, classes []model.ClassID, remaining []int64) []SizeList {
	x := &f.bin
	x.lists, x.classes = x.lists[:0], slices.Grow(x.classes[:0], len(classes))
	for _, c := range classes {
		group := int(f.on.p.Classes[c].Group)
		if remaining[c] == 0 || !bin.Admits.Has(group) || bin.Soft.Has(group) {
			continue
		}
		if n := len(x.lists); n == 0 || x.lists[n-1].size != f.SizeOf[c] {
			x.lists = append(x.lists, SizeList{size: f.SizeOf[c]})
		}
		x.classes = append(x.classes, c)
		last := &x.lists[len(x.lists)-1]
		last.classes = x.classes[len(x.classes)-len(last.classes)-1:]
	}
	return x.lists
}
