package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// nearest holds, by kind of change, the places that pods would have after one change of that kind. Only places with a single
// obstacle count.
type nearest struct {
	in            *instance.Instance
	explainer     *Explainer
	subject       *subject
	reservation   *offerings.Offering // of which too little is left, the only obstacle to it
	minValuesPool string              // pool with a place, but for its minValues
	limits        []limitGap          // the easiest to close
	setting       int                 // offer that the fewest settings rule out, then the cheapest; -1 for none
	inflexible    bool                // spot machines have a place, but leave too little choice
	dim           int                 // resource of which the pods exceed the room by the least share, and that room; -1 for none
	room          int64
	terms         nearTerms           // the topology terms that alone keep the pods away
	pools, nodes  []scheduling.Change // tolerations
	wider         map[string]place    // by label, the cheapest that one requirement of a NodePool rules out
	tolerated     *offers.Template    // the template whose taints were looked at last
	values        []map[string]bool   // by ask, the values of places to which it is the only obstacle; nil for none
	affine        bool                // the node affinity is the only obstacle to some offer
	zones         map[string]bool     // of places to which the volumes are the only obstacle
	elsewhere     bool                // the places of the volumes are the only obstacle to some place
	ports         ChangeList
	portOnNode    bool // one of them is about a node
	sale          scheduling.Change
}

// findNearest looks at all places.
func findNearest(s *subject) *nearest {
	n := &nearest{in: s.in, explainer: s.explainer, subject: s, setting: -1, dim: -1, values: make([]map[string]bool, len(s.needs.asks)), zones: map[string]bool{}, wider: map[string]place{}}
	for ti, v := range s.in.Templates {
		choice := offers.NewChoices(s.in.Facts.Solver.Flexibility)
		open, spot := false, false
		v.Within.Each(func(o int) {
			p, x := place{ti, o}, &s.in.Offers.Offers[o]
			first, found := n.look(p)
			if x.Spot() && (!found || first.kind >= reserved) {
				choice.Add(x)
			}
			if !found {
				open, spot = open || !x.Spot(), spot || x.Spot()
			}
		})
		n.inflexible = n.inflexible || spot && !choice.Enough()
		if n.minValuesPool == "" && (open || spot && choice.Enough()) && len(offers.FloorKeys(v.Set)) > 0 {
			n.minValuesPool = v.Pool.Name
		}
		n.subject.state.ruledOut(ti).byOne.Each(func(o int) { n.look(place{ti, o}) })
	}
	for i := range s.in.Nodes {
		n.look(place{onNode, i})
	}
	return n
}

// look looks at a place and returns its first obstacle, if it has any.
func (n *nearest) look(p place) (first obstacle, found bool) {
	single, affine := true, true
	for x := range n.subject.obstacles(p) {
		if single = !found; single {
			first, found = x, true
			if x.kind == violatesTerm {
				n.terms.note(n.subject.violations(p))
				return first, true
			}
		}
		if affine = affine && (x.kind == unmetAffinity || x.kind == unmet && !n.subject.needs.asks[x.n].selector); !single && !affine {
			return first, true
		}
	}
	if !found {
		return first, false
	}
	n.affine = n.affine || affine && p.template != onNode
	if single {
		n.take(p, first)
	}
	return first, true
}

