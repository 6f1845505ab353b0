package certificate

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// measure is a dimension beside resources: pods of which a node with a host name holds only so many, or a resource in
// whole steps. No node holds pods whose requests of it exceed the node's amount.
type measure struct {
	// members are the pods that are kept apart, by name, most is how many of them a node holds,
	// and taken how many pods run there, by node, that count among them. members is nil for steps.
	members  map[string]bool
	most     int64
	taken    map[string]int64
	resource corev1.ResourceName
	step     *big.Int
}

// perHost is a constraint of a pod over hosts: how many of the pods that it selects a node holds, if
// the pod is one.
type perHost struct {
	pods   *snapshot.PodSelector
	spread bool
	term   int // its place among terms of anti-affinity
	most   int64
}

// perHosts returns the constraints of a pod over hosts. With PlacementFree spreads are left out, because kube-scheduler then
// takes the minimum over the nodes that exist, so that a node may hold more pods of a spread than maxSkew.
func perHosts(p *snapshot.Policy, t *snapshot.Pod) (out []perHost) {
	for i, a := range t.Terms.AntiAffinity {
		if a.Key == corev1.LabelHostname {
			out = append(out, perHost{a.Pods, false, i, 1})
		}
	}
	for _, s := range t.Terms.Spread {
		if s.Key == corev1.LabelHostname && p.Placement != scheduling.PlacementFree {
			out = append(out, perHost{s.Pods, true, 0, int64(s.MaxSkew)})
		}
	}
	return out
}

// apartMeasure finds the pods of which a constraint lets a node hold only so many: the pods that it selects and that have an
// equal constraint themselves. Any further pod of them could not bind to the node, for a spread because a node without such
// pods may come. A constraint is equal if it selects the same placed pods and lets a node hold as many.
func apartMeasure(c *Claim, named certificate.ApartTerm, identities map[*snapshot.Identity][]*snapshot.Pod) (*measure, string) {
	t := c.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is not a pending pod of the plan", named.Pod)
	}
	term, ok := lo.Find(perHosts(c.state.Policy, t), func(x perHost) bool { return x.spread == named.Spread && x.term == named.Term })
	if !ok {
		return nil, named.Pod + " has no such constraint over hosts"
	}
	known, all := make(map[string]bool), slices.Collect(maps.Keys(identities))
	same := map[string]*snapshot.PodSelector{term.pods.Text: term.pods}
	alike := func(x perHost) bool {
		if x.spread != term.spread || x.most != term.most || !selectsSame(x.pods, term.pods, all, known) {
			return false
		}
		same[x.pods.Text] = x.pods
		return true
	}
	m := &measure{members: make(map[string]bool), most: term.most, taken: make(map[string]int64)}
	for f, pods := range identities {
		if !term.pods.Has(f) {
			continue
		}
		for _, p := range pods {
			if slices.ContainsFunc(perHosts(c.state.Policy, p), alike) {
				m.members[p.Name] = true
			}
		}
	}
	selecting := lo.Values(same)
	for _, r := range c.state.Residents {
		if !slices.ContainsFunc(selecting, func(s *snapshot.PodSelector) bool { return !s.Has(r.Identity) }) {
			m.taken[r.Node]++
		}
	}
	return m, ""
}

// request returns the pod's request of the measure.
func (m *measure) request(t *snapshot.Pod) int64 {
	switch {
	case m.members == nil:
		return m.whole(t.Requests)
	case m.members[t.Name]:
		return 1
	default:
		return 0
	}
}

// machine returns the amount of a machine with that room.
func (m *measure) machine(room snapshot.Amounts) int64 {
	if m.members == nil {
		return m.whole(room)
	}
	return m.most
}

// left returns the amount that a running node has left.
func (m *measure) left(s *snapshot.Node) int64 {
	_, named := s.Value(corev1.LabelHostname)
	switch {
	case m.members == nil:
		return m.whole(s.Free)
	case !named:
		return int64(len(m.members))
	default:
		return max(0, m.most-m.taken[s.Name])
	}
}

// whole is how many whole steps there are.
func (m *measure) whole(a snapshot.Amounts) int64 {
	n := a.Of(m.resource)
	if n.Sign() <= 0 {
		return 0
	}
	if steps := new(big.Int).Quo(n, m.step); steps.IsInt64() {
		return steps.Int64()
	}
	return math.MaxInt64
}

// belongs says which measures count the pod among those that they keep apart, and which
// spreads count it.
func (d *dimensions) belongs(t *snapshot.Pod, spreads []*domainSpread) string {
	b := make([]byte, 0, len(d.measures)+len(spreads))
	for _, m := range d.measures {
		b = append(b, mark(m.members[t.Name]))
	}
	for _, z := range spreads {
		b = append(b, mark(z.members[t.Name]))
	}
	return string(b)
}

func mark(set bool) byte {
	if set {
		return '1'
	}
	return '0'
}
