package prove

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Scope is the placed pods that a bound is about.
type Scope struct {
	Placed []int64 // by planned class
	// Machines returns the pods on each node to be launched, where there is no plan yet; nil if not known. They are
	// the first patterns of the bound.
	Machines func() [][]instance.Member
	all      bool // whether they are all placed pods
	joined   bool // whether pods are included only because of topology terms
}

// equal reports whether a bound about x is one about y.
func (x *Scope) equal(y *Scope) bool {
	return x.all == y.all && x.joined == y.joined && slices.Equal(x.Placed, y.Placed)
}

// ScopeOf is the placed pods that a bound must be about: the pods that fit no existing node, with the pods tied to them
// by topology terms, where they are exactly the bought pods on new nodes; else all. The bound is then as high as with
// all pods, because existing nodes are free and hold the rest.
func ScopeOf(c *instance.Instance, placed []int64, bought int64) Scope {
	if len(c.Nodes) == 0 {
		return Scope{Placed: placed, all: true}
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
		return Scope{Placed: placed, all: true}
	}
	joined := joinByTerms(c, out, placed)
	return Scope{Placed: out, all: slices.Equal(out, placed), joined: joined}
}

// joinByTerms adds to some, repeatedly, the placed pods that have a topology term that selects pods in it, or that such
// pods select. It reports whether it added any.
func joinByTerms(c *instance.Instance, some, placed []int64) (joined bool) {
	if !c.HasTopologyTerms() {
		return false
	}
	for again := true; again; {
		again = false
		for i, n := range placed {
			if n == 0 || some[i] > 0 {
				continue
			}
			for k, m := range some {
				if m > 0 && (termSelects(c, i, k) || termSelects(c, k, i)) {
					some[i], again, joined = n, true, true
					break
				}
			}
		}
	}
	return joined
}

// termSelects reports whether pods of one class have a topology term that selects those of another.
func termSelects(c *instance.Instance, class, other int) bool {
	return slices.ContainsFunc(c.TopologyTerms.List[c.Planned[class].TopologyTerms].Terms, func(t podspec.TopologyTerm) bool {
		return c.TopologyTerms.Targets.Has(c.Planned[other].Among, t.Target)
	})
}

// launched is the pods on each launch of a plan.
func launched(c *instance.Instance, p *scheduling.Plan) [][]instance.Member {
	classOf := c.ClassByPod()
	out := make([][]instance.Member, len(p.Launches))
	for i := range p.Launches {
		for _, pod := range p.Launches[i].Pods {
			out[i] = append(out[i], instance.Member{Class: classOf[pod], N: 1})
		}
	}
	return out
}

// OnLaunches is the number of pods on a plan's launches.
func OnLaunches(p *scheduling.Plan) (n int64) {
	for i := range p.Launches {
		n += int64(len(p.Launches[i].Pods))
	}
	return n
}

// needsNewNode reports whether a pod of a planned class fits no existing node by labels, taints and room.
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
