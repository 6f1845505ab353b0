package cluster

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// axis is a topology key, with the domains of its values numbered.
type axis struct {
	key    string
	values []string // by domain
	domain map[string]int32
}

// nodeName is the topology key of a WorkloadShare, which counts by node, whether that has a label for its host name or
// not. No term of a pod has an empty key.
const nodeName = ""

// perNode reports whether the domains are single nodes.
func (a *axis) perNode() bool { return a.key == corev1.LabelHostname || a.key == nodeName }

// number is the domain of a node with some labels; -1 where it lacks the label.
func (a *axis) number(labels map[string]string) int32 {
	value, ok := labels[a.key]
	if !ok {
		return -1
	}
	return a.valued(value)
}

// valued is the domain of a value.
func (a *axis) valued(value string) int32 {
	n, ok := a.domain[value]
	if !ok {
		n = int32(len(a.values))
		a.domain[value], a.values = n, append(a.values, value)
	}
	return n
}

// counter counts the pods that a target selects by domain.
type counter struct {
	// target is one of the compiled problem, or with together one of the model.
	target, axis int
	together     bool
	// filter is the spread whose node policies say which nodes count; nil where all do.
	filter *filter
	// required says that some term that has to hold reads it, hard that a spread does, and so asks for the domain with
	// the fewest pods.
	required, hard bool
}

// filter is the nodes that a spread constraint looks at.
type filter struct {
	group                  int // whose node affinity or tolerations say which nodes count; 0 if neither does
	honorAffinity, honorTo bool
	axes                   []int // labels that nodes must have, too
}

func (f *filter) passes(k *Kind) bool {
	if f == nil {
		return true
	}
	if f.honorAffinity && !k.matched[f.group] || f.honorTo && !k.tolerated[f.group] {
		return false
	}
	return !slices.ContainsFunc(f.axes, func(a int) bool { return k.domains[a] == -1 })
}

// Holder counts by domain the pods that hold a term about a target, because the term also restricts or attracts the pods
// of the target.
type Holder struct {
	Axis     int
	Weight   int64 // the score that a pod that holds the term adds to a node in its domain
	target   int
	required bool // it is an anti-affinity that has to hold
}

// Spread is a topology spread constraint.
type Spread struct {
	Counter, Axis int
	MaxSkew       int64
	Host          bool // its domains are single nodes
	minDomains    int64
	self          int64 // 1 if the constraint selects the pod itself
}

// Preferred is a preferred term of affinity, or of anti-affinity with a weight below 0.
type Preferred struct {
	Counter, Axis int
	Weight        int64
}

// Terms are the topology terms of a class.
type Terms struct {
	// Soft are the spreads with ScheduleAnyway. With Lenient, nodes that lack a topology key of one are scored all the same.
	Soft      []Spread
	Lenient   bool
	Preferred []Preferred

	required []Term // the terms that have to hold: those of the pods themselves, then the anti-affinity of others
	own      int    // how many of them the pods state themselves
	follows  bool   // an affinity is among them
	alone    bool   // that affinity selects the pods themselves
	holds    []int  // the holders of which its pods are
}

// Required are the topology terms that have to hold for the pods: their own, then the anti-affinity of other pods.
func (x *Terms) Required() []Term { return x.required }

// HasRequired reports whether any term has to hold for the pods, be it the anti-affinity of others.
func (x *Terms) HasRequired() bool { return len(x.required) > 0 }

// Own reports whether the pods themselves state terms that have to hold.
func (x *Terms) Own() bool { return x.own > 0 }

// Repel reports whether the pods have an anti-affinity that has to hold.
func (x *Terms) Repel() bool {
	return slices.ContainsFunc(x.required[:x.own], func(t Term) bool { return t.Spec.Kind == podspec.AntiAffinityTerm })
}

// Exclusive reports whether there are pods with which those of the class may not share a node.
func (x *Terms) Exclusive() bool {
	return slices.ContainsFunc(x.required, func(t Term) bool { return t.Spec.Kind == podspec.AntiAffinityTerm && t.Spec.PerHost() })
}

// Independent reports whether no term that has to hold is about the pods of a class: none restricts them, and none counts
// them.
func (m *Model) Independent(c int32) bool {
	x := &m.Classes[c]
	return !x.HasRequired() && !slices.ContainsFunc(x.counts, func(n int32) bool { return m.counts[n].required })
}

// Alike is a name that is equal for classes that the filters cannot tell apart: their pods may exchange their nodes. They
// may differ in preferences, which only scores read.
func (m *Model) Alike(c int32) string {
	x := &m.Classes[c]
	b := fmt.Append(nil, x.Number, x.Needs)
	for i := range x.required {
		b = fmt.Append(b, " ", x.required[i].Foreign, x.required[i].counter, *x.required[i].Spec)
	}
	for _, n := range x.counts {
		if m.counts[n].required {
			b = fmt.Append(b, " +", n)
		}
	}
	return string(b)
}

