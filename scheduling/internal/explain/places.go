package explain

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// place is an offer of a template, or a node, for which template is onNode.
type place struct{ template, at int }

const onNode = -1

// obstacle is one reason why a place does not take a pod. The obstacles of a place come in the order of their kinds. The
// first is the reason that is told. A place with a single obstacle is one that a single change opens.
type obstacle struct {
	kind obstacleKind
	n    int // the number of a taint, label, port or resource, by kind
	room int // of lacking, the number of an offer's room
}

// obstacleKind is a reason why a place does not take pods, topology terms together as one. A new kind needs its detection
// (unsuited, onOffer, onNode). The linter then names the switches that lack its texts (places_text.go) and its change
// (take in fixes_nearest.go notes it, changes in fixes.go lists it). Kinds from reserved on depend on the plan.
type obstacleKind uint8

const (
	ruledOutByPool obstacleKind = iota // n is the requirement of the NodePool that the offer does not meet
	tainted
	unmet            // n is the ask that the labels do not meet
	unmetAffinity    // no alternative of the required node affinity holds
	portBound        // by a pod that runs on the node
	volumesElsewhere // the volumes cannot be used there
	excluded         // by the settings
	notOnSale        // n is 1 where the pool's own catalog lacks it
	portOfDaemon     // n is the daemon that binds it
	attachFull       // a shared volume that the node is not charged for, of a driver of which it takes no further one; a count that is used up is lacking
	overfull         // daemons alone do not fit
	lacking          // n is the resource of which there is too little
	portPlanned      // bound by a pod that is planned onto the node
	reserved         // the reservation is used up; n is the offer
	limited          // n is the resource of the pool's limit that is reached
	violatesTerm     // n is the topology term, by place among the violations
)

// needs are the requirements of a group of pods, and the offers that meet each.
type needs struct {
	group     *podspec.Constraint
	asks      []ask
	templates []templateNeeds
}

// templateNeeds says which offers of a template meet the needs of a group.
type templateNeeds struct {
	hard            *corev1.Taint // that is not tolerated
	asks            []model.Bits  // by ask, the offers that meet it
	affine, volumes model.Bits    // offers that meet the rest of affinity, and that suit the volumes; nil for all
	daemons         []int         // that bind one of the ports
}

// needsOf returns the needs of a group.
func (e *Explainer) needsOf(g int) *needs {
	if n, ok := e.needs[g]; ok {
		return n
	}
	group := e.In.Classes.Groups[g]
	n := &needs{group: group, asks: asksOf(group), templates: make([]templateNeeds, len(e.In.Templates))}
	plain := !group.Affine || len(group.Terms) == 1 && len(group.Terms[0].Fields) == 0 // the asks are all conditions of the affinity
	for ti, v := range e.In.Templates {
		t := &n.templates[ti]
		t.hard, _ = v.Untolerated(group)
		for _, a := range n.asks {
			t.asks = append(t.asks, e.In.Offers.Satisfying(v, a.expression))
		}
		if !plain {
			wide := *v
			wide.Within = e.State.all(v) // offers that its requirements rule out have an obstacle of their own
			t.affine = e.In.Offers.AdmitsOwn(&wide, &podspec.Constraint{Affine: true, Terms: group.Terms}, false)
		}
		if len(group.Volumes) > 0 {
			t.volumes = e.State.all(v)
			e.In.Offers.NarrowToVolumes(t.volumes, v, group)
		}
		for i, d := range e.In.Daemons {
			if podspec.PortsClash(group.Ports, d.Constraint.Ports) {
				t.daemons = append(t.daemons, i)
			}
		}
	}
	e.needs[g] = n
	return n
}

// subject is the pods of a class, for which places are looked at.
type subject struct {
	in        *instance.Instance
	state     *PlanState
	explainer *Explainer
	needs     *needs
	class     *podspec.PodClass
	id        int // its place among the planned classes
}

func (e *Explainer) subject(id int) *subject {
	class := e.In.Planned[id]
	return &subject{in: e.In, state: e.State, explainer: e, needs: e.needsOf(class.Group), class: class, id: id}
}

// obstacles yields the reasons why a place does not take the pods, in the order of their kinds.
func (s *subject) obstacles(p place) iter.Seq[obstacle] {
	if p.template == onNode {
		return func(yield func(obstacle) bool) { s.onNode(p.at, yield) }
	}
	return func(yield func(obstacle) bool) {
		if s.outsidePool(p, yield) && s.unsuited(p, yield) {
			s.onOffer(p, yield)
		}
	}
}

// first is the first obstacle of a place; ok is false where there is none.
func (s *subject) first(p place) (first obstacle, ok bool) {
	for x := range s.obstacles(p) {
		return x, true
	}
	return obstacle{}, false
}

// free reports whether a place has no obstacle.
func (s *subject) free(p place) bool {
	_, found := s.first(p)
	return !found
}

// outsidePool yields the requirements of its NodePool that an offer does not meet.
func (s *subject) outsidePool(p place, yield func(obstacle) bool) bool {
	if s.in.Templates[p.template].Within.Has(p.at) {
		return true
	}
	for i, row := range s.state.ruledOut(p.template).met {
		if !row.Has(p.at) && !yield(obstacle{kind: ruledOutByPool, n: i}) {
			return false
		}
	}
	return true
}

