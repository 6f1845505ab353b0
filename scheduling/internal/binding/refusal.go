package binding

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Refusal is why a topology term keeps a pod off a node.
type Refusal uint8

// The refusals, in the words of kube-scheduler's filters PodTopologySpread and InterPodAffinity.
const (
	Allowed       Refusal = iota
	LacksLabel            // the node lacks the term's topology key
	TooSkewed             // one more pod in the domain would exceed maxSkew
	NoneToFollow          // no pod that the affinity selects is anywhere, and the pod does not select itself
	NotFollowed           // pods that the affinity selects are in other domains only
	Conflicts             // a pod that the anti-affinity selects is in the domain
	KeptAwayByPod         // a pod in the domain has an anti-affinity that selects this one
)

// term is a topology term that has to hold for the pods of a class: one of their own, or an anti-affinity of others
// that selects them.
type term struct {
	tie     *podspec.Tie // as its owner states it
	axis    int
	counter int    // whose pods the term selects; of an anti-affinity of others, the holder
	foreign bool   // it is an anti-affinity of others
	spread  spread // of a spread
}

// checks judges the terms of a class as the pods stand now.
type checks struct {
	r     *Run
	x     *class
	least []int64 // by term, for a spread: the pods in the domain that has the fewest
	first bool    // the class has an affinity, and no pod that it selects is anywhere
}

// prepare begins with a class, and reports whether any node can meet its terms.
func (k *checks) prepare(r *Run, x *class) bool {
	k.r, k.x, k.least, k.first = r, x, k.least[:0], len(x.required) > 0 && x.follows
	for i := range x.required {
		t := &x.required[i]
		low := int64(0)
		switch {
		case t.foreign:
		case t.tie.Kind == podspec.SpreadTie:
			low = r.fewest(&t.spread)
		case t.tie.Kind == podspec.AffinityTie:
			k.first = k.first && !slices.ContainsFunc(r.counts.lists[t.counter], func(n int64) bool { return n > 0 })
		}
		k.least = append(k.least, low)
	}
	return !k.first || x.alone
}

// fewest is the least number of counted pods in a domain of a spread, 0 where there are fewer
// domains than it asks for.
func (r *Run) fewest(t *spread) int64 {
	low, domains := int64(-1), int64(0)
	for d, nodes := range r.nodesW.lists[t.counter] {
		if nodes > 0 {
			domains++
			if n := r.counts.at(t.counter, int32(d)); low < 0 || n < low {
				low = n
			}
		}
	}
	if domains < t.least {
		return 0
	}
	return max(low, 0)
}

// refusal judges one term of the class, given by its place, on a node.
func (k *checks) refusal(i int, n int32) Refusal {
	r, t := k.r, &k.x.required[i]
	d := r.domains[t.axis][n]
	switch {
	case t.foreign:
		if r.held.at(t.counter, d) > 0 {
			return KeptAwayByPod
		}
	case t.tie.Kind == podspec.SpreadTie:
		if d == -1 {
			return LacksLabel
		}
		if r.counts.at(t.counter, d)+t.spread.self-k.least[i] > t.spread.skew {
			return TooSkewed
		}
	case t.tie.Kind == podspec.AffinityTie:
		switch {
		case d == -1:
			return LacksLabel
		case k.first && !k.x.alone:
			return NoneToFollow
		case !k.first && r.counts.at(t.counter, d) == 0:
			return NotFollowed
		}
	default:
		if r.counts.at(t.counter, d) > 0 {
			return Conflicts
		}
	}
	return Allowed
}

// admit reports whether a node meets all terms of the class.
func (k *checks) admit(n int32) bool {
	for i := range k.x.required {
		if k.refusal(i, n) != Allowed {
			return false
		}
	}
	return true
}

// Keeps reports whether a pod of a class keeps all topology terms on a node, its own and those of others, as the pods
// stand now. The pod itself must not be counted anywhere.
func (r *Run) Keeps(c, n int32) bool {
	x := &r.s.classes[c]
	return !x.tied || r.check.prepare(r, x) && r.check.admit(n)
}

// Breaks reports whether a pod of a class breaks a term of its own on a node where it runs. Terms pass over nodes that
// lack their topology key, except that an affinity needs it, and spreads pass over nodes that they do not count and pods
// that they do not select. The pod itself must not be counted anywhere.
func (r *Run) Breaks(c, n int32) bool {
	x := &r.s.classes[c]
	k := &r.check
	k.prepare(r, x)
	for i := range x.required {
		t := &x.required[i]
		ignored := t.foreign || t.tie.Kind == podspec.SpreadTie && (r.domains[t.axis][n] == -1 || t.spread.self == 0 || !r.s.counts[t.counter].filter.passes(r.machine(n)))
		if !ignored && k.refusal(i, n) != Allowed {
			return true
		}
	}
	return false
}

// ClassTerms are the topology terms that have to hold for the pods of a class.
type ClassTerms struct {
	s *Scheduler
	x *class
}

// Terms are the topology terms that have to hold for the pods of a class.
func (s *Scheduler) Terms(c int32) ClassTerms { return ClassTerms{s, &s.classes[c]} }

// Tied reports whether there are any, be it the anti-affinity of others.
func (t ClassTerms) Tied() bool { return t.x.tied }

// Own reports whether the pods state any themselves.
func (t ClassTerms) Own() bool { return t.x.own > 0 }

// Repel reports whether the pods have an anti-affinity.
func (t ClassTerms) Repel() bool {
	return slices.ContainsFunc(t.x.required[:t.x.own], func(o term) bool { return o.tie.Kind == podspec.AntiTie })
}

// Exclusive reports whether there are pods with which those of the class may not share a node.
func (t ClassTerms) Exclusive() bool { return t.x.exclusive }

// Independent reports whether no term is about the pods: none restricts them, and none counts them.
func (t ClassTerms) Independent() bool {
	return !t.x.tied && !slices.ContainsFunc(t.x.counts, func(n int32) bool { return t.s.counts[n].required })
}

// Keys are the topology keys, except that of hosts, of the terms that restrict or count the pods, and of those that count
// the pods which these terms select.
func (t ClassTerms) Keys() []string {
	var out []string
	add := func(axis int) {
		if key := requirements.NormalizeKey(t.s.axes[axis].key); key != corev1.LabelHostname && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, n := range t.x.counts {
		if t.s.counts[n].required {
			add(t.s.counts[n].axis)
		}
	}
	for i := range t.x.required {
		o := &t.x.required[i]
		add(o.axis)
		for n := range t.s.counts {
			if c := &t.s.counts[n]; c.required && c.target == o.tie.Target {
				add(c.axis)
			}
		}
	}
	return out
}
