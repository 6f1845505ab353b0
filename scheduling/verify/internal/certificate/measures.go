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
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// measure is what a certificate counts beside resources: pods of which only so many can be on a
// node with a host name, or a resource in whole steps. No node holds pods that come to more of it
// than the node has.
type measure struct {
	// members are the pods that are kept apart, by name, most is how many of them a node holds,
	// and taken how many pods run there, by node, that count among them. members is nil for steps.
	members  map[string]bool
	most     int64
	taken    map[string]int64
	resource corev1.ResourceName
	step     *big.Int
}

// readMeasures reads them. It reports whether they can be.
func (pr *proof) readMeasures(cert *scheduling.Certificate) bool {
	fine := true
	var faces map[*snapshot.Identity][]*snapshot.Pod // placed pods
	if len(cert.Apart) > 0 {
		faces = make(map[*snapshot.Identity][]*snapshot.Pod)
		for _, t := range pr.claim.placed {
			faces[t.Face] = append(faces[t.Face], t)
		}
	}
	for i, term := range cert.Apart {
		m, why := pr.claim.apartMeasure(term, faces)
		if why != "" {
			pr.claim.malformed("apart[%d]: %s", i, why)
			fine = false
			continue
		}
		pr.measures, pr.dims = append(pr.measures, m), append(pr.dims, corev1.ResourceName(scheduling.ApartKey(i)))
	}
	for i, s := range cert.Steps {
		if s.Size <= 0 {
			pr.claim.malformed("steps[%d]: %d is no size", i, s.Size)
			fine = false
			continue
		}
		m := &measure{resource: corev1.ResourceName(s.Resource), step: big.NewInt(s.Size)}
		pr.measures, pr.dims = append(pr.measures, m), append(pr.dims, corev1.ResourceName(scheduling.StepKey(i)))
	}
	return fine
}

// perHost is a constraint of a pod over hosts: how many of the pods that it selects a node holds, if
// the pod is one.
type perHost struct {
	pods   *snapshot.PodSelector
	spread bool
	term   int // its place among terms of anti-affinity
	most   int64
}

// perHosts are the constraints of a pod over hosts. kube-scheduler, which places pods freely, looks at
// the nodes there are alone, and so a node may hold more pods of a spread than the skew.
func (c *Claim) perHosts(t *snapshot.Pod) (out []perHost) {
	for i, a := range t.Ties.Apart {
		if a.Key == corev1.LabelHostname {
			out = append(out, perHost{a.Pods, false, i, 1})
		}
	}
	for _, s := range t.Ties.Spread {
		if s.Key == corev1.LabelHostname && c.state.Policy.Placement != scheduling.PlacementFree {
			out = append(out, perHost{s.Pods, true, 0, int64(s.MaxSkew)})
		}
	}
	return out
}

// apartMeasure finds the pods of which a constraint lets a node hold only so many: those that
// it selects and that have such a constraint themselves. The last of more of them on a node would
// not be bound, whichever it is: of a spread, since a node without any may come. A constraint is
// such a one if it selects the same of the placed pods and lets a node hold as many.
func (c *Claim) apartMeasure(named scheduling.ApartTerm, faces map[*snapshot.Identity][]*snapshot.Pod) (*measure, string) {
	t := c.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	term, ok := lo.Find(c.perHosts(t), func(x perHost) bool { return x.spread == named.Spread && x.term == named.Term })
	if !ok {
		return nil, named.Pod + " has no such constraint over hosts"
	}
	known, all := make(map[string]bool), slices.Collect(maps.Keys(faces))
	same := map[string]*snapshot.PodSelector{term.pods.Text: term.pods}
	alike := func(x perHost) bool {
		if x.spread != term.spread || x.most != term.most || !selectsSame(x.pods, term.pods, all, known) {
			return false
		}
		same[x.pods.Text] = x.pods
		return true
	}
	m := &measure{members: make(map[string]bool), most: term.most, taken: make(map[string]int64)}
	for f, pods := range faces {
		if !term.pods.Has(f) {
			continue
		}
		for _, p := range pods {
			if slices.ContainsFunc(c.perHosts(p), alike) {
				m.members[p.Name] = true
			}
		}
	}
	selecting := lo.Values(same)
	for _, r := range c.state.Residents {
		if !slices.ContainsFunc(selecting, func(s *snapshot.PodSelector) bool { return !s.Has(r.Face) }) {
			m.taken[r.Node]++
		}
	}
	return m, ""
}

// request is what a pod takes of it.
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

// machine is what a machine with so much room has of it.
func (m *measure) machine(room snapshot.Amounts) int64 {
	if m.members == nil {
		return m.whole(room)
	}
	return m.most
}

// station is what a node has of it.
func (m *measure) station(s *snapshot.Node) int64 {
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

// station is what a node has, in the form of the proof.
func (pr *proof) station(s *snapshot.Node) []int64 {
	room := pr.vector(s.Free)
	for i, m := range pr.measures {
		room[len(room)-len(pr.measures)+i] = m.station(s)
	}
	return room
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
func (pr *proof) belongs(t *snapshot.Pod) string {
	b := make([]byte, 0, len(pr.measures)+len(pr.spreads))
	for _, m := range pr.measures {
		b = append(b, mark(m.members[t.Name]))
	}
	for _, z := range pr.spreads {
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