// unsuited yields the reasons why an offer does not suit the group, room aside.
func (s *subject) unsuited(p place, yield func(obstacle) bool) bool {
	t, o := &s.needs.templates[p.template], p.at
	if t.hard != nil && !yield(obstacle{kind: tainted}) {
		return false
	}
	for i, row := range t.asks {
		if !row.Has(o) && !yield(obstacle{kind: unmet, n: i}) {
			return false
		}
	}
	if t.affine != nil && !t.affine.Has(o) && !yield(obstacle{kind: unmetAffinity}) ||
		t.volumes != nil && !t.volumes.Has(o) && !yield(obstacle{kind: volumesElsewhere}) {
		return false
	}
	switch x := &s.in.Offers.Offers[o]; {
	case x.Excluded.Code != "":
		if !yield(obstacle{kind: excluded, n: s.explainer.exclusion(x.Excluded)}) {
			return false
		}
	case !x.Launchable && !usedUp(x.Offering):
		out := 0
		if s.state.leftOut(s.in.Templates[p.template].Pool.Name, x) {
			out = 1
		}
		if !yield(obstacle{kind: notOnSale, n: out}) {
			return false
		}
	}
	for _, d := range t.daemons {
		if s.in.Offered[p.template].Daemons[d].Has(o) && !yield(obstacle{kind: portOfDaemon, n: d}) {
			return false
		}
	}
	return true
}

// usedUp reports whether an offering cannot be launched because its reservation has too little left for a node.
func usedUp(o *offerings.Offering) bool {
	return !o.Unavailable && !o.Launchable()
}

// exclusion numbers an exclusion by the settings.
func (e *Explainer) exclusion(x offers.Exclusion) int {
	n := slices.Index(e.exclusions, x)
	if n < 0 {
		n = len(e.exclusions)
		e.exclusions = append(e.exclusions, x)
	}
	return n
}

// onOffer yields the reasons why an offer that suits their group does not take the pods.
func (s *subject) onOffer(p place, yield func(obstacle) bool) {
	n := s.state.roomNumber(p.template, p.at)
	if n < 0 {
		yield(obstacle{kind: overfull})
		return
	}
	room := s.in.Rooms.Rooms[n]
	for d, q := range s.class.Requests {
		if q > room[d] && !yield(obstacle{kind: lacking, n: d, room: n}) {
			return
		}
	}
	buy := offers.OfferRef{Template: p.template, Offer: p.at}
	if s.state.ledger.UsedUp(buy) != "" && !yield(obstacle{kind: reserved, n: p.at}) {
		return
	}
	for d := range s.state.ledger.Gaps(buy) {
		if !yield(obstacle{kind: limited, n: d}) {
			return
		}
		break
	}
	for i := range s.violations(p) {
		if !yield(obstacle{kind: violatesTerm, n: i}) {
			return
		}
	}
}

// onNode yields the reasons why a node does not take the pods.
func (s *subject) onNode(bin int, yield func(obstacle) bool) {
	fit, left := s.in.Nodes[bin].Fit(s.needs.group), s.state.Left[bin]
	if fit.Node.Taint != nil && !yield(obstacle{kind: tainted}) ||
		!fit.Node.Affinity && !s.unmetOn(s.in.Nodes[bin], yield) ||
		fit.PortBound && !yield(obstacle{kind: portBound}) ||
		!fit.Node.Volumes && !yield(obstacle{kind: volumesElsewhere}) ||
		fit.FullDriver != "" && !yield(obstacle{kind: attachFull}) {
		return
	}
	for d, q := range s.class.Requests {
		if q > left[d] && !yield(obstacle{kind: lacking, n: d}) {
			return
		}
	}
	if _, taken := s.plannedPort(bin); taken && !yield(obstacle{kind: portPlanned}) {
		return
	}
	for i := range s.violations(place{onNode, bin}) {
		if !yield(obstacle{kind: violatesTerm, n: i}) {
			return
		}
	}
}

// unmetOn yields the asks that the labels of a node do not meet. Where none of them alone is the reason why the node does
// not match the node affinity, e.g. because that has several terms, it yields the node affinity.
func (s *subject) unmetOn(x *instance.ExistingNode, yield func(obstacle) bool) bool {
	met := true
	for i := range s.needs.asks {
		if !s.needs.asks[i].expression.Matches(x.Labels) {
			if met = false; !yield(obstacle{kind: unmet, n: i}) {
				return false
			}
		}
	}
	return !met || yield(obstacle{kind: unmetAffinity})
}

// plannedPort is a port of the group that pods planned onto a node bind.
func (s *subject) plannedPort(bin int) (podspec.HostPort, bool) {
	if len(s.needs.group.Ports) > 0 {
		for _, it := range s.state.Bins[bin].Items {
			if port, clash := firstClash(s.needs.group.Ports, s.in.Classes.Groups[s.in.Planned[it.Class].Group].Ports); clash {
				return port, true
			}
		}
	}
	return podspec.HostPort{}, false
}

// firstClash is the first of some host ports that clashes with ports of other pods.
func firstClash(ports, others []podspec.HostPort) (podspec.HostPort, bool) {
	i := slices.IndexFunc(ports, func(p podspec.HostPort) bool { return podspec.PortsClash([]podspec.HostPort{p}, others) })
	if i < 0 {
		return podspec.HostPort{}, false
	}
	return ports[i], true
}

// violations are the topology terms that keep the pods off a place.
func (s *subject) violations(p place) []cluster.Violation {
	switch {
	case !hasTerms(s.in, s.id):
		return nil
	case p.template == onNode:
		return s.explainer.after().onNode(s.id, int32(p.at)) //nolint:gosec // nodes are few
	default:
		return s.explainer.after().onOffer(s.id, p.template, p.at)
	}
}
