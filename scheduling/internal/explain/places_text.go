package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/spotshare"
)

// reasonOf words an obstacle of a place.
func reasonOf(s *subject, p place, x obstacle) scheduling.ReasonCount {
	switch {
	case x.kind == violatesTerm:
		v := s.violations(p)[x.n]
		return s.explainer.after().reason(s.id, v, s.explainer.after().where(s.id, v))
	case p.template == onNode:
		return nodeReason(s, p.at, x)
	default:
		return offerReason(s, p, x)
	}
}

func offerReason(s *subject, p place, x obstacle) scheduling.ReasonCount {
	pool, offer := s.in.Templates[p.template].Pool, &s.in.Offers.Offers[p.at]
	//exhaustive:enforce
	switch x.kind {
	case ruledOutByPool: // reasons are counted over the offers within the requirements of the pool
	case tainted:
		return scheduling.ReasonCount{Code: scheduling.ReasonTaints, Detail: fmt.Sprintf("NodePool %s has the untolerated taint %s", pool.Name, taintText(s.needs.templates[p.template].hard))}
	case unmet:
		if a := s.needs.asks[x.n]; a.selector {
			return scheduling.ReasonCount{Code: scheduling.ReasonRequirements, Detail: "node selector " + a.expression.Raw + "=" + strings.Join(a.expression.Values(), ",") + " does not match"}
		}
		return affinityReason(s, p)
	case unmetAffinity:
		return affinityReason(s, p)
	case volumesElsewhere:
		return volumeReason(s.needs.group)
	case excluded:
		return offers.Reason(s.in.Facts.Solver, offer.Excluded)
	case notOnSale:
		return s.state.notOnSale(pool.Name, offer)
	case portOfDaemon:
		return scheduling.ReasonCount{Code: scheduling.ReasonHostPorts, Detail: "daemon set " + s.in.Daemons[x.n].Set.Name + " binds the same host port"}
	case overfull:
		return scheduling.ReasonCount{Code: scheduling.ReasonResources, Detail: "daemons alone do not fit"}
	case lacking:
		return resourceReason(s.in, shortOf(s.in.Rooms.Rooms[x.room], s.class.Requests))
	case reserved:
		return scheduling.ReasonCount{Code: scheduling.ReasonReservation, Detail: "reservation " + offer.Offering.ReservationID + " is used up"}
	case limited:
		return scheduling.ReasonCount{Code: scheduling.ReasonLimits, Detail: fmt.Sprintf("NodePool %s reaches its limit of %s", pool.Name, instance.LimitedResources(pool)[x.n])}
	case portBound, portPlanned, attachFull, violatesTerm: // the first three are of nodes, the last is in reasonOf
	}
	return scheduling.ReasonCount{}
}

func nodeReason(s *subject, bin int, x obstacle) scheduling.ReasonCount {
	node := s.in.Nodes[bin]
	//exhaustive:enforce
	switch x.kind {
	case tainted:
		return scheduling.ReasonCount{Code: scheduling.ReasonTaints, Detail: "nodes have the untolerated taint " + taintText(node.Fit(s.needs.group).Node.Taint)}
	case unmet, unmetAffinity:
		if on := (place{onNode, bin}); s.spotBound(on).Policy != "" {
			return affinityReason(s, on)
		}
		return scheduling.ReasonCount{Code: scheduling.ReasonRequirements, Detail: "node selector or required node affinity does not match running nodes"}
	case portBound:
		return scheduling.ReasonCount{Code: scheduling.ReasonHostPorts, Detail: "a pod on the node binds the same host port"}
	case volumesElsewhere:
		return volumeReason(s.needs.group)
	case attachFull:
		return scheduling.ReasonCount{Code: scheduling.ReasonAttachLimit, Detail: "no further volumes of " + node.Fit(s.needs.group).FullDriver + " can be attached to the node"}
	case lacking:
		r := resourceReason(s.in, shortOf(s.state.Left[bin], s.class.Requests))
		if r.Code == scheduling.ReasonResources {
			r.Detail += " left on running nodes"
		}
		return r
	case portPlanned:
		return scheduling.ReasonCount{Code: scheduling.ReasonHostPorts, Detail: "a pod planned onto the node binds the same host port"}
	case ruledOutByPool, excluded, notOnSale, portOfDaemon, overfull, reserved, limited, violatesTerm: // all but the last are of offers
	}
	return scheduling.ReasonCount{}
}

// changeOf proposes a change that lifts an obstacle of a place.
func changeOf(s *subject, p place, x obstacle) scheduling.Change {
	switch {
	case x.kind == violatesTerm:
		return s.explainer.after().lift(s.id, s.violations(p)[x.n])
	case p.template == onNode:
		return nodeChange(s, p, x)
	default:
		return offerChange(s, p, x)
	}
}

// askChange asks for the value that a place has of a label.
func askChange(s *subject, p place, a ask) scheduling.Change {
	if b := s.spotBound(p); b.Policy != "" && !a.selector {
		return affinityChange(s, p)
	}
	c := scheduling.Change{Kind: a.kind(), Key: a.expression.Raw, From: a.values(), Text: "drop " + a.expression.Short() + " from the required node affinity"}
	if a.selector {
		c.Text = "drop the node selector " + a.expression.Raw
	}
	if v := s.labelAt(p, a.expression.Key()); v != "" {
		c.Values, c.Text = []string{v}, fmt.Sprintf("ask for %s %s instead of %s", a.expression.Raw, v, a.values())
	}
	return c
}

