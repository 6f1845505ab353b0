package greedy

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Outfit puts pods onto the machines of a fleet, in the order in which they stand, so
// that each gets its part of every resource and none runs out before the others. It
// lowers remaining by what they hold, and gives machines back that stay empty.
func (f *Filler) Outfit(m *Market, fleet []int, classes []model.ClassID, remaining []int64, values []float64, b *Budget) []model.Node {
	dims := f.p.Dims
	f.Index(m, fleet, classes, values)
	asked, room := make([]float64, dims), make([]float64, dims)
	for _, c := range classes {
		for d, q := range f.p.Classes[c].Request {
			asked[d] += float64(q) * float64(remaining[c])
		}
	}
	for _, at := range fleet {
		for d, n := range f.p.Options[m.Options[at]].Room {
			room[d] += float64(n)
		}
	}
	var out []model.Node
	for i, at := range fleet {
		o := m.Options[at]
		option := &f.p.Options[o]
		f.hold = f.hold[:0]
		if i < len(fleet)-1 {
			for d, n := range option.Room {
				spare := max(0, room[d]-asked[d])
				f.hold = append(f.hold, int64(float64(n)*spare/max(room[d], 1)))
			}
		}
		if f.NodeLimits {
			there := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return !m.Rows[m.Row[at]].Has(int(f.p.Classes[c].Group)) })
			f.ahead = f.queues(there, remaining, float64(len(fleet)-i))
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
			for d, q := range f.p.Classes[it.Class].Request {
				asked[d] -= float64(q) * float64(it.N)
			}
		}
		out = append(out, model.Node{Option: o, N: 1, Items: slices.Clone(items)})
	}
	f.hold, f.ahead = f.hold[:0], nil
	return out
}

// queue is the pods of a per-node limit, and the slots that they need.
type queue struct {
	need    float64
	shelves []Shelf
}

// queues lists the per-node limits among some classes, which stand as arranged, that need nearly as
// many slots as there are machines, those first that need the most.
func (f *Filler) queues(classes []model.ClassID, remaining []int64, machines float64) []queue {
	k := &f.pace
	if !f.NodeLimits {
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
		if n := len(q.shelves); n == 0 || q.shelves[n-1].size != f.SizeOf[c] {
			q.shelves = append(q.shelves, Shelf{size: f.SizeOf[c]})
		}
		x := &q.shelves[len(q.shelves)-1]
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
			join(m.Limit, c, float64(m.Weight)*float64(remaining[c])/float64(f.p.PerNodeLimits[m.Limit].Max))
		}
	}
	out = slices.DeleteFunc(out, func(q queue) bool { return q.need < crowdedMost*machines })
	slices.SortStableFunc(out, func(a, b queue) int { return cmp.Compare(b.need, a.need) })
	return out
}

// seat adds a pod of each queue, as far as one fits.
func (f *Filler) seat(queues []queue, option *model.Option, remaining []int64, values []float64) (worth float64) {
	for i := range queues {
		f.reopen(queues[i].shelves, values)
		if first := f.choose(remaining, values); first != nil {
			worth += f.takeFrom(first, option, remaining, values)
		}
	}
	return worth
}
