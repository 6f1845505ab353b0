package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// ChoiceIn reports whether offers that are on sale leave a template the choice that
// its pool's minValues ask for.
func (c *Compiler) ChoiceIn(v *offers.Template, row model.Bits) bool {
	if c.Solver.MinValues == scheduling.MinValuesBestEffort {
		return true
	}
	for _, r := range offers.FloorKeys(v.Set) {
		seen := map[string]bool{}
		row.Each(func(o int) {
			if c.Offers.Offers[o].Launchable {
				if value, ok := c.Offers.LabelOf(v, o, r.Key()); ok {
					seen[value] = true
				}
			}
		})
		if len(seen) < r.MinValues() {
			return false
		}
	}
	return true
}
