package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// binFiller fills existing nodes, see [Filler.FillBins].
type binFiller struct {
	sizes   *classSizes
	machine *machineFill
	option  model.Option // stands for the bin, without a minValues floor
	lists   []SizeList
	classes []model.ClassID // backing array of lists
}

// fill fills bins one by one.
func (x *binFiller) fill(b *Bins, remaining []int64, values []float64) {
	f := x.machine
	classes, least := x.sizes.pending(remaining)
	if len(classes) == 0 {
		return
	}
	room := make([]int64, x.sizes.p.Dims) // total of all bins, by resource
	for i := range b.Room {
		for d, n := range b.Room[i] {
			room[d] += max(n, 0)
		}
	}
	values = x.binValues(classes, remaining, values, room)
	x.sizes.arrange(classes, values)
	for _, i := range x.roomiestLast(b, room) {
		bin := &x.sizes.p.Bins[i]
		if len(b.Items[i]) > 0 || !model.Fits(b.Room[i], least) {
			continue
		}
		lists := x.admittedLists(bin, classes, remaining)
		if len(lists) == 0 {
			continue
		}
		f.begin(b.Room[i])
		for _, y := range bin.Present {
			f.on.used[y.Limit] = y.N
		}
		f.fillUp(&x.option, lists, remaining, values)
		items := f.finish()
		for _, y := range bin.Present {
			f.on.used[y.Limit] = 0
		}
		b.Items[i] = slices.Clone(items)
		copy(b.Room[i], f.left)
		for _, it := range items {
			remaining[it.Class] -= it.N
		}
	}
}

// pending lists the classes with remaining pods, and the least request among them by resource.
func (z *classSizes) pending(remaining []int64) (classes []model.ClassID, least []int64) {
	for c, n := range remaining {
		if n <= 0 {
			continue
		}
		classes = append(classes, model.ClassID(c))
		request := z.p.Classes[c].Request
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
func (x *binFiller) binValues(classes []model.ClassID, remaining []int64, values []float64, room []int64) []float64 {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return values[c] <= 0 }) {
		return values
	}
	rate := make([]float64, x.sizes.p.Dims)
	for _, c := range classes {
		for d, q := range x.sizes.p.Classes[c].Request {
			rate[d] += float64(remaining[c]) * float64(q)
		}
	}
	for d := range rate {
		all := float64(max(room[d], 1))
		rate[d] /= all * all
	}
	out := make([]float64, len(values))
	for _, c := range classes {
		for d, q := range x.sizes.p.Classes[c].Request {
			out[c] += float64(q) * rate[d]
		}
	}
	return out
}

// roomiestLast returns the bins in ascending order of room.
func (x *binFiller) roomiestLast(b *Bins, room []int64) []int {
	share := make([]float64, len(b.Room))
	for i := range b.Room {
		for d, n := range b.Room[i] {
			share[i] += float64(max(n, 0)) / float64(max(room[d], 1))
		}
	}
	order := model.Every[int](len(x.sizes.p.Bins))
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(share[i], share[j]), cmp.Compare(i, j)) })
	return order
}

// admittedLists returns the arranged classes, by size, that a bin admits and that have remaining pods.
func (x *binFiller) admittedLists(bin *model.Bin, classes []model.ClassID, remaining []int64) []SizeList {
	x.lists, x.classes = x.lists[:0], slices.Grow(x.classes[:0], len(classes))
	for _, c := range classes {
		group := int(x.sizes.p.Classes[c].Group)
		if remaining[c] == 0 || !bin.Admits.Has(group) || bin.Soft.Has(group) {
			continue
		}
		if n := len(x.lists); n == 0 || x.lists[n-1].size != x.sizes.sizeOf[c] {
			x.lists = append(x.lists, SizeList{size: x.sizes.sizeOf[c]})
		}
		x.classes = append(x.classes, c)
		last := &x.lists[len(x.lists)-1]
		last.classes = x.classes[len(x.classes)-len(last.classes)-1:]
	}
	return x.lists
}
