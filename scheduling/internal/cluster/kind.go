package cluster

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Kind is a kind of node: all nodes launched from an offer are alike, and each node that is there at first is a kind of
// its own.
type Kind struct {
	Name   string // of a node that is there at first
	Labels map[string]string
	Taints []corev1.Taint
	Zone   string // region and zone
	// Admits says by group whether taints, labels and volumes let its pods in. matched says whether labels alone do,
	// tolerated whether taints alone do.
	Admits, matched, tolerated []bool
	Allocatable                []int64
	Vacant                     []int64 // Allocatable less the requests of DaemonSets and running pods
	Room                       []int64 // as Vacant, or more: see Boundless
	Ports                      []podspec.HostPort
	Daemons                    []int   // DaemonSets of a bought kind, by number
	domains                    []int32 // by axis
}

// OwnDomain stands for a domain of its own for each node of a kind, e.g. the host name of a node that may join.
const OwnDomain int32 = -2

// bought is an offer with the labels that its nodes get.
type bought struct {
	offer  offers.OfferRef
	labels string
}

// Kind is a kind by its number.
func (m *Model) Kind(number int) *Kind { return &m.kinds[number] }

func (m *Model) add(k Kind) int {
	m.kinds = append(m.kinds, k)
	return len(m.kinds) - 1
}

// Bought returns the number of the kind of nodes launched from an offer. Its DaemonSets have their room first, and each node has
// a host name of its own.
func (m *Model) Bought(p offers.OfferRef) int {
	return m.boughtAs(bought{offer: p}, m.In.Templates[p.Template].Labels)
}

// Labelled is as Bought, with other labels than those of the template.
func (m *Model) Labelled(p offers.OfferRef, labels map[string]string) int {
	return m.boughtAs(bought{p, fmt.Sprint(labels)}, labels)
}

func (m *Model) boughtAs(key bought, given map[string]string) int {
	if n, known := m.bought[key]; known {
		return n
	}
	p, in := key.offer, m.In
	template, offer := in.Templates[p.Template], &in.Offers.Offers[p.Offer]
	labels := map[string]string{}
	maps.Copy(labels, given)
	maps.Copy(labels, offer.InstanceType.NodeLabels(*offer.Offering))
	labels[scheduling.NodePoolLabel], labels[corev1.LabelHostname] = template.Pool.Name, ""
	labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = "true", "true"
	requirements.AddAliases(labels)
	k := m.newKind("", labels, template.Pool.Spec.Template.Spec.Taints, in.Offers.Shapes[offer.Shape].Allocatable, true)
	for g := range k.Admits {
		row := in.Offered[p.Template].Rows[g]
		k.Admits[g] = k.Admits[g] && row != nil && row.Has(p.Offer) // pods may give a launch labels, and not a node
	}
	for i, row := range in.Offered[p.Template].Daemons {
		if row == nil || !row.Has(p.Offer) {
			continue
		}
		d := in.Daemons[i]
		for r, n := range d.Requests {
			k.Room[r] = max(0, k.Room[r]-n)
		}
		k.Ports = append(k.Ports, d.Constraint.Ports...)
		k.Daemons = append(k.Daemons, i)
	}
	k.Vacant = k.Room
	m.bought[key] = m.add(k)
	return m.bought[key]
}

// Boundless adds a kind like another one, but with more room than all pods take together of every resource that it has,
// and for the given classes, too. One such node stands for as many machines as are needed in its domains.
func (m *Model) Boundless(kind int, admits []bool) int {
	k := m.kinds[kind]
	k.Room, k.Admits = slices.Clone(k.Room), slices.Clone(k.Admits)
	for i, n := range k.Room {
		if n > 0 {
			k.Room[i] = math.MaxInt64 / 2
		}
	}
	for c, yes := range admits {
		if yes {
			k.Admits[m.Classes[c].Number] = true
		}
	}
	return m.add(k)
}

// Holds reports whether an empty node of a kind admits pods, given by class, and has room for all of them.
func (m *Model) Holds(kind int, classes []int32) bool {
	k := &m.kinds[kind]
	room := slices.Clone(k.Room)
	for _, c := range classes {
		x := &m.Classes[c]
		if !k.Admits[x.Number] || podspec.PortsClash(x.Group.Ports, k.Ports) {
			return false
		}
		for _, q := range x.Needs {
			if room[q.Resource] -= q.N; room[q.Resource] < 0 {
				return false
			}
		}
	}
	return true
}

func (m *Model) newKind(name string, labels map[string]string, taints []corev1.Taint, allocatable []int64, bought bool) Kind {
	groups := m.In.Classes.Groups
	k := Kind{
		Name: name, Labels: labels, Taints: taints, Zone: labels[corev1.LabelTopologyRegion] + "/" + labels[corev1.LabelTopologyZone],
		Admits: make([]bool, len(groups)), matched: make([]bool, len(groups)), tolerated: make([]bool, len(groups)),
		Allocatable: allocatable, Room: slices.Clone(allocatable), domains: make([]int32, len(m.axes)),
	}
	for g, group := range groups {
		x := group.FitOn(name, labels, taints)
		k.tolerated[g], k.matched[g], k.Admits[g] = x.Taint == nil, x.Affinity, x.Admits()
	}
	for i := range m.axes {
		switch a := &m.axes[i]; {
		case bought && a.perNode():
			k.domains[i] = OwnDomain
		case a.key == nodeName:
			k.domains[i] = a.valued(name)
		default:
			k.domains[i] = a.number(labels)
		}
	}
	return k
}

// Value is the value of a topology key that a domain stands for; "" for a node that has no name yet.
func (m *Model) Value(axis int, domain int32) string {
	if values := m.axes[axis].values; domain >= 0 && int(domain) < len(values) {
		return values[domain]
	}
	return ""
}

// Domains are those of a node that may join, by axis, given by its labels except the host name. They are -1 where it
// lacks a label, and [OwnDomain] where the domains are single nodes.
func (m *Model) Domains(label func(key string) (value string, ok bool)) []int32 {
	out := make([]int32, len(m.axes))
	for i := range m.axes {
		a := &m.axes[i]
		if a.perNode() {
			out[i] = OwnDomain
		} else if value, ok := label(a.key); ok {
			out[i] = a.valued(value)
		} else {
			out[i] = -1
		}
	}
	return out
}
