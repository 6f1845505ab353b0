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

// term is a topology term that has to hold for the pods of a class: one of their own, or an anti-affinity of others
// that selects them.
type term struct {
	tie     *podspec.Tie // as its owner states it
	axis    int
	counter int    // whose pods the term selects; of an anti-affinity of others, the holder
	foreign bool   // it is an anti-affinity of others
	spread  Spread // of a spread
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
		case t.foreign:
		case t.tie.Kind == podspec.SpreadTie:
			low = s.fewest(&t.spread)
		case t.tie.Kind == podspec.AffinityTie:
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

// refusal judges one term of the class, given by its place, on a node.
func (k *Check) refusal(i int, n int32) Refusal {
	s, t := k.s, &k.x.required[i]
	d := s.domains[t.axis][n]
	switch {
	case t.foreign:
		if s.held.at(t.counter, d) > 0 {
			return KeptAwayByPod
		}
	case t.tie.Kind == podspec.SpreadTie:
		if d == -1 {
			return LacksLabel
		}
		if s.counts.at(t.counter, d)+t.spread.self-k.least[i] > t.spread.MaxSkew {
			return TooSkewed
		}
	case t.tie.Kind == podspec.AffinityTie:
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
		if k.refusal(i, n) != Allowed {
			return false
		}
	}
	return true
}

// Keeps reports whether a pod of a class keeps all topology terms on a node, its own and those of others, as the pods
// stand now. The pod itself must not be counted anywhere.
func (s *State) Keeps(c, n int32) bool {
	x := &s.Model.Classes[c]
	return !x.Tied() || s.check.Begin(s, x) && s.check.Admits(n)
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
		ignored := t.tie.Kind == podspec.SpreadTie &&
			(s.domains[t.axis][n] == -1 || t.spread.self == 0 || !s.Model.counts[t.counter].filter.passes(s.Kind(n)))
		if !ignored && k.refusal(i, n) != Allowed {
			return true
		}
	}
	return false
}
