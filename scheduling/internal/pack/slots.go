package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods of which a machine takes few need so many machines, however large these are. That is
// one more thing that machines have and pods ask for: every machine has one slot.

// slots is how many machines the pods that remain of some classes need at least because
// they cannot share them as they like.
func (f *filler) slots(classes []model.ClassID, remaining []int64) (most int64) {
	k := &f.pace
	if k.idle {
		return 0
	}
	clear(k.need)
	for _, c := range classes {
		if k.perNode[c] > 0 {
			most = max(most, (remaining[c]+k.perNode[c]-1)/k.perNode[c])
		}
		for _, m := range k.holds[c] {
			k.need[m.Crowd] += float64(m.Weight) * float64(remaining[c])
			room := f.p.PerNodeLimits[m.Crowd].Max
			most = max(most, (int64(k.need[m.Crowd])+room-1)/room)
		}
	}
	return most
}

// queue is the pods of a per-node limit, and the slots that they need.
type queue struct {
	need    float64
	shelves []shelf
}

// queues lists the per-node limits among some classes, which stand as arranged, that need nearly as
// many slots as there are machines, those first that need the most.
func (f *filler) queues(classes []model.ClassID, remaining []int64, machines float64) []queue {
	k := &f.pace
	if k.idle {
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
		if n := len(q.shelves); n == 0 || q.shelves[n-1].size != f.sizeOf[c] {
			q.shelves = append(q.shelves, shelf{size: f.sizeOf[c]})
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
			join(m.Crowd, c, float64(m.Weight)*float64(remaining[c])/float64(f.p.PerNodeLimits[m.Crowd].Max))
		}
	}
	out = slices.DeleteFunc(out, func(q queue) bool { return q.need < crowdedMost*machines })
	slices.SortStableFunc(out, func(a, b queue) int { return cmp.Compare(b.need, a.need) })
	return out
}

// seat adds a pod of each queue, as far as one fits.
func (f *filler) seat(queues []queue, option *model.Option, remaining []int64, values []float64) (worth float64) {
	for i := range queues {
		f.reopen(queues[i].shelves, values)
		if first := f.choose(remaining, values); first != nil {
			worth += f.takeFrom(first, option, remaining, values)
		}
	}
	return worth
}
