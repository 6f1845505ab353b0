package greedy

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// paceSlack is how much more than its part of what is left a machine may cost.
	paceSlack = 1.15
	// crowdedMost is how close a per-node limit must come to the one that needs the most
	// machines for its pods to count as crowded, too.
	crowdedMost = 0.7
	// slowest is how far the pace is slackened before it is given up.
	slowest = 1 << 20
)

// limitPacing keeps what may share machines with pods under per-node limits from running out before these
// do. Where only one, or a few, of many pods may sit on a machine, there will be many
// machines. One that is dearer than what is left for each of those to come takes more
// than its part, and the last of its pods end on machines of their own. So the dear
// ones wait, and every machine begins with one of them.
type limitPacing struct {
	slack   float64
	most    []float64            // by row, what a machine may cost for now
	slots   []float64            // by row, how many machines the pods under per-node limits need
	seeds   [][]Shelf            // by row, the pods under per-node limits; empty where machines may do without
	perNode []int64              // by class
	holds   [][]model.Membership // by class, the per-node limits that it belongs to and holds
	worth   []float64            // by row, what the pods there are worth
	load    []float64            // rows × dims, what they ask for
	across  []float64            // by class, what all pods of its rows are worth
	need    []float64            // by per-node limit, what was counted of it
	count   float64              // machines that what was counted needs
	all     []model.ClassID
}

// measure sets the pace for what is left on the shelves. Worths are in the unit of
// costs.
func (f *Filler) measure(remaining []int64, values []float64) {
	k, s := &f.pace, &f.stage
	rows, dims := len(s.shelves), f.p.Dims
	if len(k.most) < rows {
		k.most, k.slots, k.worth, k.seeds = make([]float64, rows), make([]float64, rows), make([]float64, rows), make([][]Shelf, rows)
		k.load = make([]float64, rows*dims)
	}
	k.all = k.all[:0]
	set := f.NodeLimits && f.Paced && k.slack <= slowest
	if set {
		f.apportion(remaining, values)
	}
	for r := range s.shelves {
		k.most[r], k.slots[r], k.seeds[r] = math.Inf(1), 0, k.seeds[r][:0]
		if !set || len(s.tight[r]) == 0 {
			continue
		}
		load := k.load[r*dims:][:dims]
		f.count(s.tight[r], remaining, k.worth[r], load)
		k.slots[r] = k.count
		cost := 0.0
		for d, n := range load {
			cost = max(cost, n*s.rate[r][d])
		}
		if most := paceSlack * k.slack * cost / k.slots[r]; cost > 0 && k.slots[r] >= 2 && most < s.dearest[r] {
			k.most[r] = most
			f.seed(r, s.tight[r], remaining)
		}
	}
}

// apportion finds out what the pods of each row are worth and ask for, where those that
// may go to several count in each for their part, and for each class that cannot share
// machines as it likes what the pods of its rows are worth together.
func (f *Filler) apportion(remaining []int64, values []float64) {
	k, s, dims := &f.pace, &f.stage, f.p.Dims
	f.Work += int64(len(s.all))
	clear(k.load)
	for r, shelves := range s.shelves {
		k.worth[r] = 0
		load := k.load[r*dims:][:dims]
		for _, x := range shelves {
			pods := 0.0
			for _, c := range x.classes {
				part := float64(remaining[c]) / float64(f.rowsOf[c])
				k.worth[r] += values[c] * part
				pods += part
			}
			for d, q := range f.scaled[int(x.size)*f.stride:][:dims] {
				load[d] += q * pods
			}
		}
	}
	for _, shelves := range s.tight {
		for _, x := range shelves {
			for _, c := range x.classes {
				k.across[c] = 0
			}
		}
	}
	for r, shelves := range s.tight {
		for _, x := range shelves {
			for _, c := range x.classes {
				k.across[c] += k.worth[r]
			}
		}
	}
}

