package explain

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// place is an offer of a template, or a node, for which template is onNode.
type place struct{ template, at int }

const onNode = -1

// obstacle is one thing that keeps a pod from a place. Those of a place are told in the order of
// their kinds: the first is the reason why it is ruled out, and a place with one only is a place
// that a single change would do for.
type obstacle struct {
	kind obstacleKind
	n    int // which, see the kinds
	room int // of lacking, the number of an offer's room
}

type obstacleKind uint8

const (
	tainted          obstacleKind = iota
	unmet                         // n is the ask that the labels do not meet
	unmetAffinity                 // no alternative of the required node affinity holds
	portBound                     // by what runs on the node
	volumesElsewhere              // the volumes cannot be used there
	excluded                      // by the settings
	notOnSale                     // n is 1 where the pool's own catalog lacks it
	portOfDaemon                  // n is the daemon that binds it
	attachFull                    // the node takes no further volume of a driver
	overfull                      // daemons alone do not fit
	lacking                       // n is the resource of which there is too little
	portPlanned                   // bound by what is planned onto the node
	reserved                      // the reservation is used up; n is the offer
	limited                       // n is the resource of the pool's limit that is reached
	barred                        // n is the tie, by place among the bars
)

// needs is what a group of pods asks of places, and which offers meet it.
type needs struct {
	group     *podspec.Constraint
	asks      []ask
	templates []templateNeeds
}

