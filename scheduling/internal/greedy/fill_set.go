package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// FillSet fills a given set of machines in their order, so that each gets its share of every resource and none
// runs out before the others. It lowers remaining and returns empty machines to the budget.
func (f *Filler) FillSet(m *Market, fleet []int, classes []model.ClassID, remaining []int64, values []float64, b *Budget) []model.Node {
	dims := f.sizes.p.Dims
	f.Index(m, fleet, classes, values)
	asked, room := make([]float64, dims), make([]float64, dims)
	for _, c := range classes {
		for d, q := range f.sizes.p.Classes[c].Request {
			asked[d] += float64(q) * float64(remaining[c])
		}
	}
	for _, at := range fleet {
		for d, n := range f.sizes.p.Options[m.Options[at]].Room {
			room[d] += float64(n)
		}
	}
	var out []model.Node
	for i, at := range fleet {
		o := m.Options[at]
		option := &f.sizes.p.Options[o]
		f.machine.reserved = f.machine.reserved[:0]
		if i < len(fleet)-1 {
			for d, n := range option.Room {
				spare := max(0, room[d]-asked[d])
				f.machine.reserved = append(f.machine.reserved, int64(float64(n)*spare/max(room[d], 1)))
			}
		}
		if f.NodeLimits {
			there := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return !m.Rows[m.Row[at]].Has(int(f.sizes.p.Classes[c].Group)) })
			f.machine.queued = f.pace.queues(there, remaining, float64(len(fleet)-i))
		}
		items, _ := f.Fill(at, nil, remaining, values)
		for d, n := range option.Room {
			room[d] -= float64(n)
		}
		if len(items) == 0 {
			b.Spend(option, -1)
			continue
		}
		for _, it := range items {
			remaining[it.Class] -= it.N
			for d, q := range f.sizes.p.Classes[it.Class].Request {
				asked[d] -= float64(q) * float64(it.N)
			}
		}
		out = append(out, model.Node{Option: o, N: 1, Items: slices.Clone(items)})
	}
	f.machine.reserved, f.machine.queued = f.machine.reserved[:0], nil
	return out
}

// queue is the classes of a per-node limit and the number of machines that they need.
type queue struct {
	need  float64
	lists []SizeList
}

// queues lists the per-node limits among some arranged classes that need nearly as many machines as there are,
// the largest need first.
func (k *limitPacing) queues(classes []model.ClassID, remaining []int64, machines float64) []queue {
	if !k.limits {
		return nil
	}
	var out []queue
	index := map[int32]int{}
	join := func(key int32, c model.ClassID, need float64) {
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, queue{})
		}
		q := &out[at]
		q.need += need
		if n := len(q.lists); n == 0 || q.lists[n-1].size != k.sizes.sizeOf[c] {
			q.lists = append(q.lists, SizeList{size: k.sizes.sizeOf[c]})
		}
		x := &q.lists[len(q.lists)-1]
		x.classes = append(x.classes, c)
	}
	for _, c := range classes {
		if remaining[c] == 0 {
			continue
		}
		if k.perNode[c] > 0 {
			join(-1-int32(c), c, float64(remaining[c])/float64(k.perNode[c]))
		}
		for _, m := range k.holds[c] {
			join(m.Limit, c, float64(m.Weight)*float64(remaining[c])/float64(k.sizes.p.PerNodeLimits[m.Limit].Max))
		}
	}
	out = slices.DeleteFunc(out, func(q queue) bool { return q.need < limitBoundShare*machines })
	slices.SortStableFunc(out, func(a, b queue) int { return cmp.Compare(b.need, a.need) })
	return out
}
