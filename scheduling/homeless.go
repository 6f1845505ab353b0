package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where running nodes have a place for every pod that fits any of them, the price of a plan
// hangs on the others alone: what they cost by themselves is all that any bound could say.

// atStake is the placed pods that a bound looks at.
type atStake struct {
	placed []int64 // by planned class
	all    bool    // they are all that are placed
	joined bool    // some are among them only because they are tied to others
}

func (x *atStake) equal(y *atStake) bool {
	return x.all == y.all && x.joined == y.joined && slices.Equal(x.placed, y.placed)
}

// deciding are the placed pods that a bound has to look at: those that fit no node, and those
// tied to them, where so many are on machines that are bought and nobody else is; else all.
func (c *compiler) deciding(placed []int64, bought int64) atStake {
	if len(c.nodes) == 0 || c.sited != nil {
		return atStake{placed: placed, all: true}
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
		return atStake{placed: placed, all: true}
	}
	joined := c.joinTied(out, placed)
	return atStake{placed: out, all: slices.Equal(out, placed), joined: joined}
}

// joinTied adds those who are tied to pods that a bound looks at, or tie them, and so on. It
// reports whether there are any.
func (c *compiler) joinTied(some, placed []int64) (joined bool) {
	if !c.tied() {
		return false
	}
	for again := true; again; {
		again = false
		for i, n := range placed {
			if n == 0 || some[i] > 0 {
				continue
			}
			for k, m := range some {
				if m > 0 && (c.tiesTo(i, k) || c.tiesTo(k, i)) {
					some[i], again, joined = n, true, true
					break
				}
			}
		}
	}
	return joined
}

// tiesTo reports whether pods of one class are tied to those of another.
func (c *compiler) tiesTo(class, other int) bool {
	return slices.ContainsFunc(c.bonds.list[c.planned[class].bonds].ties, func(t tie) bool {
		return c.bonds.targets.has(c.planned[other].among, t.target)
	})
}

// onLaunches counts the pods on machines that a plan buys.
func (p *Plan) onLaunches() (n int64) {
	for i := range p.Launches {
		n += int64(len(p.Launches[i].Pods))
	}
	return n
}

// onLaunches counts the pods on machines that a trial buys.
func (x *trial) onLaunches() (n int64) {
	for i := range x.Solution.Nodes {
		for _, it := range x.Solution.Nodes[i].Items {
			n += x.Solution.Nodes[i].N * it.N * size(x.parts[it.Class].portions)
		}
	}
	return n
}

// homeless reports whether a pod of a planned class fits no node, as far as labels, taints
// and room say.
func (c *compiler) homeless(class int) bool {
	request, group := c.unattached(c.model.Classes[class].Request), int(c.model.Classes[class].Group)
	if rooms := c.model.Rooms; rooms != nil {
		for i := range rooms.Fitting(request) {
			if c.suits[i].Has(group) {
				return false
			}
		}
		return true
	}
	for i := range c.nodes {
		if c.suits[i].Has(group) && model.Fits(c.nodes[i].room, request) {
			return false
		}
	}
	return true
}