// take notes a place with a single obstacle.
func (n *nearest) take(p place, x obstacle) {
	onNodes := p.template == onNode
	//exhaustive:enforce
	switch x.kind {
	case ruledOutByPool:
		n.widen(p, x)
	case tainted:
		const most = 2 // tolerations for nodes
		if !onNodes {
			if n.tolerated == n.in.Templates[p.template] {
				return
			}
			n.tolerated = n.in.Templates[p.template]
		}
		switch c := changeOf(n.subject, p, x); {
		case !onNodes:
			n.pools = append(n.pools, c)
		case len(n.nodes) < most && !slices.ContainsFunc(n.nodes, func(have scheduling.Change) bool { return taintsOf(have) == taintsOf(c) }):
			n.nodes = append(n.nodes, c)
		}
	case unmet:
		if onNodes {
			return
		}
		if n.values[x.n] == nil {
			n.values[x.n] = map[string]bool{}
		}
		if value := n.subject.labelAt(p, n.subject.needs.asks[x.n].expression.Key()); value != "" {
			n.values[x.n][value] = true
		}
	case volumesElsewhere:
		n.elsewhere = true
		if zone := n.subject.labelAt(p, offerings.ZoneLabel); zone != "" {
			n.zones[zone] = true
		}
	case excluded:
		o := &n.in.Offers.Offers[p.at]
		grounds := len(offers.Exclusions(n.in.Facts.Solver, o.InstanceType, o.Offering))
		if n.setting >= 0 {
			best := &n.in.Offers.Offers[n.setting]
			if c := cmp.Compare(grounds, len(offers.Exclusions(n.in.Facts.Solver, best.InstanceType, best.Offering))); c > 0 || c == 0 && o.Cost >= best.Cost {
				return
			}
		}
		n.setting = p.at
	case notOnSale:
		if n.sale.Kind == "" {
			n.sale = changeOf(n.subject, p, x)
		}
	case portBound, portOfDaemon, portPlanned:
		if !onNodes || !n.portOnNode { // one node will do as an example
			n.portOnNode = onNodes
			n.ports.Add(changeOf(n.subject, p, x))
		}
	case lacking:
		room := n.subject.state.Left
		if !onNodes {
			room = n.in.Rooms.Rooms
		}
		at := x.room
		if onNodes {
			at = p.at
		}
		// Of several resources the one that asks for the smaller cut is nearer.
		if have := room[at][x.n]; have > 0 && (n.dim < 0 || nearer(have, n.subject.class.Requests[x.n], n.room, n.subject.class.Requests[n.dim])) {
			n.dim, n.room = x.n, have
		}
	case reserved:
		n.reservation = cmp.Or(n.reservation, n.in.Offers.Offers[p.at].Offering)
	case limited:
		if gaps := limitGaps(n.subject.state, offers.OfferRef{Template: p.template, Offer: p.at}); n.limits == nil || closerLimits(gaps, n.limits) {
			n.limits = gaps
		}
	case unmetAffinity, violatesTerm: // look notes them
	case attachFull, overfull: // no single change of the pods lifts them: together proposes them
	}
}

// taintsOf is the part of a toleration's text that names the taints.
func taintsOf(c scheduling.Change) string {
	taints, _, _ := strings.Cut(c.Text, " for ")
	return taints
}

// together proposes all changes that the place with the fewest obstacles needs, for pods that no single change places.
// A place without any of a resource that the pods request, e.g. a GPU, is taken only if every place lacks one.
func together(s *subject, out *ChangeList) {
	var best []scheduling.Change
	for _, bare := range []bool{false, true} {
		look := func(p place) {
			if best != nil && len(best) <= 2 {
				return
			}
			var changes []scheduling.Change
			for x := range s.obstacles(p) {
				if changes = append(changes, changeOf(s, p, x)); best != nil && len(changes) == len(best) || !bare && hasNone(s, p, x) {
					return
				}
			}
			if len(changes) > 0 {
				best = changes
			}
		}
		for ti, v := range s.in.Templates {
			v.Within.Each(func(o int) { look(place{ti, o}) })
			s.state.ruledOut(ti).offers.Each(func(o int) { look(place{ti, o}) })
		}
		for i := range s.in.Nodes {
			look(place{onNode, i})
		}
		if best != nil {
			out.Add(offers.Joined(best, ", and "))
			return
		}
	}
}

// hasNone reports whether an obstacle is a resource that the place has none of, not even in use.
func hasNone(s *subject, p place, x obstacle) bool {
	if x.kind != lacking {
		return false
	}
	if p.template != onNode {
		return s.in.Rooms.Rooms[x.room][x.n] <= 0
	}
	return !s.in.NodeHas(s.in.Nodes[p.at], x.n)
}
