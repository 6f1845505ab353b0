package scheduling

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// Where running nodes have a place for every pod that fits any of them, the price of a plan
// hangs on the others alone: what they cost by themselves is all that any bound could say.

// deciding are the placed pods that a bound has to look at, by planned class: those that fit
// no node, where a plan buys machines for nobody else and nothing ties pods; else all.
func (c *compiler) deciding(plan *Plan, placed []int64) []int64 {
	if len(c.nodes) == 0 || c.tied() || c.ties != nil {
		return placed
	}
	bought := int64(0)
	for i := range plan.Launches {
		bought += int64(len(plan.Launches[i].Pods))
	}
	out, others := make([]int64, len(placed)), false
	for i, n := range placed {
		if n > 0 && c.homeless(i) {
			out[i] = n
			bought -= n
		} else if n > 0 {
			others = true
		}
	}
	if bought != 0 || !others {
		return placed
	}
	return out
}

// homeless reports whether a pod of a planned class fits no node, as far as labels, taints
// and room say.
func (c *compiler) homeless(class int) bool {
	request, group := c.unattached(c.model.Classes[class].Request), int(c.model.Classes[class].Group)
	fits := func(i int) bool { return c.suits[i].Has(group) && model.Fits(c.nodes[i].room, request) }
	if rooms := c.model.Rooms; rooms != nil {
		d, from := rooms.Scarcest(request)
		for _, i := range rooms.Order[d][from:] {
			if fits(int(i)) {
				return false
			}
		}
		return true
	}
	for i := range c.nodes {
		if fits(i) {
			return false
		}
	}
	return true
}
