package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// addFloors adds the flexibility floors of a template's machines: that of those which
// are not spot, and that of spot ones.
func (c *Compiler) addFloors(v *offers.Template, x *offers.TemplateOffers) [2]int32 {
	floor := c.addFloor(v, x, false)
	if !offers.On(c.Solver.Flexibility) {
		return [2]int32{floor, floor}
	}
	return [2]int32{floor, c.addFloor(v, x, true)}
}

// spotChoiceAt tells at which sites of a topology signature a template has the choice among spot offers
// that is asked for; nil where none is.
func (l *LocationIndex) spotChoiceAt(k *TopologySignature, ti int) []bool {
	if !offers.On(l.Solver.Flexibility) {
		return nil
	}
	out, seen := make([]bool, k.Part.Sites), make([]*offers.Choices, k.Part.Sites)
	for i, o := range l.Offered[ti].List {
		site, x := k.Part.At[l.First[ti]+i], &l.Compiler.Offers.Offers[o.Offer]
		if out[site] || !x.Spot() || !k.Admits(l.Columns.Rows[o.Column]) {
			continue
		}
		if seen[site] == nil {
			seen[site] = offers.NewChoices(l.Solver.Flexibility)
		}
		out[site] = seen[site].Add(x) && seen[site].Enough()
	}
	return out
}
