package pack

import (
	"math"
	"slices"

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
	on    bool // worths and costs compare, so that it can be set
	idle  bool // no pods are crowded
	slack float64
	most  []float64 // by row, what a machine may cost for now
	slots []float64 // by row, how many machines the crowded pods need
	seeds [][]shelf // by row, the crowded pods; nil where machines may do without
	need  []int64   // by crowd
	all   []model.ClassID
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
		if k.idle || !k.on || k.slack > slowest {
			continue
		}
		worth := f.count(shelves, remaining, values)
		k.slots[r] = f.slots(shelves, remaining)
		if most := paceSlack * k.slack * worth / k.slots[r]; k.slots[r] >= 2 && most < s.dearest[r] {
			k.most[r] = most
			f.seed(r, shelves, remaining)
		}
	}
}

// count adds up what the pods of a row are worth, and what its crowds need.
func (f *filler) count(shelves []shelf, remaining []int64, values []float64) float64 {
	worth := 0.0
	clear(f.pace.need)
	for _, x := range shelves {
		for _, c := range x.classes {
			worth += values[c] * float64(remaining[c])
			for _, m := range f.p.Classes[c].Crowds {
				if m.Holds {
					f.pace.need[m.Crowd] += m.Weight * remaining[c]
				}
			}
		}
	}
	return worth
}

// slots is how many machines the pods of a row need at least, room aside.
func (f *filler) slots(shelves []shelf, remaining []int64) float64 {
	most := 0.0
	for _, x := range shelves {
		for _, c := range x.classes {
			most = max(most, f.needs(c, remaining))
		}
	}
	return most
}

// needs is how many machines the pods of a class need with those that they may not
// share one with, after what has been counted for its row.
func (f *filler) needs(c model.ClassID, remaining []int64) float64 {
	class := &f.p.Classes[c]
	if remaining[c] == 0 {
		return 0
	}
	n := 0.0
	if class.PerNode > 0 {
		n = float64(remaining[c]) / float64(class.PerNode)
	}
	for _, m := range class.Crowds {
		if m.Holds && m.Weight > 0 {
			n = max(n, float64(f.pace.need[m.Crowd])/float64(f.p.Crowds[m.Crowd].Max))
		}
	}
	return n
}

// seed lists the crowded pods of a row.
func (f *filler) seed(r int, shelves []shelf, remaining []int64) {
	k := &f.pace
	for _, x := range shelves {
		from := len(k.all)
		for _, c := range x.classes {
			if f.needs(c, remaining) >= crowdedMost*k.slots[r] {
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
	counts, worthless := make([]int64, len(f.p.Classes)), make([]float64, len(f.p.Classes))
	all := shelf{}
	for c := range f.p.Classes {
		counts[c] = f.p.Classes[c].Count
		if f.possible[c] {
			all.classes = append(all.classes, model.ClassID(c))
		}
	}
	f.count([]shelf{all}, counts, worthless)
	out := make([]bool, len(f.p.Classes))
	if most := f.slots([]shelf{all}, counts); most >= 2 {
		for _, c := range all.classes {
			out[c] = f.needs(c, counts) >= crowdedMost*most
		}
	}
	return out
}

// mayCrowd reports whether pods of a class cannot share machines as they like.
func mayCrowd(class model.Class) bool {
	return class.PerNode > 0 || slices.ContainsFunc(class.Crowds, func(m model.Membership) bool { return m.Holds && m.Weight > 0 })
}