// templateNeeds is what the machines of a template are to the needs.
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
	group := e.Classes.Groups[g]
	n := &needs{group: group, asks: asksOf(group), templates: make([]templateNeeds, len(e.Templates))}
	plain := !group.Affine || len(group.Terms) == 1 && len(group.Terms[0].Fields) == 0 // the asks say it all
	for ti, v := range e.Templates {
		t := &n.templates[ti]
		t.hard, _ = v.HardTaint(group)
		for _, a := range n.asks {
			t.asks = append(t.asks, e.Offers.Satisfying(v, a.Expression))
		}
		if !plain {
			t.affine = e.Offers.AdmitsOwn(v, &podspec.Constraint{Affine: true, Terms: group.Terms}, false)
		}
		if len(group.Volumes) > 0 {
			t.volumes = v.Within.Clone()
			e.Offers.NarrowToVolumes(t.volumes, v, group)
		}
		for i, d := range e.Daemons {
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
	*Explainer
	*needs
	class *podspec.PodClass
	id    int // its place among the planned classes
}

func (e *Explainer) subject(class *podspec.PodClass, id int) *subject {
	return &subject{Explainer: e, needs: e.needsOf(class.Group), class: class, id: id}
}

// obstacles yields what keeps the pods from a place.
func (s *subject) obstacles(p place) iter.Seq[obstacle] {
	if p.template == onNode {
		return func(yield func(obstacle) bool) { s.onNode(p.at, yield) }
	}
	return func(yield func(obstacle) bool) {
		if s.unsuited(p, yield) {
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

// free reports whether nothing keeps the pods from a place.
func (s *subject) free(p place) bool {
	_, found := s.first(p)
	return !found
}

// unsuited yields what makes an offer unfit for the group, whatever room there is.
func (s *subject) unsuited(p place, yield func(obstacle) bool) bool {
	t, o := &s.templates[p.template], p.at
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
	switch x := &s.Offers.Offers[o]; {
	case x.Excluded.Code != "":
		if !yield(obstacle{kind: excluded, n: s.exclusion(x.Excluded)}) {
			return false
		}
	case !x.Launchable:
		out := 0
		if s.leftOut(s.Templates[p.template].Pool.Name, x) {
			out = 1
		}
		if !yield(obstacle{kind: notOnSale, n: out}) {
			return false
		}
	}
	for _, d := range t.daemons {
		if s.Offered[p.template].Daemons[d].Has(o) && !yield(obstacle{kind: portOfDaemon, n: d}) {
			return false
		}
	}
	return true
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

// onOffer yields what keeps the pods from an offer that suits their group.
func (s *subject) onOffer(p place, yield func(obstacle) bool) {
	n := s.roomNumber(p.template, p.at)
	if n < 0 {
		yield(obstacle{kind: overfull})
		return
	}
	if !s.fitsRoom(s.class, n) {
		room := s.Compiler.Rooms.Rooms[n]
		for d, q := range s.class.Requests {
			if q > room[d] && !yield(obstacle{kind: lacking, n: d, room: n}) {
				return
			}
		}
	}
	buy := offers.Purchase{Template: p.template, Offer: p.at}
	if s.ledger.UsedUp(buy) != "" && !yield(obstacle{kind: reserved, n: p.at}) {
		return
	}
	for d := range s.ledger.Gaps(buy) {
		if !yield(obstacle{kind: limited, n: d}) {
			return
		}
		break
	}
	for i := range s.offerBars(s.id, p.template, p.at) {
		if !yield(obstacle{kind: barred, n: i}) {
			return
		}
	}
}

// onNode yields what keeps the pods from a node.
func (s *subject) onNode(bin int, yield func(obstacle) bool) {
	x, group, left := s.Nodes[bin], s.group, s.Left[bin]
	if hard, _ := podspec.Untolerated(group.Tolerations, x.Taints); hard != nil && !yield(obstacle{kind: tainted}) {
		return
	}
	met := true
	for i := range s.asks {
		if !s.asks[i].Matches(x.Labels) {
			if met = false; !yield(obstacle{kind: unmet, n: i}) {
				return
			}
		}
	}
	if met && !group.OwnMatchesNode(x.Node.Name, x.Labels) && !yield(obstacle{kind: unmetAffinity}) ||
		podspec.PortsClash(group.Ports, x.Ports) && !yield(obstacle{kind: portBound}) ||
		!group.VolumesMatch(x.Node.Name, x.Labels) && !yield(obstacle{kind: volumesElsewhere}) ||
		x.Attached.TurnsAway(group) != "" && !yield(obstacle{kind: attachFull}) {
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
	for i := range s.Tied.NodeBars(s.id, bin) {
		if !yield(obstacle{kind: barred, n: i}) {
			return
		}
	}
}

// plannedPort is a port of the group that pods planned onto a node bind.
func (s *subject) plannedPort(bin int) (podspec.HostPort, bool) {
	if len(s.group.Ports) > 0 {
		for _, it := range s.Bins[bin].Items {
			if port, clash := firstClash(s.group.Ports, s.Classes.Groups[s.Planned[it.Class].Group].Ports); clash {
				return port, true
			}
		}
	}
	return podspec.HostPort{}, false
}

// firstClash returns the first of some ports that others bind too.
func firstClash(ports, others []podspec.HostPort) (podspec.HostPort, bool) {
	i := slices.IndexFunc(ports, func(p podspec.HostPort) bool { return podspec.PortsClash([]podspec.HostPort{p}, others) })
	if i < 0 {
		return podspec.HostPort{}, false
	}
	return ports[i], true
}

// bars are the ties that keep the pods from a place.
func (s *subject) bars(p place) []Bar {
	if p.template == onNode {
		return s.Tied.NodeBars(s.id, p.at)
	}
	return s.offerBars(s.id, p.template, p.at)
}

// reason words an obstacle of a place that is no tie.
func (s *subject) reason(p place, x obstacle) scheduling.Reason {
	if p.template == onNode {
		return s.nodeReason(p.at, x)
	}
	pool, offer := s.Templates[p.template].Pool, &s.Offers.Offers[p.at]
	switch x.kind {
	case tainted:
		return scheduling.Reason{Code: scheduling.ReasonTaints, Detail: fmt.Sprintf("node pool %s has the untolerated taint %s", pool.Name, taintText(s.templates[p.template].hard))}
	case unmet, unmetAffinity:
		if x.kind == unmet && s.asks[x.n].selector {
			a := s.asks[x.n]
			return scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "node selector " + a.Raw + "=" + strings.Join(a.Values(), ",") + " does not match"}
		}
		return scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "required node affinity does not match: " + affinityText(s.group)}
	case volumesElsewhere:
		return volumeReason(s.group)
	case excluded:
		return offers.Reason(s.Solver, offer.Excluded)
	case notOnSale:
		return s.notOnSale(pool.Name, offer)
	case portOfDaemon:
		return scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "daemon set " + s.Daemons[x.n].Set.Name + " binds the same host port"}
	case overfull:
		return scheduling.Reason{Code: scheduling.ReasonResources, Detail: "daemons alone do not fit"}
	case lacking:
		return s.resourceReason(s.lacking(s.Compiler.Rooms.Rooms[x.room], s.class.Requests))
	case reserved:
		return scheduling.Reason{Code: scheduling.ReasonReservation, Detail: "reservation " + offer.Offering.ReservationID + " is used up"}
	default:
		return scheduling.Reason{Code: scheduling.ReasonLimits, Detail: fmt.Sprintf("node pool %s reaches its limit of %s", pool.Name, compile.LimitedResources(pool)[x.n])}
	}
}

func (s *subject) nodeReason(bin int, x obstacle) scheduling.Reason {
	node := s.Nodes[bin]
	switch x.kind {
	case tainted:
		hard, _ := podspec.Untolerated(s.group.Tolerations, node.Taints)
		return scheduling.Reason{Code: scheduling.ReasonTaints, Detail: "nodes have the untolerated taint " + taintText(hard)}
	case unmet, unmetAffinity:
		return scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "node selector or required node affinity does not match running nodes"}
	case portBound:
		return scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "a pod on the node binds the same host port"}
	case volumesElsewhere:
		return volumeReason(s.group)
	case attachFull:
		return scheduling.Reason{Code: scheduling.ReasonAttachLimit, Detail: "no further volumes of " + node.Attached.TurnsAway(s.group) + " can be attached to the node"}
	case lacking:
		r := s.resourceReason(s.lacking(s.Left[bin], s.class.Requests))
		if r.Code == scheduling.ReasonResources {
			r.Detail += " left on running nodes"
		}
		return r
	default:
		return scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "a pod planned onto the node binds the same host port"}
	}
}

