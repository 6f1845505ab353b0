package cluster

import (
	"slices"

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

// Term is a topology term that has to hold for the pods of a class: one of their own, or an anti-affinity of other pods
// that selects them.
type Term struct {
	Spec    *podspec.TopologyTerm // as its owner states it
	Axis    int
	Foreign bool   // it is an anti-affinity of other pods
	counter int    // whose pods the term selects; with Foreign, the holder
	spread  Spread // of a spread
}

// Violation is a topology term that keeps a pod of a class off a node.
type Violation struct {
	Refusal Refusal
	Term    int   // its place among [Terms.Required]
	Domain  int32 // that of the node, -1 for a node that has joined as its own domain: see [Model.Value]
}

// Check judges the topology terms of a class as the pods stand now. It serves one class and one state of things at a time:
// see [Check.Begin].
type Check struct {
	s     *State
	x     *Class
	least []int64 // by term, for a spread: the pods in the domain that has the fewest
	first bool    // the class has an affinity, and no pod that it selects is anywhere
}

// Begin looks at a class in a state, and reports whether any node can meet the terms of the class. The check holds until
// the state changes.
func (k *Check) Begin(s *State, x *Class) bool {
	k.s, k.x, k.least, k.first = s, x, k.least[:0], len(x.required) > 0 && x.follows
	for i := range x.required {
		t := &x.required[i]
		low := int64(0)
		switch {
		case t.Foreign:
		case t.Spec.Kind == podspec.SpreadTerm:
			low = s.fewest(&t.spread)
		case t.Spec.Kind == podspec.AffinityTerm:
			k.first = k.first && !slices.ContainsFunc(s.counts.lists[t.counter], func(n int64) bool { return n > 0 })
		}
		k.least = append(k.least, low)
	}
	return !k.first || x.alone
}

// fewest is the least number of counted pods in a domain of a spread, 0 where there are fewer
// domains than it asks for.
func (s *State) fewest(t *Spread) int64 {
	low, domains := int64(-1), int64(0)
	for d, nodes := range s.nodes.lists[t.Counter] {
		if nodes > 0 {
			domains++
			if n := s.counts.at(t.Counter, int32(d)); low < 0 || n < low {
				low = n
			}
		}
	}
	if domains < t.minDomains {
		return 0
	}
	return max(low, 0)
}

// refusal judges one term of the class, given by its place, on a node that is in a domain.
func (k *Check) refusal(i int, d int32) Refusal {
	s, t := k.s, &k.x.required[i]
	switch {
	case t.Foreign:
		if s.held.at(t.counter, d) > 0 {
			return KeptAwayByPod
		}
	case t.Spec.Kind == podspec.SpreadTerm:
		if d == -1 {
			return LacksLabel
		}
		if s.counts.at(t.counter, d)+t.spread.self-k.least[i] > t.spread.MaxSkew {
			return TooSkewed
		}
	case t.Spec.Kind == podspec.AffinityTerm:
		switch {
		case d == -1:
			return LacksLabel
		case k.first && !k.x.alone:
			return NoneToFollow
		case !k.first && s.counts.at(t.counter, d) == 0:
			return NotFollowed
		}
	default:
		if s.counts.at(t.counter, d) > 0 {
			return Conflicts
		}
	}
	return Allowed
}

// Admits reports whether a node meets all terms of the class.
func (k *Check) Admits(n int32) bool {
	for i := range k.x.required {
		if k.refusal(i, k.s.domains[k.x.required[i].Axis][n]) != Allowed {
			return false
		}
	}
	return true
}

// Keeps reports whether a pod of a class keeps all topology terms on a node, its own and those of others, as the pods
// stand now. The pod itself must not be counted anywhere.
func (s *State) Keeps(c, n int32) bool {
	x := &s.Model.Classes[c]
	return !x.HasRequired() || s.check.Begin(s, x) && s.check.Admits(n)
}

// Breaks reports whether a pod of a class breaks a term of its own on a node where it runs. Spreads pass over nodes that
// they do not count, e.g. because these lack the topology key, and pods that they do not select. The pod itself must not
// be counted anywhere.
func (s *State) Breaks(c, n int32) bool {
	x := &s.Model.Classes[c]
	k := &s.check
	k.Begin(s, x)
	for i := range x.required[:x.own] {
		t := &x.required[i]
		ignored := t.Spec.Kind == podspec.SpreadTerm &&
			(s.domains[t.Axis][n] == -1 || t.spread.self == 0 || !s.Model.counts[t.counter].filter.passes(s.Kind(n)))
		if !ignored && k.refusal(i, s.domains[t.Axis][n]) != Allowed {
			return true
		}
	}
	return false
}

// Violations are the topology terms that keep one more pod of a class off a node, given by its domains: a node that has
// joined, or one that may join. A term of other pods is left out where the pod itself states the same term and violates
// it, e.g. replicas that keep apart.
func (s *State) Violations(c int32, domain func(axis int) int32) []Violation {
	var out []Violation
	x, k := &s.Model.Classes[c], &s.check
	k.Begin(s, x)
	for i := range x.required {
		t := &x.required[i]
		d := domain(t.Axis)
		why := k.refusal(i, d)
		if why == NotFollowed && s.total(t.counter) == 0 {
			why = NoneToFollow // of this term, which has another topology key than a term that is met
		}
		stated := t.Foreign && slices.ContainsFunc(out, func(v Violation) bool {
			o := &x.required[v.Term]
			return o.Spec.Kind == podspec.AntiAffinityTerm && o.Axis == t.Axis && o.Spec.Target == t.Spec.Target
		})
		if why == Allowed || stated {
			continue
		}
		if d >= 0 && s.Model.axes[t.Axis].perNode() {
			d = -1
		}
		out = append(out, Violation{Refusal: why, Term: i, Domain: d})
	}
	return out
}
