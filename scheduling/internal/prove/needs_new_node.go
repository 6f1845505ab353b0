package prove

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Where running nodes have a place for every pod that fits any of them, the price of a plan
// hangs on the others alone: what they cost by themselves is all that any bound could say.

// AtStake is the placed pods that a bound looks at.
type AtStake struct {
	Placed []int64 // by planned class
	// Machines say what those hold that are to be bought, by planned class, where there is no plan
	// yet; nil where nobody knows. It is where the search for a bound begins.
	Machines func() [][]instance.Portion
	all      bool // they are all that are placed
	joined   bool // some are among them only because they are tied to others
}

func (x *AtStake) equal(y *AtStake) bool {
	return x.all == y.all && x.joined == y.joined && slices.Equal(x.Placed, y.Placed)
}

// Deciding are the placed pods that a bound has to look at: those that fit no node, and those
// tied to them, where so many are on machines that are bought and nobody else is; else all.
func Deciding(c *instance.Instance, placed []int64, bought int64) AtStake {
	if len(c.Nodes) == 0 {
		return AtStake{Placed: placed, all: true}
	}
	out, others := make([]int64, len(placed)), false
	for i, n := range placed {
		if n > 0 && needsNewNode(c, i) {
			out[i] = n
			bought -= n
		} else if n > 0 {
			others = true
		}
	}
	if bought != 0 || !others {
		return AtStake{Placed: placed, all: true}
	}
	joined := joinTied(c, out, placed)
	return AtStake{Placed: out, all: slices.Equal(out, placed), joined: joined}
}

// joinTied adds those who are tied to pods that a bound looks at, or tie them, and so on. It
// reports whether there are any.
func joinTied(c *instance.Instance, some, placed []int64) (joined bool) {
	if !c.Tied() {
		return false
	}
	for again := true; again; {
		again = false
		for i, n := range placed {
			if n == 0 || some[i] > 0 {
				continue
			}
			for k, m := range some {
				if m > 0 && (tiesTo(c, i, k) || tiesTo(c, k, i)) {
					some[i], again, joined = n, true, true
					break
				}
			}
		}
	}
	return joined
}

// tiesTo reports whether pods of one class are tied to those of another.
func tiesTo(c *instance.Instance, class, other int) bool {
	return slices.ContainsFunc(c.TopologyTerms.List[c.Planned[class].TopologyTerms].Ties, func(t podspec.Tie) bool {
		return c.TopologyTerms.Targets.Has(c.Planned[other].Among, t.Target)
	})
}

// launched is what the launches of a plan hold.
func launched(c *instance.Instance, p *scheduling.Plan) [][]instance.Portion {
	classOf := c.ClassByPod()
	out := make([][]instance.Portion, len(p.Launches))
	for i := range p.Launches {
		for _, pod := range p.Launches[i].Pods {
			out[i] = append(out[i], instance.Portion{Class: classOf[pod], N: 1})
		}
	}
	return out
}

// OnLaunches counts the pods on machines that a plan buys.
func OnLaunches(p *scheduling.Plan) (n int64) {
	for i := range p.Launches {
		n += int64(len(p.Launches[i].Pods))
	}
	return n
}

// needsNewNode reports whether a pod of a planned class fits no node, as far as labels, taints
// and room say.
func needsNewNode(c *instance.Instance, class int) bool {
	request, group := c.Unattached(c.Planned[class].Requests), c.Planned[class].Group
	if rooms := c.NodeRooms; rooms != nil {
		for i := range rooms.Fitting(request) {
			if c.Suits[i].Has(group) {
				return false
			}
		}
		return true
	}
	for i := range c.Nodes {
		if c.Suits[i].Has(group) && model.Fits(c.Nodes[i].Room, request) {
			return false
		}
	}
	return true
}
