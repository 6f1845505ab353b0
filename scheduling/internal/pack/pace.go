package pack

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// paceSlack is how much more than its part of what is left a machine may cost.
	paceSlack = 1.15
	// crowdedMost is how close a crowd must come to the one that needs the most
	// machines for its pods to count as crowded, too.
	crowdedMost = 0.7
	// slowest is how far the pace is slackened before it is given up.
	slowest = 1 << 20
)

// pace keeps what may share machines with crowded pods from running out before these
// do. Where only one, or a few, of many pods may sit on a machine, there will be many
// machines. One that is dearer than what is left for each of those to come takes more
// than its part, and the last of the crowd end on machines of their own. So the dear
// ones wait, and every machine begins with one of the crowd.
type pace struct {
	on      bool // worths and costs compare, so that it can be set
	idle    bool // nobody is crowded
	slack   float64
	most    []float64            // by row, what a machine may cost for now
	slots   []float64            // by row, how many machines the crowded pods need
	seeds   [][]shelf            // by row, the crowded pods; empty where machines may do without
	perNode []int64              // by class
	holds   [][]model.Membership // by class, the crowds that it belongs to and holds
	need    []int64              // by crowd, what was counted
	count   float64              // slots of what was counted
	all     []model.ClassID
}

// measure sets the pace for what is left on the shelves. Worths are in the unit of
// costs.
func (f *filler) measure(s *stage, remaining []int64, values []float64) {
	k := &f.pace
	rows := len(s.shelves)
	if len(k.most) < rows {
		k.most, k.slots, k.seeds = make([]float64, rows), make([]float64, rows), make([][]shelf, rows)
	}
	k.all = k.all[:0]
	for r, shelves := range s.shelves {
		k.most[r], k.slots[r], k.seeds[r] = math.Inf(1), 0, k.seeds[r][:0]
		if k.idle || !k.on || k.slack > slowest || len(shelves) == 0 {
			continue
		}
		worth := f.count(shelves, remaining, values)
		k.slots[r] = k.count
		if most := paceSlack * k.slack * worth / k.slots[r]; k.slots[r] >= 2 && most < s.dearest[r] {
			k.most[r] = most
			f.seed(r, shelves, remaining)
		}
	}
	if !k.idle {
		f.work += int64(len(s.all))
	}
}

// count adds up what the pods on shelves are worth, what each crowd needs, and how
// many machines that makes at least, room aside.
func (f *filler) count(shelves []shelf, remaining []int64, values []float64) (worth float64) {
	k := &f.pace
	clear(k.need)
	k.count = 0
	for _, x := range shelves {
		for _, c := range x.classes {
			worth += values[c] * float64(remaining[c])
			if k.perNode[c] > 0 {
				k.count = max(k.count, float64(remaining[c])/float64(k.perNode[c]))
			}
			for _, m := range k.holds[c] {
				k.need[m.Crowd] += m.Weight * remaining[c]
			}
		}
	}
	for i, n := range k.need {
		if n > 0 {
			k.count = max(k.count, float64(n)/float64(f.p.Crowds[i].Max))
		}
	}
	return worth
}

// needs is how many machines the pods of a class need with those that they may not
// share one with, of those that were counted.
func (f *filler) needs(c model.ClassID, remaining []int64) float64 {
	k, n := &f.pace, 0.0
	if k.perNode[c] > 0 {
		n = float64(remaining[c]) / float64(k.perNode[c])
	}
	for _, m := range k.holds[c] {
		n = max(n, float64(k.need[m.Crowd])/float64(f.p.Crowds[m.Crowd].Max))
	}
	return n
}

// seed lists the crowded pods of a row.
func (f *filler) seed(r int, shelves []shelf, remaining []int64) {
	k := &f.pace
	for _, x := range shelves {
		from := len(k.all)
		for _, c := range x.classes {
			if remaining[c] > 0 && f.needs(c, remaining) >= crowdedMost*k.count {
				k.all = append(k.all, c)
			}
		}
		if len(k.all) > from {
			k.seeds[r] = append(k.seeds[r], shelf{size: x.size, classes: k.all[from:len(k.all):len(k.all)]})
		}
	}
}

// crowded tells by class which pods are of those that need the most machines.
func (f *filler) crowded() []bool {
	out := make([]bool, len(f.p.Classes))
	if f.pace.idle {
		return out
	}
	counts, all := make([]int64, len(f.p.Classes)), shelf{}
	for c := range f.p.Classes {
		counts[c] = f.p.Classes[c].Count
		if f.possible[c] {
			all.classes = append(all.classes, model.ClassID(c))
		}
	}
	f.count([]shelf{all}, counts, make([]float64, len(counts)))
	if f.pace.count >= 2 {
		for _, c := range all.classes {
			out[c] = f.needs(c, counts) >= crowdedMost*f.pace.count
		}
	}
	return out
}

// newPace finds out which classes cannot share machines as they like. Those that may
// not even be alone have no pods on any.
func newPace(p *model.Problem, possible []bool) pace {
	k := pace{
		on: true, idle: true,
		perNode: make([]int64, len(p.Classes)),
		holds:   make([][]model.Membership, len(p.Classes)),
		need:    make([]int64, len(p.Crowds)),
	}
	for c := range p.Classes {
		class := &p.Classes[c]
		if !possible[c] {
			continue
		}
		k.perNode[c] = class.PerNode
		for _, m := range class.Crowds {
			if m.Holds && m.Weight > 0 {
				k.holds[c] = append(k.holds[c], m)
			}
		}
		k.idle = k.idle && class.PerNode == 0 && len(k.holds[c]) == 0
	}
	return k
}
