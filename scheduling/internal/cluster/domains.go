package cluster

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Open counts the domains of a node that may join as if it had joined, for the spreads of a class that the node admits,
// because a plan can launch the first node of a domain, and so spreads pods over it, too.
func (s *State) Open(c int32, domains []int32) {
	for i := range s.Model.Classes[c].required {
		t := &s.Model.Classes[c].required[i]
		if t.Foreign || t.Spec.Kind != podspec.SpreadTerm || domains[t.Axis] < 0 || s.nodes.at(t.counter, domains[t.Axis]) > 0 {
			continue
		}
		if !slices.ContainsFunc(s.Model.counts[t.counter].filter.axes, func(a int) bool { return domains[a] == -1 }) {
			s.nodes.add(t.counter, domains[t.Axis], 1)
		}
	}
}

// DomainCount is how many pods a term counts in a domain.
type DomainCount struct {
	Domain   int32
	Value    string // of the topology key
	Pods     int64
	Eligible bool // the domain counts for the minimum of a spread
}

// Counts lists the domains that matter to a term of the pods themselves, by value: those in which it counts pods, and
// for spreads those that count for the minimum.
func (s *State) Counts(t *Term) []DomainCount {
	var out []DomainCount
	for d := range int32(max(len(s.counts.lists[t.counter]), len(s.nodes.lists[t.counter]))) { //nolint:gosec // domains are few
		x := DomainCount{Domain: d, Value: s.Model.Value(t.Axis, d), Pods: s.counts.at(t.counter, d), Eligible: s.nodes.at(t.counter, d) > 0}
		if x.Pods > 0 || x.Eligible {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b DomainCount) int { return cmp.Compare(a.Value, b.Value) })
	return out
}

// Excess is by how much one more pod of a class in a domain exceeds the skew of a spread of its own. It is 0 or less
// where the spread admits the pod.
func (s *State) Excess(t *Term, domain int32) int64 {
	return s.counts.at(t.counter, domain) + t.spread.self - s.fewest(&t.spread) - t.spread.MaxSkew
}

// total is the number of pods that a counter counts in all domains.
func (s *State) total(counter int) (n int64) {
	for _, pods := range s.counts.lists[counter] {
		n += pods
	}
	return n
}
