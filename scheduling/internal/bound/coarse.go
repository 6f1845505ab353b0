package bound

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// fewClasses is how many classes are too few to be merged.
	fewClasses = 48
	// shareSteps is how finely merging tells apart what pods pay for, and least the
	// share of its price that a resource counts with though it seems to be worth less.
	shareSteps, leastShare = 12, 0.1
)

// coarse is the same assignment with alike classes merged into one: those that may use
// the same machines, and to whose cost each resource contributes about the same. Their
// pods add up, and each counts as their average. It says nearly the same of machines and
// takes a fraction of the time. merged is the coarse class of each class. It returns nil
// where that hardly makes a difference.
func (a *assignment) coarse(start *vector) (c *assignment, merged []int) {
	if len(a.demand) < fewClasses {
		return nil, nil
	}
	users := a.fingerprints()
	merged = make([]int, len(a.demand))
	index := make(map[string]int)
	m := &Market{Dims: a.market.Dims, Supplies: a.market.Supplies}
	var sums [][]float64
	var key []byte
	costs := make([]float64, len(a.dims))
	for i := range a.demand {
		class := &a.market.Classes[i]
		key = binary.LittleEndian.AppendUint64(key[:0], users[i][0])
		key = binary.LittleEndian.AppendUint64(key, users[i][1])
		key = a.appendShares(key, i, start, costs)
		if class.PerNode > 0 || a.demand[i] == 0 {
			key = binary.AppendVarint(key, int64(i)) // on its own
		}
		at, known := index[string(key)]
		if !known {
			at = len(m.Classes)
			index[string(key)] = at
			m.Classes = append(m.Classes, Class{Size: make([]int64, m.Dims), PerNode: class.PerNode})
			sums = append(sums, make([]float64, m.Dims))
		}
		merged[i] = at
		m.Classes[at].Count += class.Count
		for d, n := range class.Size {
			sums[at][d] += float64(n) * float64(class.Count)
		}
	}
	if 3*len(m.Classes) > 2*len(a.demand) {
		return nil, nil
	}
	for at, sum := range sums {
		for d, n := range sum {
			if count := m.Classes[at].Count; count > 0 {
				m.Classes[at].Size[d] = int64(min(math.Round(n/float64(count)), 1<<62))
			}
		}
	}
	c = &assignment{
		market: m, machines: a.mergedMachines(merged, len(m.Classes)), prices: a.prices, caps: a.caps,
		dims: a.dims, unit: a.unit, price: a.price, late: a.late,
	}
	c.measure()
	clear(c.demand)
	for i, n := range a.demand {
		c.demand[merged[i]] += n
		if a.scarce.Has(i) {
			c.scarce.Set(merged[i])
		}
	}
	return c, merged
}

// mergedMachines are the machines as merged classes see them.
func (a *assignment) mergedMachines(merged []int, classes int) []machine {
	out := slices.Clone(a.machines)
	for i := range out {
		out[i].users = model.NewBits(classes)
		a.machines[i].users.Each(func(class int) { out[i].users.Set(merged[class]) })
	}
	return out
}

// merging is the search among merged classes, and what it starts from.
type merging struct {
	fine, coarse *assignment
	merged       []int
	first, start *vector // of classes, and of merged ones
	few          []candidate
}

// merge begins a search among merged classes, nil where merging hardly makes a difference.
func (a *assignment) merge(first *vector, work int64) *merging {
	c, merged := a.coarse(first)
	if c == nil {
		return nil
	}
	start := c.vector(first.values)
	c.best = c.makeFeasible(slices.Clone(start.worths), []vector{start})
	return &merging{fine: a, coarse: c, merged: merged, first: first, start: &start, few: c.few(&start, work)}
}

// rounds goes on with the search, proposes what it finds for the classes themselves, and
// returns the machines that matter to them.
func (x *merging) rounds(work *int64) []candidate {
	x.few = x.coarse.rounds(x.start, x.few, work)
	return x.fine.refine(x.first, x.coarse, x.merged, x.few)
}

// fingerprints are equal for classes that may use the same machines, and almost
// certainly for no others.
func (a *assignment) fingerprints() [][2]uint64 {
	out := make([][2]uint64, len(a.demand))
	for i := range a.machines {
		// What multiplies the golden ratio is spread evenly.
		x := scrambled(uint64(2*i + 1))
		y := scrambled(uint64(2*i + 2))
		a.machines[i].users.Each(func(c int) {
			out[c][0] += x
			out[c][1] += y
		})
	}
	return out
}

// scrambled is a number that looks random (the finaliser of SplitMix64).
func scrambled(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendShares appends in steps how much each resource contributes to a pod's cost.
func (a *assignment) appendShares(key []byte, class int, start *vector, costs []float64) []byte {
	total := 0.0
	for e, n := range a.size(class) {
		// The largest machine has a capacity of 1 and a price of at most 1.
		costs[e] = n * max(start.values[e], leastShare/float64(len(costs)))
		total += costs[e]
	}
	for _, cost := range costs {
		key = append(key, byte(math.Round(shareSteps*cost/max(total, 1e-300))))
	}
	return key
}

// refine proposes what is known of merged classes for the classes themselves, and returns
// the machines that mattered.
func (a *assignment) refine(start *vector, c *assignment, merged []int, few []candidate) []candidate {
	if next := a.refined([]vector{*start}, c, merged); next.value > a.best.value {
		a.best = next
	}
	out := a.limited()
	for _, x := range few {
		if x.supply < 0 && x.machine >= 0 {
			out = append(out, a.candidate(x.machine))
		}
	}
	return out
}

// refined turns what is known of merged classes into a proposal for the classes
// themselves. vectors are some to begin with.
func (a *assignment) refined(vectors []vector, c *assignment, merged []int) *proposal {
	number := make(map[int]int) // of the coarse vectors
	at := make([]int, len(a.machines))
	for i, k := range c.best.proof {
		n, known := number[k]
		if !known {
			n = len(vectors)
			number[k] = n
			vectors = append(vectors, a.vector(c.best.vectors[k].values))
		}
		at[i] = n
	}
	worths := make([]float64, len(a.demand))
	least := make([]float64, len(c.demand)) // by coarse class: the least that a machine leaves it
	for k := range least {
		least[k] = math.Inf(1)
		for _, i := range c.usersOf()[k] {
			least[k] = min(least[k], c.best.vectors[c.best.proof[i]].worths[k])
		}
	}
	for class, sellers := range a.usersOf() {
		w := math.Inf(1)
		for _, i := range sellers {
			w = min(w, vectors[at[i]].worths[class])
		}
		if k := merged[class]; w > 0 && !math.IsInf(w, 1) {
			worths[class] = beyond(w, c.best.worths[k], least[k])
		} else if a.demand[class] > 0 {
			worths[class] = c.best.worths[k]
		}
	}
	return a.makeFeasible(worths, vectors)
}

// beyond is a worth raised by as much as a merged one is beyond what resources leave it: as many
// times as much, or where they leave it nothing to speak of, as much as that.
func beyond(worth, merged, left float64) float64 {
	if raised := worth * max(1, merged/left); raised < math.MaxFloat64 && left > 0 {
		return raised
	}
	return max(worth, merged)
}

// settled settles worths and, where there are so few classes that it takes no time,
// polishes them: what is exact proves plans optimal.
func (a *assignment) settled(worths []float64, vectors []vector) *proposal {
	p := a.makeFeasible(worths, vectors)
	if len(a.demand) < fewClasses {
		p = a.polish(p)
	}
	return p
}
