package linear

import "math"

// Set replaces a column. What is wanted has to be said anew before the next solution.
func (c *Cover) Set(column int, x Column) { c.columns[column] = x }

// Want changes what is wanted of the rows. The next solution goes on from the basis of the last one
// where that can be: columns have no bounds then.
func (c *Cover) Want(wanted []float64) {
	c.wanted = wanted
	c.refresh()
	if !c.restore() {
		c.begin()
	}
	c.shift()
}

// restore makes a cover of a basis that has less than nothing of some variables, by the dual simplex
// method: the one leaves of which there is least, and what costs least instead enters. It reports
// false where that leads nowhere.
func (c *Cover) restore() bool {
	n := len(c.wanted)
	for range restPivots + n {
		leaving, least := -1, -near
		for i, x := range c.x {
			if x < least {
				leaving, least = i, x
			}
		}
		if leaving < 0 {
			return true
		}
		entering, found := c.instead(c.inverse[leaving*n:][:n])
		if !found {
			return false
		}
		gain := c.enter(entering)
		c.exchange(leaving, entering, gain, c.x[leaving]/c.entry[leaving])
	}
	return false
}

// instead is the variable outside of the basis that costs least for what it adds to a row of the
// inverse.
func (c *Cover) instead(row []float64) (variable int, found bool) {
	n, least := len(c.wanted), math.Inf(1)
	try := func(j int, takes, cost float64) {
		if ratio := max(0, cost) / takes; takes > smallest && ratio < least {
			variable, least, found = j, ratio, true
		}
	}
	for j := range c.columns {
		if c.place[j] != nowhere {
			continue
		}
		x, adds := &c.columns[j], 0.0
		for k, r := range x.Rows {
			adds += row[r] * x.Amounts[k]
		}
		if adds < -smallest {
			try(j, -adds, -c.surplusWorth(x))
		}
	}
	c.looked += int64(len(c.columns))
	for r, adds := range row {
		try(-1-r, -adds, c.standIn[r]-c.worths[r])
		try(-1-n-r, adds, c.worths[r])
	}
	return variable, found
}
