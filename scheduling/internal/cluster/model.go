package cluster

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Model is the part that all states of a cluster share. It changes only when kinds of nodes are added, and any number of
// states may use it.
type Model struct {
	In       *instance.Instance
	Classes  []Class // by planned class of In
	axes     []axis
	counts   []counter
	holders  []Holder
	kinds    []Kind
	bought   map[bought]int   // the number of a kind
	names    map[string]int32 // of the nodes that are there at first
	existing []int            // their kinds, by number of the node
	running  []tally
}

// reader reads the topology terms of a model.
type reader struct {
	m *Model
	// plans says that the terms are read as plans keep them, see [NewForPlans].
	plans bool
	// countedBy is, by set of targets that a pod is among, the counters that count it.
	countedBy [][]int32
	// together selects pods of one workload. For the constraints that kube-scheduler has by itself, togetherOf is the
	// counters of each of its targets, and togetherBy is the counters by set of targets, as countedBy.
	together               *podspec.Targets
	togetherOf, togetherBy [][]int32
}

// Class is pods that scheduling cannot tell apart, as the filters read them.
type Class struct {
	Group  *podspec.Constraint
	Number int    // of the group
	Needs  []Need // the requests of a pod, by resource
	Terms
	Holders []int32 // holders whose terms select its pods
	among   int
	counts  []int32 // counters that count its pods
}

// Need is how much of a resource a pod requests.
type Need struct {
	Resource int
	N        int64
}

// New reads the pods and nodes of a compiled problem, with the topology terms that kube-scheduler knows.
func New(in *instance.Instance) *Model { return read(in, false) }

// NewForPlans is New with topology terms as plans keep them. They know one more, the WorkloadShare of the policy. And a
// spread over host names has the minimum 0, because a plan can launch a node without pods.
func NewForPlans(in *instance.Instance) *Model { return read(in, true) }

func read(in *instance.Instance, plans bool) *Model {
	m := &Model{In: in, bought: map[bought]int{}}
	r, targets := &reader{m: m, plans: plans}, in.TopologyTerms.Targets
	r.countedBy = make([][]int32, len(targets.Sets))
	for _, p := range in.Planned {
		x := Class{Group: in.Classes.Groups[p.Group], Number: p.Group, among: p.Among}
		for d, n := range p.Requests {
			if n > 0 {
				x.Needs = append(x.Needs, Need{d, n})
			}
		}
		r.readTerms(&x, in.TopologyTerms.List[p.TopologyTerms])
		m.Classes = append(m.Classes, x)
	}
	for i := range in.ExistingAntiAffinity {
		k := &in.ExistingAntiAffinity[i]
		r.holder(Holder{target: k.Term.Target, Axis: r.axisOf(k.Term.Key), required: true})
	}
	for i := range r.countedBy {
		for n := range m.counts {
			if !m.counts[n].together && targets.Has(i, m.counts[n].target) {
				r.countedBy[i] = append(r.countedBy[i], int32(n))
			}
		}
	}
	r.readSystemSpread()
	for i := range m.Classes {
		x := &m.Classes[i]
		x.counts = append(x.counts, r.countedBy[x.among]...)
		for n := range m.holders {
			if targets.Has(x.among, m.holders[n].target) {
				x.Holders = append(x.Holders, int32(n))
			}
		}
		x.own = len(x.required)
		for _, h := range x.Holders {
			if o := &m.holders[h]; o.required {
				spec := &podspec.TopologyTerm{Kind: podspec.AntiAffinityTerm, Key: m.axes[o.Axis].key, Target: o.target}
				x.required = append(x.required, Term{Spec: spec, Axis: o.Axis, counter: int(h), Foreign: true})
			}
		}
	}
	preferred := r.readPreferences()
	m.readNodes()
	r.readRunning(preferred)
	return m
}

// readNodes adds the nodes that are there, with the pods that run on them.
func (m *Model) readNodes() {
	in := m.In
	m.names = make(map[string]int32, len(in.Nodes))
	for i, x := range in.Nodes {
		k := m.newKind(x.Node.Name, x.Labels, x.Taints, in.Table.Vector(instance.NodeAllocatable(in.Facts.Problem, x.Node)), false)
		k.Ports, k.Room, k.Vacant = x.Ports, x.Room, x.Room
		for g, group := range in.Classes.Groups {
			k.Admits[g] = k.Admits[g] && x.Attached.FullDriver(group) == ""
		}
		m.names[x.Node.Name] = int32(i)
		m.existing = append(m.existing, m.add(k))
	}
	// Nodes that are being removed take no pods in, and still count for topology terms.
	for _, h := range in.Facts.Cluster.Hosts {
		if _, known := m.names[h.Name]; known || h.Node == nil {
			continue
		}
		k := m.newKind(h.Name, h.Node.Labels, instance.EffectiveTaints(h.Node, in.PoolNamed(h.Node.Labels[scheduling.NodePoolLabel])), make([]int64, len(in.Table.Names)), false)
		clear(k.Admits)
		m.names[h.Name] = int32(len(m.existing))
		m.existing = append(m.existing, m.add(k))
	}
}

// Holder is one by its number.
func (m *Model) Holder(number int32) *Holder { return &m.holders[number] }

// Existing is the number of nodes that are there before any machine joins.
func (m *Model) Existing() int { return len(m.existing) }

// Node is the number of a node that is there before any machine joins.
func (m *Model) Node(name string) (int32, bool) {
	n, ok := m.names[name]
	return n, ok
}

// Names are those of the nodes that are there before any machine joins, by number.
func (m *Model) Names() []string {
	out := make([]string, len(m.existing))
	for name, n := range m.names {
		out[n] = name
	}
	return out
}

// Apart reports whether pods of two classes may not share a node.
func (m *Model) Apart(a, b int32) bool {
	x, y := &m.Classes[a], &m.Classes[b]
	return m.keepsAway(x, y) || m.keepsAway(y, x)
}

func (m *Model) keepsAway(x, y *Class) bool {
	return slices.ContainsFunc(x.required[:x.own], func(t Term) bool {
		return t.Spec.Kind == podspec.AntiAffinityTerm && t.Spec.PerHost() && m.In.TopologyTerms.Targets.Has(y.among, t.Spec.Target)
	})
}
