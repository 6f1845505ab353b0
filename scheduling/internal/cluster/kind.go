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

// Kind is a kind of node: all nodes that a purchase makes are alike, and each node that is there at first is a kind of
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

// hostDomain stands for a domain of its own for each node of a kind.
const hostDomain int32 = -2

// bought is a purchase with the labels that its nodes get.
type bought struct {
	purchase offers.Purchase
	labels   string
}

// Kind is a kind by its number.
func (m *Model) Kind(number int) *Kind { return &m.kinds[number] }

func (m *Model) add(k Kind) int {
	m.kinds = append(m.kinds, k)
	return len(m.kinds) - 1
}

// Bought is the number of the kind of node that a purchase makes. Its DaemonSets have their room first, and each node has
// a host name of its own.
func (m *Model) Bought(p offers.Purchase) int {
	return m.boughtAs(bought{purchase: p}, m.In.Templates[p.Template].Labels)
}

// Labelled is as Bought, with other labels than those of the template.
func (m *Model) Labelled(p offers.Purchase, labels map[string]string) int {
	return m.boughtAs(bought{p, fmt.Sprint(labels)}, labels)
}

func (m *Model) boughtAs(key bought, given map[string]string) int {
	if n, known := m.bought[key]; known {
		return n
	}
	p, in := key.purchase, m.In
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
		hard, _ := podspec.Untolerated(group.Tolerations, taints)
		k.tolerated[g] = hard == nil
		k.matched[g] = group.OwnMatchesNode(name, labels)
		k.Admits[g] = hard == nil && k.matched[g] && group.VolumesMatch(name, labels)
	}
	for i := range m.axes {
		if a := &m.axes[i]; bought && a.key == corev1.LabelHostname {
			k.domains[i] = hostDomain
		} else {
			k.domains[i] = a.number(labels)
		}
	}
	return k
}
