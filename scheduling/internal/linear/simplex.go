package linear

import (
	"cmp"
	"math"
	"slices"
)

// cost returns the cost of a basic variable.
func (c *Cover) cost(j int) float64 {
	switch {
	case j >= 0:
		return c.columns[j].Cost
	case -1-j < len(c.wanted):
		return c.standIn[-1-j]
	}
	return 0
}

// choose returns the column or surplus to enter, and whether any gains.
func (c *Cover) choose() (entering int, gains bool) {
	entering, best := c.chooseColumn()
	gains = entering >= 0
	for r, worth := range c.duals {
		// A negative dual means that the surplus of the row gains.
		if -worth > tolerance*c.standIn[r] && (!gains || -worth > best*c.standIn[r]) {
			entering, gains, best = -1-len(c.wanted)-r, true, -worth/c.standIn[r]
		}
	}
	return entering, gains
}

// chooseColumn returns the column with the largest gain per cost; −1 for none.
func (c *Cover) chooseColumn() (column int, best float64) {
	column, best = -1, tolerance
	many := len(c.columns) >= manyColumns
	if many {
		for _, x := range c.candidates {
			if gain := c.Gain(x.column); gain > best {
				column, best = x.column, gain
			}
		}
		c.looked += int64(len(c.candidates))
		if column >= 0 {
			return column, best
		}
	}
	c.candidates = c.candidates[:0]
	for j := range c.columns {
		gain := c.Gain(j)
		if gain > tolerance && many {
			c.candidates = append(c.candidates, candidate{j, gain})
		}
		if gain > best {
			column, best = j, gain
		}
	}
	c.looked += int64(len(c.columns))
	if len(c.candidates) > mostCandidates {
		slices.SortStableFunc(c.candidates, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
		c.candidates = c.candidates[:mostCandidates]
	}
	return column, best
}

// surplus returns a column's value by the duals minus its cost.
func (c *Cover) surplus(x *Column) float64 {
	sum := -x.Cost
	for k, r := range x.Rows {
		sum += c.duals[r] * x.Amounts[k]
	}
	return sum
}

// upper returns the upper bound of a variable.
func (c *Cover) upper(j int) float64 {
	if j >= 0 && c.columns[j].Upper > 0 {
		return c.columns[j].Upper
	}
	return math.Inf(1)
}

// pivot brings a variable into the basis, or moves it from one bound to the other. It reports false for an
// unbounded direction.
func (c *Cover) pivot(entering int) bool {
	sign, most := 1.0, c.upper(entering)
	if entering >= 0 && c.place[entering] == atUpper {
		sign = -1
	}
	gain := c.loadColumn(entering)
	leaving, up := c.ratioTest(sign, most)
	if leaving >= 0 {
		j := c.basis[leaving]
		if c.exchange(leaving, entering, gain, sign*c.room(leaving, sign, 0)); up {
			c.place[j] = atUpper
		}
		return true
	}
	if math.IsInf(most, 1) {
		return false
	}
	for i, v := range c.entry {
		c.x[i] -= sign * most * v
	}
	c.place[entering] = nowhere + atUpper - c.place[entering]
	return true
}

// loadColumn computes a variable's column in terms of the basis, and returns its value by the duals minus its
// cost.
func (c *Cover) loadColumn(j int) (gain float64) {
	n := len(c.wanted)
	x := Column{Rows: []int32{0}, Amounts: []float64{1}}
	switch {
	case j >= 0:
		x = c.columns[j]
	case -1-j < n:
		x.Rows[0], x.Cost = int32(-1-j), c.standIn[-1-j]
	default:
		x.Rows[0], x.Amounts[0] = int32(-1-n-j), -1
	}
	for i := range n {
		row, sum := c.inverse[i*n:][:n], 0.0
		for k, r := range x.Rows {
			sum += row[r] * x.Amounts[k]
		}
		c.entry[i] = sum
	}
	c.work += int64(n * len(x.Rows))
	return c.surplus(&x)
}

// room returns how far the entering variable may go until basic variable i is beyond its bound by a distance.
func (c *Cover) room(i int, sign, beyond float64) float64 {
	switch v := sign * c.entry[i]; {
	case v > smallest:
		return (max(0, c.x[i]) + beyond) / v
	case v < -smallest:
		return (max(0, c.upper(c.basis[i])-c.x[i]) + beyond) / -v
	}
	return math.Inf(1)
}

// ratioTest returns the leaving variable, and whether it leaves at its upper bound; −1 where the entering
// variable reaches its other bound first. Among ties the shifts decide, so that no basis repeats.
func (c *Cover) ratioTest(sign, most float64) (leaving int, up bool) {
	step := most
	for i := range c.entry {
		step = min(step, c.room(i, sign, boundSlack))
	}
	first := 0.0
	if leaving = -1; most > step {
		first = math.Inf(1)
	}
	for i, v := range c.entry {
		room := c.room(i, sign, 0)
		if shift := sign * c.shifts[i] / v; room <= step && !math.IsInf(room, 1) && shift < first {
			leaving, first, up = i, shift, sign*v < 0
		}
	}
	return leaving, up
}

// exchange replaces a basic variable by the entering one, whose column is in entry, at a step.
func (c *Cover) exchange(leaving, entering int, gain, step float64) {
	shift := c.shifts[leaving] / c.entry[leaving]
	for i, v := range c.entry {
		c.x[i] -= step * v
		c.shifts[i] -= shift * v
	}
	c.x[leaving], c.shifts[leaving] = step, shift
	if j := c.basis[leaving]; j >= 0 {
		c.place[j] = nowhere
	}
	if c.basis[leaving] = entering; entering >= 0 {
		if c.place[entering] == atUpper {
			c.x[leaving] += c.columns[entering].Upper
		}
		c.place[entering] = leaving
	}
	c.eliminate(leaving, gain)
	c.since++
}

// eliminate updates inverse and duals after a pivot.
func (c *Cover) eliminate(leaving int, gain float64) {
	n := len(c.wanted)
	scale := 1 / c.entry[leaving]
	row := c.inverse[leaving*n:][:n]
	c.nonzero = c.nonzero[:0]
	for d, p := range row {
		if p != 0 {
			row[d] *= scale
			c.nonzero = append(c.nonzero, int32(d))
		}
	}
	for i, v := range c.entry {
		if i == leaving || v == 0 {
			continue
		}
		other := c.inverse[i*n:][:n]
		for _, d := range c.nonzero {
			other[d] -= v * row[d]
		}
		c.work += int64(len(c.nonzero))
	}
	for _, d := range c.nonzero {
		c.duals[d] -= gain * row[d]
	}
}

// refresh computes inverse, solution and duals from the basis: its variables enter one by one, each at its
// largest entry. It starts from the stand-ins where rounding errors have made the basis singular.
func (c *Cover) refresh() {
	n := len(c.wanted)
	clear(c.inverse)
	clear(c.duals)
	copy(c.x, c.wanted)
	for j, at := range c.place {
		if x := &c.columns[j]; at == atUpper {
			for e, r := range x.Rows {
				c.x[r] -= x.Amounts[e] * x.Upper
			}
		}
	}
	basis, shifts, free := slices.Clone(c.basis), slices.Clone(c.shifts), make([]bool, n)
	for i := range n {
		c.inverse[i*n+i], free[i] = 1, true
	}
	order := make([]int, n)
	for k := range n {
		order[k], c.basis[k] = k, -1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.size(basis[a]), c.size(basis[b])) })
	at := make([]int, n)
	for _, k := range order {
		gain := c.loadColumn(basis[k])
		best := -1
		for i, v := range c.entry {
			if free[i] && (best < 0 || math.Abs(v) > math.Abs(c.entry[best])) {
				best = i
			}
		}
		if !(math.Abs(c.entry[best]) >= leastPivot) {
			c.begin()
			return
		}
		c.exchange(best, basis[k], gain, c.x[best]/c.entry[best])
		free[best], at[k] = false, best
	}
	for k, i := range at {
		c.shifts[i] = shifts[k]
	}
	c.since = 0
}

// size returns the number of rows of a variable.
func (c *Cover) size(j int) int {
	if j < 0 {
		return 1
	}
	return len(c.columns[j].Rows)
}
