package greedy

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// paceSlack is the cap on a machine's cost in multiples of its even share of the remaining cost.
	paceSlack = 1.15
	// limitBoundShare is the number of machines that a per-node limit must need, as a share of the largest such
	// number, to be paced as well.
	limitBoundShare = 0.7
	// slowest is the slack at which pacing is given up.
	slowest = 1 << 20
)

// limitPacing keeps pods without per-node limits from running out too early. Where only a few of many pods may
// share a machine, many machines are needed. If an early machine takes more than its share of the other pods,
// the last limited pods end on machines of their own. So options above a cap wait, and every machine begins
// with one of the limited pods (a seed).
type limitPacing struct {
	slack     float64              // factor on the cap
	maxCost   []float64            // by row: cap on the cost of a machine
	slots     []float64            // by row: machines that the per-node limits need
	seeds     [][]SizeList         // by row: limited pods; empty where machines may do without
	perNode   []int64              // by class: model.Class.PerNode
	holds     [][]model.Membership // by class: per-node limits that it belongs to and enforces
	value     []float64            // by row: value of its pods
	load      []float64            // rows × dims: request of its pods
	rowValues []float64            // by class: total value of its rows
	need      []float64            // by per-node limit: counted weight
	count     float64              // machines that the counted pods need
	all       []model.ClassID
}

// measure sets the caps for the remaining pods. Values must be in the unit of costs.
func (f *Filler) measure(remaining []int64, values []float64) {
	k, s := &f.pace, &f.index
	rows, dims := len(s.lists), f.on.p.Dims
	if len(k.maxCost) < rows {
		k.maxCost, k.slots, k.value, k.seeds = make([]float64, rows), make([]float64, rows), make([]float64, rows), make([][]SizeList, rows)
		k.load = make([]float64, rows*dims)
	}
	k.all = k.all[:0]
	set := f.NodeLimits && f.Paced && k.slack <= slowest
	if set {
		f.apportion(remaining, values)
	}
	for r := range s.lists {
		k.maxCost[r], k.slots[r], k.seeds[r] = math.Inf(1), 0, k.seeds[r][:0]
		if !set || len(s.nodeLimited[r]) == 0 {
			continue
		}
		load := k.load[r*dims:][:dims]
		f.count(s.nodeLimited[r], remaining, k.value[r], load)
		k.slots[r] = k.count
		cost := 0.0
		for d, n := range load {
			cost = max(cost, n*s.m.rate[r][d])
		}
		if most := paceSlack * k.slack * cost / k.slots[r]; cost > 0 && k.slots[r] >= 2 && most < s.m.dearest[r] {
			k.maxCost[r] = most
			f.seed(r, s.nodeLimited[r], remaining)
		}
	}
}

// apportion sums up value and request of the pods of each row, where a class of several rows counts for an
// equal part in each, and for each limited class the value of its rows.
func (f *Filler) apportion(remaining []int64, values []float64) {
	k, s, dims := &f.pace, &f.index, f.on.p.Dims
	f.Work += int64(len(s.all))
	clear(k.load)
	for r, lists := range s.lists {
		k.value[r] = 0
		load := k.load[r*dims:][:dims]
		for _, x := range lists {
			pods := 0.0
			for _, c := range x.classes {
				part := float64(remaining[c]) / float64(f.rowsOf[c])
				k.value[r] += values[c] * part
				pods += part
			}
			for d, q := range f.scaled[int(x.size)*f.stride:][:dims] {
				load[d] += q * pods
			}
		}
	}
	for _, lists := range s.nodeLimited {
		for _, x := range lists {
			for _, c := range x.classes {
				k.rowValues[c] = 0
			}
		}
	}
	for r, lists := range s.nodeLimited {
		for _, x := range lists {
			for _, c := range x.classes {
				k.rowValues[c] += k.value[r]
			}
		}
	}
}

// count sums up each per-node limit in a row, and the least number of machines by it. Pods of classes with
// several rows are divided in proportion to the value of the rows. load is raised to the request of the row by
// this division.
func (f *Filler) count(tight []SizeList, remaining []int64, row float64, load []float64) {
	k, dims := &f.pace, f.on.p.Dims
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
			k.count = max(k.count, n/float64(f.on.p.PerNodeLimits[i].Max))
		}
	}
}

// part returns the number of pods of a class that count for a row of a value.
func (k *limitPacing) part(c model.ClassID, remaining []int64, row float64) float64 {
	if k.rowValues[c] > 0 {
		return float64(remaining[c]) * row / k.rowValues[c]
	}
	return float64(remaining[c])
}

// needs returns the number of machines that the counted pods of the limits of a class need.
func (f *Filler) needs(c model.ClassID, part float64) float64 {
	k, n := &f.pace, 0.0
	if k.perNode[c] > 0 {
		n = part / float64(k.perNode[c])
	}
	for _, m := range k.holds[c] {
		n = max(n, k.need[m.Limit]/float64(f.on.p.PerNodeLimits[m.Limit].Max))
	}
	return n
}

// seed lists the limited pods of a row.
func (f *Filler) seed(r int, tight []SizeList, remaining []int64) {
	k := &f.pace
	for _, x := range tight {
		from := len(k.all)
		for _, c := range x.classes {
			part := k.part(c, remaining, k.value[r])
			if part > 0 && f.needs(c, part) >= limitBoundShare*k.count {
				k.all = append(k.all, c)
			}
		}
		if len(k.all) > from {
			k.seeds[r] = append(k.seeds[r], SizeList{size: x.size, classes: k.all[from:len(k.all):len(k.all)]})
		}
	}
}

// findLimitBound reports, by class, whether its per-node limit needs nearly the largest number of machines.
func (f *Filler) findLimitBound() []bool {
	out := make([]bool, len(f.on.p.Classes))
	if !f.NodeLimits {
		return out
	}
	counts, all := make([]int64, len(f.on.p.Classes)), SizeList{}
	for c := range f.on.p.Classes {
		counts[c] = f.on.p.Classes[c].Count
		if f.hasNodeLimit(model.ClassID(c)) {
			all.classes = append(all.classes, model.ClassID(c))
		}
	}
	f.count([]SizeList{all}, counts, 0, make([]float64, f.on.p.Dims))
	f.FewestNodes = f.pace.count
	if f.pace.count >= 2 {
		for _, c := range all.classes {
			out[c] = f.needs(c, float64(counts[c])) >= limitBoundShare*f.pace.count
		}
	}
	return out
}

// LimitsOf returns the per-node limits that a class enforces, if they need nearly the largest number of
// machines, or else nil.
func (f *Filler) LimitsOf(c model.ClassID) []model.Membership {
	if !f.limitBound[c] {
		return nil
	}
	return f.pace.holds[c]
}

// hasNodeLimit reports whether a class has a per-node limit of its own or enforces a shared one.
func (f *Filler) hasNodeLimit(c model.ClassID) bool {
	return f.pace.perNode[c] > 0 || len(f.pace.holds[c]) > 0
}

// newLimitPacing finds the per-node limits of each class. A class that may not be on any machine has none.
func newLimitPacing(p *model.Problem, possible []bool) limitPacing {
	k := limitPacing{
		perNode:   make([]int64, len(p.Classes)),
		holds:     make([][]model.Membership, len(p.Classes)),
		rowValues: make([]float64, len(p.Classes)),
		need:      make([]float64, len(p.PerNodeLimits)),
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
