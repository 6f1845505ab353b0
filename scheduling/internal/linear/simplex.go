package linear

import (
	"cmp"
	"math"
	"slices"
)

// cost is that of a variable of the basis.
func (c *Cover) cost(j int) float64 {
	switch {
	case j >= 0:
		return c.columns[j].Cost
	case -1-j < len(c.wanted):
		return c.standIn[-1-j]
	}
	return 0
}

// choose returns the column, or the row whose surplus, to enter the basis; −1 for none.
func (c *Cover) choose(first bool) (column, surplus int) {
	column, best := c.chooseColumn(first)
	if first && column >= 0 {
		return column, -1
	}
	surplus = -1
	for r, worth := range c.worths {
		// A unit for nothing is as good as any gain.
		if -worth > tolerance*c.standIn[r] && (column < 0 || -worth > best*c.standIn[r]) {
			column, surplus, best = -1, r, -worth/c.standIn[r]
			if first {
				break
			}
		}
	}
	return column, surplus
}

// chooseColumn returns the column that gains most for its cost, or the first that gains, and
// how much; −1 for none.
func (c *Cover) chooseColumn(first bool) (column int, best float64) {
	column, best = -1, tolerance
	many := len(c.columns) >= manyColumns && !first
	if many {
		for _, x := range c.hopes {
			if gain := c.Gain(x.column); gain > best {
				column, best = x.column, gain
			}
		}
		c.looked += int64(len(c.hopes))
		if column >= 0 {
			return column, best
		}
	}
	c.hopes = c.hopes[:0]
	for j := range c.columns {
		gain := c.Gain(j)
		if gain > tolerance && many {
			c.hopes = append(c.hopes, hope{j, gain})
		}
		if gain > best {
			column, best = j, gain
			if first {
				break
			}
		}
	}
	c.looked += int64(len(c.columns))
	if len(c.hopes) > hopefuls {
		slices.SortStableFunc(c.hopes, func(a, b hope) int { return cmp.Compare(b.gain, a.gain) })
		c.hopes = c.hopes[:hopefuls]
	}
	return column, best
}

// surplusWorth is what a column is worth above its cost.
func (c *Cover) surplusWorth(x *Column) float64 {
	sum := -x.Cost
	for k, r := range x.Rows {
		sum += c.worths[r] * x.Amounts[k]
	}
	return sum
}

// upper is how much there is of a variable.
func (c *Cover) upper(j int) float64 {
	if j >= 0 && c.columns[j].Upper > 0 {
		return c.columns[j].Upper
	}
	return math.Inf(1)
}

// pivot brings a column, or the surplus of a row, into the basis, or takes a column from one of its
// bounds to the other.
func (c *Cover) pivot(column, surplus int) (step float64, ok bool) {
	gain, sign, most := 0.0, 1.0, math.Inf(1)
	if column >= 0 {
		x := &c.columns[column]
		gain, most = c.surplusWorth(x), c.upper(column)
		if c.place[column] == atUpper {
			sign = -1
		}
	} else {
		gain = -c.worths[surplus]
	}
	c.enter(column, surplus)
	leaving, up := c.leave(sign, most)
	if leaving < 0 {
		if step = most; math.IsInf(step, 1) {
			return 0, false
		}
	} else {
		step = c.room(leaving, sign)
	}
	for i, v := range c.entry {
		c.x[i] -= sign * step * v
	}
	if leaving < 0 {
		c.place[column] = nowhere + atUpper - c.place[column]
		return step, true
	}
	c.x[leaving] = step
	if sign < 0 {
		c.x[leaving] = most - step
	}
	c.eliminate(leaving, gain)
	if j := c.basis[leaving]; j >= 0 {
		if c.place[j] = nowhere; up {
			c.place[j] = atUpper
		}
	}
	c.basis[leaving] = -1 - len(c.wanted) - surplus
	if column >= 0 {
		c.basis[leaving], c.place[column] = column, leaving
	}
	return step, true
}

// enter puts what comes into terms of the basis.
func (c *Cover) enter(column, surplus int) {
	n := len(c.wanted)
	for i := range n {
		row, sum := c.inverse[i*n:][:n], 0.0
		if column < 0 {
			sum = -row[surplus]
		} else {
			x := &c.columns[column]
			for k, r := range x.Rows {
				sum += row[r] * x.Amounts[k]
			}
		}
		c.entry[i] = sum
	}
}

// room is how far a variable of the basis lets go what comes.
func (c *Cover) room(i int, sign float64) float64 {
	switch v := sign * c.entry[i]; {
	case v > smallest:
		return max(0, c.x[i]) / v
	case v < -smallest:
		return max(0, c.upper(c.basis[i])-c.x[i]) / -v
	}
	return math.Inf(1)
}

// leave is what leaves the basis, and whether at its upper bound; −1 where what comes goes to its
// other bound before.
func (c *Cover) leave(sign, most float64) (leaving int, up bool) {
	leaving, step := -1, most
	for i, v := range c.entry {
		t := c.room(i, sign)
		if t < step || t == step && leaving >= 0 && math.Abs(v) > math.Abs(c.entry[leaving]) {
			leaving, step, up = i, t, sign*v < 0
		}
	}
	return leaving, up
}

// eliminate updates inverse and worths after what comes has taken a place.
func (c *Cover) eliminate(leaving int, gain float64) {
	n := len(c.wanted)
	scale := 1 / c.entry[leaving]
	row := c.inverse[leaving*n:][:n]
	for d := range row {
		row[d] *= scale
	}
	for i, v := range c.entry {
		if i == leaving || v == 0 {
			continue
		}
		other := c.inverse[i*n:][:n]
		for d, p := range row {
			other[d] -= v * p
		}
	}
	for d, p := range row {
		c.worths[d] -= gain * p
	}
}

// refresh works inverse, solution and worths out from the basis. It reports false where
// rounding errors have made the basis useless.
func (c *Cover) refresh() bool {
	n := len(c.wanted)
	matrix, cells := make([][]float64, n), make([]float64, n*n)
	for i := range matrix {
		matrix[i] = cells[i*n:][:n:n]
	}
	for k, j := range c.basis {
		switch {
		case j >= 0:
			for e, r := range c.columns[j].Rows {
				matrix[r][k] += c.columns[j].Amounts[e]
			}
		case -1-j < n:
			matrix[-1-j][k] = 1
		default:
			matrix[-1-n-j][k] = -1
		}
	}
	inverse, ok := Invert(matrix, leastPivot)
	if !ok {
		return false
	}
	clear(c.worths)
	rest := slices.Clone(c.wanted)
	for j, at := range c.place {
		if x := &c.columns[j]; at == atUpper {
			for e, r := range x.Rows {
				rest[r] -= x.Amounts[e] * x.Upper
			}
		}
	}
	for i := range n {
		row := inverse[i]
		copy(c.inverse[i*n:][:n], row)
		sum, cost := 0.0, c.cost(c.basis[i])
		for d, v := range row {
			sum += v * rest[d]
			c.worths[d] += cost * v
		}
		c.x[i] = sum
	}
	c.pivots += n // as much work
	return true
}