// change is the change that lifts an obstacle of a place.
func (s *subject) change(p place, x obstacle) scheduling.Change {
	switch x.kind {
	case unmet:
		a := s.asks[x.n]
		c := scheduling.Change{Kind: a.kind(), Key: a.Raw, From: a.values(), Text: "do not ask for " + a.Short()}
		if v := s.labelAt(p, a.Key()); v != "" {
			c.Values, c.Text = []string{v}, fmt.Sprintf("ask for %s %s instead of %s", a.Raw, v, a.values())
		}
		return c
	case unmetAffinity:
		return scheduling.Change{Kind: scheduling.ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityText(s.group)}
	case volumesElsewhere:
		return scheduling.Change{Kind: scheduling.ChangeVolume, Text: "use other volumes: these can be used " + podspec.PlacesText(s.group)}
	case barred:
		return s.Tied.lift(s.class, s.id, s.bars(p)[x.n])
	}
	if p.template == onNode {
		return s.nodeChange(s.Nodes[p.at], p.at, x)
	}
	v, offer := s.Templates[p.template], &s.Offers.Offers[p.at]
	switch x.kind {
	case tainted:
		return tolerationFix(s.group, v.Pool.Spec.Template.Spec.Taints, "NodePool/"+v.Pool.Name, "node pool "+v.Pool.Name)
	case excluded:
		return offers.Admitting(s.Solver, offer)
	case notOnSale:
		return s.putOnSale(v.Pool.Name, offer)
	case portOfDaemon:
		d := s.Daemons[x.n]
		port, _ := firstClash(s.group.Ports, d.Constraint.Ports)
		return portChange(port, "daemon set "+d.Set.Name+" binds it")
	case overfull:
		return scheduling.Change{Kind: scheduling.ChangeDaemonSet, Text: "ask for less in daemon sets: they alone do not fit " + offer.InstanceType.Name}
	case lacking:
		return s.lessOf(x.n, max(s.Compiler.Rooms.Rooms[x.room][x.n], 0), s.class)
	case reserved:
		return raiseReservation(offer.Offering.ReservationID)
	default:
		return limitChange(s.limitGaps(offers.Purchase{Template: p.template, Offer: p.at}))
	}
}

func (s *subject) nodeChange(node *compile.ExistingNode, bin int, x obstacle) scheduling.Change {
	name := node.Node.Name
	switch x.kind {
	case tainted:
		return tolerationFix(s.group, node.Taints, "Node/"+name, "node "+name)
	case attachFull:
		driver := node.Attached.TurnsAway(s.group)
		return scheduling.Change{Kind: scheduling.ChangeVolume, Key: driver, Text: "use fewer volumes of " + driver}
	case lacking:
		resource, left, want := s.Table.Names[x.n], s.Left[bin][x.n], s.class.Requests[x.n]
		if driver := podspec.AttachDriver(resource); driver != "" {
			return attachFix(driver, max(left, 0), want)
		}
		q := podspec.Quantity(resource, want-left)
		return scheduling.Change{
			Kind: scheduling.ChangeRoom, Object: "Node/" + name, Key: string(resource), To: q.String(),
			Text: fmt.Sprintf("free %s of %s on node %s", q.String(), resource, name),
		}
	default:
		port, clash := firstClash(s.group.Ports, node.Ports)
		if !clash {
			port, _ = s.plannedPort(bin)
		}
		return portChange(port, "it is taken on node "+name)
	}
}

// labelAt is the value of a label at a place, "" for none, as of the host name that a machine will have.
func (s *subject) labelAt(p place, key string) string {
	if p.template == onNode {
		return s.Nodes[p.at].Labels[key]
	}
	if key == corev1.LabelHostname {
		return ""
	}
	value, _ := s.labelOf(p.template, p.at, key)
	return value
}