// count adds up what each per-node limit needs of the machines of a row, and how many that makes
// at least, room aside. The pods of classes with several rows are divided among these by
// what the pods there are worth. load becomes what the row has to hold then.
func (f *Filler) count(tight []Shelf, remaining []int64, row float64, load []float64) {
	k, dims := &f.pace, f.p.Dims
	clear(k.need)
	k.count = 0
	for _, x := range tight {
		more := 0.0
		for _, c := range x.classes {
			part := k.part(c, remaining, row)
			more += part - float64(remaining[c])/float64(max(f.rowsOf[c], 1))
			if k.perNode[c] > 0 {
				k.count = max(k.count, part/float64(k.perNode[c]))
			}
			for _, m := range k.holds[c] {
				k.need[m.Limit] += float64(m.Weight) * part
			}
		}
		for d, q := range f.scaled[int(x.size)*f.stride:][:dims] {
			load[d] += q * more
		}
	}
	for i, n := range k.need {
		if n > 0 {
			k.count = max(k.count, n/float64(f.p.PerNodeLimits[i].Max))
		}
	}
}

// part is how many pods of a class count for a row that is worth so much.
func (k *limitPacing) part(c model.ClassID, remaining []int64, row float64) float64 {
	if k.across[c] > 0 {
		return float64(remaining[c]) * row / k.across[c]
	}
	return float64(remaining[c])
}

// needs is how many machines the pods of a class need with those that they may not
// share one with, of those that were counted.
func (f *Filler) needs(c model.ClassID, part float64) float64 {
	k, n := &f.pace, 0.0
	if k.perNode[c] > 0 {
		n = part / float64(k.perNode[c])
	}
	for _, m := range k.holds[c] {
		n = max(n, k.need[m.Limit]/float64(f.p.PerNodeLimits[m.Limit].Max))
	}
	return n
}

// seed lists the pods under per-node limits of a row.
func (f *Filler) seed(r int, tight []Shelf, remaining []int64) {
	k := &f.pace
	for _, x := range tight {
		from := len(k.all)
		for _, c := range x.classes {
			part := k.part(c, remaining, k.worth[r])
			if part > 0 && f.needs(c, part) >= crowdedMost*k.count {
				k.all = append(k.all, c)
			}
		}
		if len(k.all) > from {
			k.seeds[r] = append(k.seeds[r], Shelf{size: x.size, classes: k.all[from:len(k.all):len(k.all)]})
		}
	}
}

// findCrowded tells by class which pods are of those that need the most machines.
func (f *Filler) findCrowded() []bool {
	out := make([]bool, len(f.p.Classes))
	if !f.NodeLimits {
		return out
	}
	counts, all := make([]int64, len(f.p.Classes)), Shelf{}
	for c := range f.p.Classes {
		counts[c] = f.p.Classes[c].Count
		if f.tight(model.ClassID(c)) {
			all.classes = append(all.classes, model.ClassID(c))
		}
	}
	f.count([]Shelf{all}, counts, 0, make([]float64, f.p.Dims))
	f.FewestNodes = f.pace.count
	if f.pace.count >= 2 {
		for _, c := range all.classes {
			out[c] = f.needs(c, float64(counts[c])) >= crowdedMost*f.pace.count
		}
	}
	return out
}

// LimitsOf are the per-node limits that pods of a class hold machines to, where they are of those
// that need the most machines.
func (f *Filler) LimitsOf(c model.ClassID) []model.Membership {
	if !f.crowded[c] {
		return nil
	}
	return f.pace.holds[c]
}

// tight reports whether pods of a class cannot share machines as they like.
func (f *Filler) tight(c model.ClassID) bool {
	return f.pace.perNode[c] > 0 || len(f.pace.holds[c]) > 0
}

// newLimitPacing finds out which classes cannot share machines as they like. Those that may
// not even be alone have no pods on any.
func newLimitPacing(p *model.Problem, possible []bool) limitPacing {
	k := limitPacing{
		perNode: make([]int64, len(p.Classes)),
		holds:   make([][]model.Membership, len(p.Classes)),
		across:  make([]float64, len(p.Classes)),
		need:    make([]float64, len(p.PerNodeLimits)),
	}
	for c := range p.Classes {
		class := &p.Classes[c]
		if !possible[c] {
			continue
		}
		k.perNode[c] = class.PerNode
		for _, m := range class.PerNodeLimits {
			if m.Holds && m.Weight > 0 {
				k.holds[c] = append(k.holds[c], m)
			}
		}
	}
	return k
}