// TopologyKeys are the keys, except that of hosts, of the terms that restrict or count the pods of a class, and of those
// that count the pods which these terms select.
func (m *Model) TopologyKeys(c int32) []string {
	x := &m.Classes[c]
	var out []string
	add := func(axis int) {
		if key := requirements.NormalizeKey(m.axes[axis].key); key != corev1.LabelHostname && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, n := range x.counts {
		if m.counts[n].required {
			add(m.counts[n].axis)
		}
	}
	for i := range x.required {
		t := &x.required[i]
		add(t.Axis)
		for n := range m.counts {
			if c := &m.counts[n]; c.required && c.target == t.Spec.Target {
				add(c.axis)
			}
		}
	}
	return out
}

func (r *reader) axisOf(key string) int {
	n := slices.IndexFunc(r.m.axes, func(a axis) bool { return a.key == key })
	if n < 0 {
		n = len(r.m.axes)
		r.m.axes = append(r.m.axes, axis{key: key, domain: map[string]int32{}})
	}
	return n
}

func (r *reader) counter(target, at int, f *filter) int {
	n := slices.IndexFunc(r.m.counts, func(c counter) bool {
		return !c.together && c.target == target && c.axis == at && (c.filter == nil) == (f == nil) &&
			(f == nil || c.filter.group == f.group && c.filter.honorAffinity == f.honorAffinity && c.filter.honorTo == f.honorTo && slices.Equal(c.filter.axes, f.axes))
	})
	if n < 0 {
		n = len(r.m.counts)
		r.m.counts = append(r.m.counts, counter{target: target, axis: at, filter: f})
	}
	return n
}

func (r *reader) holder(h Holder) int {
	n := slices.Index(r.m.holders, h)
	if n < 0 {
		n = len(r.m.holders)
		r.m.holders = append(r.m.holders, h)
	}
	return n
}

// hardAffinityWeight is added to the score of a node for each pod there with a required affinity that selects the pod
// (InterPodAffinityArgs.HardPodAffinityWeight).
const hardAffinityWeight = 1

func (r *reader) readTerms(x *Class, list *podspec.TopologyTerms) {
	among := func(target int) bool { return r.m.In.TopologyTerms.Targets.Has(x.among, target) }
	var axes [2][]int // of the spreads that have to hold, and of the others
	for _, t := range list.Terms {
		if t.Kind == podspec.SpreadTerm && !t.Share {
			kind := 0
			if t.Weight > 0 {
				kind = 1
			}
			axes[kind] = append(axes[kind], r.axisOf(t.Key))
		}
	}
	for i := range list.Terms {
		t := &list.Terms[i]
		at := r.axisOf(t.Key)
		switch {
		case t.Share:
			if r.plans {
				r.readShare(x, t)
			}
		case t.Kind == podspec.SpreadTerm:
			kind := 0
			if t.Weight > 0 {
				kind = 1
			}
			f := &filter{honorAffinity: t.HonorAffinity, honorTo: t.HonorTaints, axes: axes[kind]}
			if t.HonorAffinity || t.HonorTaints {
				f.group = x.Number
			}
			p := Spread{Counter: r.counter(t.Target, at, f), Axis: at, MaxSkew: t.MaxSkew, minDomains: t.MinDomains, Host: t.Key == corev1.LabelHostname}
			if among(t.Target) {
				p.self = 1
			}
			if r.plans && p.Host {
				p.minDomains = math.MaxInt64
			}
			r.m.counts[p.Counter].hard = r.m.counts[p.Counter].hard || kind == 0
			if kind == 1 {
				x.Soft = append(x.Soft, p)
			} else {
				x.required = append(x.required, Term{Spec: t, Axis: at, counter: p.Counter, spread: p})
				r.m.counts[p.Counter].required = true
			}
		default:
			p := Preferred{Counter: r.counter(t.Target, at, nil), Axis: at, Weight: t.Weight}
			anti := t.Kind == podspec.AntiAffinityTerm
			h := Holder{target: t.Target, Axis: at, required: anti && t.Weight == 0, Weight: t.Weight}
			if t.Weight == 0 {
				x.required = append(x.required, Term{Spec: t, Axis: at, counter: p.Counter})
				r.m.counts[p.Counter].required = true
				if !anti {
					x.follows, x.alone = true, among(t.Target)
					h.Weight = hardAffinityWeight
				}
			} else {
				if anti {
					p.Weight, h.Weight = -p.Weight, -h.Weight
				}
				x.Preferred = append(x.Preferred, p)
			}
			x.holds = append(x.holds, r.holder(h))
		}
	}
}

// readShare reads the WorkloadShare of a policy as a spread over nodes, whose minimum is 0.
func (r *reader) readShare(x *Class, t *podspec.TopologyTerm) {
	at := r.axisOf(nodeName)
	p := Spread{Counter: r.counter(t.Target, at, &filter{}), Axis: at, MaxSkew: t.MaxSkew, minDomains: math.MaxInt64, Host: true, self: 1}
	r.m.counts[p.Counter].required = true
	x.required = append(x.required, Term{Spec: t, Axis: at, counter: p.Counter, spread: p})
}
