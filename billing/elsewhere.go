package billing

import "slices"

// FillUsedElsewhere returns the commitments with the part of InUse that no node of a usage explains as used elsewhere. A node that a
// commitment covers counts for the first of the commitments that have one more in use.
func FillUsedElsewhere(commitments []Commitment, usages []Usage) []Commitment {
	filled := slices.Clone(commitments)
	counted := make([]bool, len(usages))
	for i := range filled {
		c := &filled[i]
		rest, rates := c.InUse, c.index()
		for at := range usages {
			if d, ok := c.demand(&usages[at], rates); ok && !counted[at] && d.amount <= rest {
				counted[at] = true
				rest -= d.amount
			}
		}
		c.UsedElsewhere = max(c.UsedElsewhere, rest)
	}
	return filled
}
