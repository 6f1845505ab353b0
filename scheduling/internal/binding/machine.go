package binding

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

// machine is a kind of node as the plugins see it.
type machine struct {
	zone string // its region and zone, by which kube-scheduler takes nodes in turns
	// admits tells by group whether taints, labels and volumes let its pods in; reach whether
	// labels alone do, untainted whether taints alone do.
	admits, reach, untainted []bool
	soft                     []int32 // by group, taints that its pods would rather avoid
	granted                  []int64 // by class, what its node affinity prefers there
	allocatable              []int64
	vacant                   []int64 // what is allocatable less what daemons and running pods request
	room                     []int64 // vacant, or more than that; see Boundless
	ports                    []podspec.HostPort
	basic                    [2]int64 // what is allocatable of CPU and memory
	requested, scored        [2]int64
	domains                  []int32 // by axis; unknown for the host of a machine that is bought
}

// hostDomain stands for a domain of its own for each node of the kind.
const hostDomain int32 = -2

// bought is what a kind of node comes of.
type bought struct {
	purchase offers.Purchase
	labels   string
}

// Machine is the number of the kind of node that a purchase becomes. The daemons that will run there
// have their room first. Its host name is its own.
func (s *Scheduler) Machine(p offers.Purchase) int {
	return s.kind(bought{purchase: p}, s.c.Templates[p.Template].Labels)
}

// Labelled is such a kind with other labels than those of its template.
func (s *Scheduler) Labelled(p offers.Purchase, labels map[string]string) int {
	return s.kind(bought{p, fmt.Sprint(labels)}, labels)
}

// kind is the number of a kind of node, which is added where it is new.
func (s *Scheduler) kind(key bought, given map[string]string) int {
	if kind, known := s.kinds[key]; known {
		return kind
	}
	p := key.purchase
	c := s.c
	template, offer := c.Templates[p.Template], &c.Offers.Offers[p.Offer]
	labels := map[string]string{}
	maps.Copy(labels, given)
	maps.Copy(labels, offer.InstanceType.NodeLabels(*offer.Offering))
	labels[scheduling.NodePoolLabel], labels[corev1.LabelHostname] = template.Pool.Name, ""
	labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = "true", "true"
	requirements.AddAliases(labels)
	m := s.newMachine("", labels, template.Pool.Spec.Template.Spec.Taints, c.Offers.Shapes[offer.Shape].Allocatable, true)
	for g := range m.admits {
		row := c.Offered[p.Template].Rows[g]
		m.admits[g] = m.admits[g] && row != nil && row.Has(p.Offer) // pods may give a launch labels, and not a node
	}
	for i, row := range c.Offered[p.Template].Daemons {
		if row == nil || !row.Has(p.Offer) {
			continue
		}
		d := c.Daemons[i]
		for k, n := range d.Requests {
			m.room[k] = max(0, m.room[k]-n)
		}
		plain := [2]int64{amount(d.Requests, s.cpu), amount(d.Requests, s.memory)}
		m.take(plain, scored(&d.Set.Spec.Template.Spec))
		m.ports = append(m.ports, d.Constraint.Ports...)
	}
	m.vacant = m.room
	s.kinds[key] = len(s.machines)
	s.machines = append(s.machines, m)
	return s.kinds[key]
}

// Boundless adds a kind of node like another one, but with more room than all pods take
// together of every resource that it has, and for the given classes, too. It stands for as many
// machines as are needed where that one would be.
func (s *Scheduler) Boundless(kind int, admits []bool) int {
	m := s.machines[kind]
	m.room, m.admits = slices.Clone(m.room), slices.Clone(m.admits)
	for i, n := range m.room {
		if n > 0 {
			m.room[i] = math.MaxInt64 / 2
		}
	}
	for c, yes := range admits {
		if yes {
			m.admits[s.classes[c].number] = true
		}
	}
	s.machines = append(s.machines, m)
	return len(s.machines) - 1
}

