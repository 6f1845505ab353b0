package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// teachFill is how many usual pods a machine has to have room for that it does not matter
	// that they are whole.
	teachFill = 24
	// teachMost is how many needs are learned.
	teachMost = 40
)

// needHolders asks for one of the machines that could hold some pod, where not all could.
func (x *refleet) needHolders() {
	var sets [][]bool
	includes := func(all, some []bool) bool {
		for i, has := range some {
			if has && !all[i] {
				return false
			}
		}
		return true
	}
	for _, c := range x.classes {
		class := &x.p.Classes[c]
		set, every := make([]bool, len(x.m.options)), true
		for _, at := range x.places {
			set[at] = x.m.rows[x.m.row[at]].Has(int(class.Group)) && model.Fits(x.p.Options[x.m.options[at]].Room, class.Request)
			every = every && set[at]
		}
		if every || slices.ContainsFunc(sets, func(have []bool) bool { return includes(set, have) }) {
			continue
		}
		sets = slices.DeleteFunc(sets, func(have []bool) bool { return includes(have, set) })
		sets = append(sets, set)
	}
	x.fill.work += int64(len(x.classes) * (1 + len(sets)))
	for _, set := range sets {
		y := make(need, len(x.m.options))
		for at, has := range set {
			if has {
				y[at] = 1
			}
		}
		x.needs = append(x.needs, y)
	}
}

// teach is learn for many machines, of which most of the pods are on large ones. Those hold no
// more worth than their room has by what pods are worth for it on some other machine, and
// beyond that the pods that do not fit there.
func (x *refleet) teach(q *squeeze) {
	margin := max(leastMargin, q.margin)
	worths, sum := make([]float64, len(x.p.Classes)), 0.0
	for _, c := range x.classes {
		worths[c] = q.burden(c, margin)
		sum += worths[c] * float64(x.total[c])
	}
	if sum == 0 {
		return
	}
	x.fill.work += int64(len(x.classes) * len(q.nodes) / squeezeWork)
	y := make(need, len(x.m.options))
	var small, large []int
	for _, at := range x.places {
		if q.usualPods(x.m.options[at]) < teachFill {
			small = append(small, at)
			continue
		}
		large = append(large, at)
		y[at] = 1
	}
	x.hold(y, small, worths, sum)
	for i := range q.nodes {
		x.teachBy(q, i, large, worths, sum, margin, y)
	}
	x.ask(q, y)
}

// teachBy lowers what large machines hold to what a machine of a squeeze says of them.
func (x *refleet) teachBy(q *squeeze, i int, large []int, worths []float64, sum, margin float64, y need) {
	own := &x.p.Options[q.nodes[i].Option]
	row := x.m.rows[x.m.rowOf[q.nodes[i].Option]]
	rates := make([]float64, q.dims)
	for d := range rates {
		rates[d] = max(0, q.over[i*q.dims+d]+margin)
	}
	var beyond []model.ClassID
	for _, c := range x.classes {
		if !model.Fits(own.Room, x.p.Classes[c].Request) && row.Has(int(x.p.Classes[c].Group)) {
			beyond = append(beyond, c)
		}
	}
	x.fill.work += int64(len(x.classes)) / squeezeWork
	for _, at := range large {
		admits := x.m.rows[x.m.row[at]]
		if !row.Contains(admits) {
			continue
		}
		room, worth := x.p.Options[x.m.options[at]].Room, 0.0
		for d, n := range room {
			worth += rates[d] * float64(n) * q.usual[d]
		}
		if worth >= y[at]*sum {
			continue
		}
		for _, c := range beyond {
			if !admits.Has(int(x.p.Classes[c].Group)) || !model.Fits(room, x.p.Classes[c].Request) {
				continue
			}
			more := worths[c]
			for d, v := range q.sizeOf(c) {
				more -= rates[d] * v
			}
			worth += max(0, more) * float64(x.total[c])
		}
		x.fill.work += int64(len(beyond)) / squeezeWork
		y[at] = min(y[at], worth/sum)
	}
}

// usualPods is how many pods of the usual size an option has room for.
func (x *squeeze) usualPods(o model.OptionID) (least float64) {
	for d, n := range x.p.Options[o].Room {
		if v := float64(n) * x.usual[d]; d == 0 || v < least {
			least = v
		}
	}
	return least
}
