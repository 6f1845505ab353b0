package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Placed counts the pods of a solution by planned class.
func (c *Compiler) Placed(solution model.Solution) []int64 {
	out := make([]int64, len(c.Planned))
	for i := range c.Parts {
		for _, p := range c.Parts[i].Portions {
			out[p.Class] += (c.Parts[i].Count - solution.Unplaced[i]) * p.N
		}
	}
	return out
}