func affinityChange(s *subject, p place) scheduling.Change {
	c := scheduling.Change{Kind: scheduling.ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityFault(s.needs.group)}
	if b := s.spotBound(p); b.Policy != "" {
		c.Key, c.Text = offerings.CapacityTypeLabel, allowSpot(b)
	}
	return c
}

// allowSpot proposes to change the bound of a SpotPolicy.
func allowSpot(b spotshare.Bound) string {
	return fmt.Sprintf("let SpotPolicy %s allow more pods on spot nodes (%s)", b.Policy, b.Field)
}

// bound is the bound of a SpotPolicy that keeps the pods off spot nodes; the zero value for none.
func (s *subject) bound() spotshare.Bound {
	if s.class == nil || len(s.class.Pods) == 0 {
		return spotshare.Bound{}
	}
	return s.in.Facts.Division.BoundOf(podspec.PodKey(s.class.Pods[0]))
}

// spotBound is the bound of a SpotPolicy that keeps the pods off a place; the zero value where the place is on no spot node.
func (s *subject) spotBound(p place) spotshare.Bound {
	if s.labelAt(p, offerings.CapacityTypeLabel) != string(offerings.Spot) {
		return spotshare.Bound{}
	}
	return s.bound()
}

func volumesChange(group *podspec.Constraint) scheduling.Change {
	return scheduling.Change{Kind: scheduling.ChangeVolume, Text: "use other volumes: these can be used " + podspec.PlacesText(group)}
}

func offerChange(s *subject, p place, x obstacle) scheduling.Change {
	v, offer := s.in.Templates[p.template], &s.in.Offers.Offers[p.at]
	//exhaustive:enforce
	switch x.kind {
	case ruledOutByPool:
		return widening(s, p, s.state.ruledOut(p.template).keys[x.n])
	case tainted:
		return tolerationFix(s.needs.group, v.Pool.Spec.Template.Spec.Taints, "NodePool/"+v.Pool.Name, "NodePool "+v.Pool.Name)
	case unmet:
		return askChange(s, p, s.needs.asks[x.n])
	case unmetAffinity:
		return affinityChange(s, p)
	case volumesElsewhere:
		return volumesChange(s.needs.group)
	case excluded:
		return offers.Admitting(s.in.Facts.Solver, offer)
	case notOnSale:
		return putOnSale(s.state, v.Pool.Name, offer)
	case portOfDaemon:
		d := s.in.Daemons[x.n]
		port, _ := firstClash(s.needs.group.Ports, d.Constraint.Ports)
		return portChange(port, "daemon set "+d.Set.Name+" binds it")
	case overfull:
		return scheduling.Change{Kind: scheduling.ChangeDaemonSet, Text: "ask for less in daemon sets: they alone do not fit " + offer.InstanceType.Name}
	case lacking:
		return lessOf(s.in.Table.Names[x.n], max(s.in.Rooms.Rooms[x.room][x.n], 0), s.class.Requests[x.n])
	case reserved:
		return raiseReservation(offer.Offering)
	case limited:
		return limitChange(limitGaps(s.state, offers.OfferRef{Template: p.template, Offer: p.at}))
	case portBound, portPlanned, attachFull, violatesTerm: // the first three are of nodes, the last is in changeOf
	}
	return scheduling.Change{}
}

func nodeChange(s *subject, p place, x obstacle) scheduling.Change {
	node := s.in.Nodes[p.at]
	name := node.Node.Name
	//exhaustive:enforce
	switch x.kind {
	case tainted:
		return nodeTaintFix(s.needs.group, node.Taints, name)
	case unmet:
		return askChange(s, p, s.needs.asks[x.n])
	case unmetAffinity:
		return affinityChange(s, p)
	case volumesElsewhere:
		return volumesChange(s.needs.group)
	case attachFull:
		driver := node.Fit(s.needs.group).FullDriver
		return scheduling.Change{Kind: scheduling.ChangeVolume, Key: driver, Text: "use fewer volumes of " + driver}
	case lacking:
		resource, left, want := s.in.Table.Names[x.n], s.state.Left[p.at][x.n], s.class.Requests[x.n]
		if driver := podspec.AttachDriver(resource); driver != "" {
			return attachFix(driver, max(left, 0), want)
		}
		q := podspec.Quantity(resource, want-left)
		return scheduling.Change{
			Kind: scheduling.ChangeRoom, Object: "Node/" + name, Key: string(resource), To: q.String(),
			Text: fmt.Sprintf("free %s of %s on node %s", atLeast(resource, want-left), resource, name),
		}
	case portBound:
		port, _ := firstClash(s.needs.group.Ports, node.Ports)
		return portChange(port, "it is taken on node "+name)
	case portPlanned:
		port, _ := s.plannedPort(p.at)
		return portChange(port, "it is taken on node "+name)
	case ruledOutByPool, excluded, notOnSale, portOfDaemon, overfull, reserved, limited, violatesTerm: // all but the last are of offers
	}
	return scheduling.Change{}
}

// labelAt is the value of a label at a place, "" for none, e.g. for the host name of a machine that could be launched.
func (s *subject) labelAt(p place, key string) string {
	if p.template == onNode {
		return s.in.Nodes[p.at].Labels[key]
	}
	if key == corev1.LabelHostname {
		return ""
	}
	value, _ := s.in.Offers.LabelOf(s.in.Templates[p.template], p.at, key)
	return value
}
