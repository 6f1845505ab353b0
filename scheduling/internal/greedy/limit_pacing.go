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
	machines  float64              // machines that the counted pods need
	all       []model.ClassID

	sizes      *classSizes
	limits     bool    // some class has a per-node limit
	fewest     float64 // machines that all classes need together, if all could use any machine
	limitBound []bool  // by class: its per-node limit decides the number of machines
}

// measure sets the caps for the remaining pods. Values must be in the unit of costs.
func (k *limitPacing) measure(s *classIndex, paced bool, remaining []int64, values []float64) {
	rows, dims := len(s.lists), k.sizes.p.Dims
	if len(k.maxCost) < rows {
		k.maxCost, k.slots, k.value, k.seeds = make([]float64, rows), make([]float64, rows), make([]float64, rows), make([][]SizeList, rows)
		k.load = make([]float64, rows*dims)
	}
	k.all = k.all[:0]
	if paced {
		k.apportion(s, remaining, values)
	}
	for r := range s.lists {
		k.maxCost[r], k.slots[r], k.seeds[r] = math.Inf(1), 0, k.seeds[r][:0]
		if !paced || len(s.nodeLimited[r]) == 0 {
			continue
		}
		load := k.load[r*dims:][:dims]
		k.count(s.rowsOf, s.nodeLimited[r], remaining, k.value[r], load)
		k.slots[r] = k.machines
		cost := 0.0
		for d, n := range load {
			cost = max(cost, n*s.m.rate[r][d])
		}
		if most := paceSlack * k.slack * cost / k.slots[r]; cost > 0 && k.slots[r] >= 2 && most < s.m.dearest[r] {
			k.maxCost[r] = most
			k.seed(r, s.nodeLimited[r], remaining)
		}
	}
}

// apportion sums up value and request of the pods of each row, where a class of several rows counts for an
// equal part in each, and for each limited class the value of its rows.
func (k *limitPacing) apportion(s *classIndex, remaining []int64, values []float64) {
	dims := k.sizes.p.Dims
	clear(k.load)
	for r, lists := range s.lists {
		k.value[r] = 0
		load := k.load[r*dims:][:dims]
		for _, x := range lists {
			pods := 0.0
			for _, c := range x.classes {
				part := float64(remaining[c]) / float64(s.rowsOf[c])
				k.value[r] += values[c] * part
				pods += part
			}
			for d, q := range k.sizes.scaled[int(x.size)*k.sizes.stride:][:dims] {
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
func (k *limitPacing) count(rowsOf []int32, tight []SizeList, remaining []int64, row float64, load []float64) {
	dims := k.sizes.p.Dims
	clear(k.need)
	k.machines = 0
	for _, x := range tight {
		more := 0.0
		for _, c := range x.classes {
			part := k.part(c, remaining, row)
			more += part - float64(remaining[c])/float64(max(rowsOf[c], 1))
			if k.perNode[c] > 0 {
				k.machines = max(k.machines, part/float64(k.perNode[c]))
			}
			for _, m := range k.holds[c] {
				k.need[m.Limit] += float64(m.Weight) * part
			}
		}
		for d, q := range k.sizes.scaled[int(x.size)*k.sizes.stride:][:dims] {
			load[d] += q * more
		}
	}
	for i, n := range k.need {
		if n > 0 {
			k.machines = max(k.machines, n/float64(k.sizes.p.PerNodeLimits[i].Max))
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
func (k *limitPacing) needs(c model.ClassID, part float64) float64 {
	n := 0.0
	if k.perNode[c] > 0 {
		n = part / float64(k.perNode[c])
	}
	for _, m := range k.holds[c] {
		n = max(n, k.need[m.Limit]/float64(k.sizes.p.PerNodeLimits[m.Limit].Max))
	}
	return n
}

// seed lists the limited pods of a row.
func (k *limitPacing) seed(r int, tight []SizeList, remaining []int64) {
	for _, x := range tight {
		from := len(k.all)
		for _, c := range x.classes {
			part := k.part(c, remaining, k.value[r])
			if part > 0 && k.needs(c, part) >= limitBoundShare*k.machines {
				k.all = append(k.all, c)
			}
		}
		if len(k.all) > from {
			k.seeds[r] = append(k.seeds[r], SizeList{size: x.size, classes: k.all[from:len(k.all):len(k.all)]})
		}
	}
}

// findLimitBound reports, by class, whether its per-node limit needs nearly the largest number of machines.
func (k *limitPacing) findLimitBound() []bool {
	out := make([]bool, len(k.sizes.p.Classes))
	if !k.limits {
		return out
	}
	counts, all := make([]int64, len(k.sizes.p.Classes)), SizeList{}
	for c := range k.sizes.p.Classes {
		counts[c] = k.sizes.p.Classes[c].Count
		if k.has(model.ClassID(c)) {
			all.classes = append(all.classes, model.ClassID(c))
		}
	}
	k.count(make([]int32, len(counts)), []SizeList{all}, counts, 0, make([]float64, k.sizes.p.Dims))
	k.fewest = k.machines
	if k.machines >= 2 {
		for _, c := range all.classes {
			out[c] = k.needs(c, float64(counts[c])) >= limitBoundShare*k.machines
		}
	}
	return out
}

// has reports whether a class has a per-node limit of its own or enforces a shared one.
func (k *limitPacing) has(c model.ClassID) bool {
	return k.perNode[c] > 0 || len(k.holds[c]) > 0
}

// newLimitPacing finds the per-node limits of each class. A class that may not be on any machine has none.
func newLimitPacing(sizes *classSizes) limitPacing {
	p := sizes.p
	k := limitPacing{
		sizes:     sizes,
		perNode:   make([]int64, len(p.Classes)),
		holds:     make([][]model.Membership, len(p.Classes)),
		rowValues: make([]float64, len(p.Classes)),
		need:      make([]float64, len(p.PerNodeLimits)),
	}
	for c := range p.Classes {
		class := &p.Classes[c]
		if !sizes.possible[c] {
			continue
		}
		k.perNode[c] = class.PerNode
		for _, m := range class.PerNodeLimits {
			if m.Holds && m.Weight > 0 {
				k.holds[c] = append(k.holds[c], m)
			}
		}
	}
	for c := range p.Classes {
		k.limits = k.limits || k.has(model.ClassID(c))
	}
	k.limitBound = k.findLimitBound()
	return k
}