// Holds reports whether a node of a kind admits pods, given by class, and has room for all of them, when
// no others are there.
func (s *Scheduler) Holds(kind int, classes []int32) bool {
	m := &s.machines[kind]
	room := slices.Clone(m.room)
	for _, c := range classes {
		x := &s.classes[c]
		if !m.admits[x.number] || podspec.PortsClash(x.group.Ports, m.ports) {
			return false
		}
		for _, q := range x.needs {
			if room[q.resource] -= q.n; room[q.resource] < 0 {
				return false
			}
		}
	}
	return true
}

func (m *machine) take(plain, scored [2]int64) {
	for i := range plain {
		m.requested[i] += plain[i]
		m.scored[i] += scored[i]
	}
}

func (s *Scheduler) newMachine(name string, labels map[string]string, taints []corev1.Taint, allocatable []int64, bought bool) machine {
	groups := s.c.Classes.Groups
	if s.avoids == nil {
		s.avoids = make([]bool, len(groups))
	}
	m := machine{
		zone:   labels[corev1.LabelTopologyRegion] + "/" + labels[corev1.LabelTopologyZone],
		admits: make([]bool, len(groups)), reach: make([]bool, len(groups)), untainted: make([]bool, len(groups)),
		soft: make([]int32, len(groups)), granted: make([]int64, len(s.classes)),
		allocatable: allocatable, room: slices.Clone(allocatable), domains: make([]int32, len(s.axes)),
		basic: [2]int64{amount(allocatable, s.cpu), amount(allocatable, s.memory)},
	}
	for g, group := range groups {
		hard, _ := podspec.Untolerated(group.Tolerations, taints)
		m.untainted[g] = hard == nil
		m.reach[g] = group.OwnMatchesNode(name, labels)
		m.admits[g] = hard == nil && m.reach[g] && group.VolumesMatch(name, labels)
		for i := range taints {
			if taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !podspec.Tolerates(group.Tolerations, &taints[i]) {
				m.soft[g]++
				s.avoids[g] = true
			}
		}
	}
	for i := range s.classes {
		for k := range s.classes[i].wishes {
			if w := &s.classes[i].wishes[k]; w.Term.MatchesNode(name, labels) {
				m.granted[i] += w.Weight
			}
		}
	}
	for i := range s.axes {
		if a := &s.axes[i]; bought && a.key == corev1.LabelHostname {
			m.domains[i] = hostDomain
		} else {
			m.domains[i] = a.number(labels)
		}
	}
	return m
}

// readNodes adds the nodes that are there, with what runs on them.
func (s *Scheduler) readNodes(kept []preference) {
	c := s.c
	s.names = make(map[string]int32, len(c.Nodes))
	for i, x := range c.Nodes {
		m := s.newMachine(x.Node.Name, x.Labels, x.Taints, c.Table.Vector(c.NodeAllocatable(x.Node)), false)
		m.ports = x.Ports
		for k, d := range [2]int{s.cpu, s.memory} {
			m.requested[k] = m.basic[k] - amount(x.Room, d)
			m.scored[k] = m.requested[k]
		}
		m.room, m.vacant = x.Room, x.Room
		if h := c.Cluster.Host(x.Node.Name); h != nil {
			for _, pod := range h.Pods {
				for k, n := range unstated(&pod.Spec) {
					m.scored[k] += n
				}
			}
		}
		s.names[x.Node.Name] = int32(i)
		s.existing = append(s.existing, len(s.machines))
		s.machines = append(s.machines, m)
	}
	// Those that go take nobody in any more, and count for terms between pods.
	for _, h := range c.Cluster.Hosts {
		if _, known := s.names[h.Name]; known || h.Node == nil {
			continue
		}
		m := s.newMachine(h.Name, h.Node.Labels, c.EffectiveTaints(h.Node, c.PoolNamed(h.Node.Labels[scheduling.NodePoolLabel])), make([]int64, len(c.Table.Names)), false)
		clear(m.admits)
		s.names[h.Name] = int32(len(s.existing))
		s.existing = append(s.existing, len(s.machines))
		s.machines = append(s.machines, m)
	}
	s.readRunning(kept)
}
