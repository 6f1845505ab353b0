package certificate

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// measure is what a certificate counts beside resources: pods of which no two can be on a node
// with a host name, or a resource in whole steps. No node holds pods that come to more of it
// than the node has.
type measure struct {
	// members are the pods that are kept apart, by name; taken are the nodes where a pod is that
	// keeps them away. Both are nil for steps.
	members, taken map[string]bool
	resource       corev1.ResourceName
	step           *big.Int
}

// readMeasures reads them. It reports whether they can be.
func (pr *proof) readMeasures(cert *scheduling.Certificate) bool {
	fine := true
	var faces map[*snapshot.Identity][]*snapshot.Pod // placed pods
	if len(cert.Apart) > 0 {
		faces = make(map[*snapshot.Identity][]*snapshot.Pod)
		for _, t := range pr.placed {
			faces[t.Face] = append(faces[t.Face], t)
		}
	}
	for i, term := range cert.Apart {
		m, why := pr.apartMeasure(term, faces)
		if why != "" {
			pr.malformed("apart[%d]: %s", i, why)
			fine = false
			continue
		}
		pr.measures, pr.dims = append(pr.measures, m), append(pr.dims, corev1.ResourceName(scheduling.ApartKey(i)))
	}
	for i, s := range cert.Steps {
		if s.Size <= 0 {
			pr.malformed("steps[%d]: %d is no size", i, s.Size)
			fine = false
			continue
		}
		m := &measure{resource: corev1.ResourceName(s.Resource), step: big.NewInt(s.Size)}
		pr.measures, pr.dims = append(pr.measures, m), append(pr.dims, corev1.ResourceName(scheduling.StepKey(i)))
	}
	return fine
}

// apartMeasure finds the pods that a term of anti-affinity keeps apart: those that it
// selects and that have such a term themselves. The second of two of them on a node finds
// the first there, whichever it is, and would not be bound. A term is such a one if it
// selects the same of the placed pods.
func (c *Claim) apartMeasure(named scheduling.ApartTerm, faces map[*snapshot.Identity][]*snapshot.Pod) (*measure, string) {
	t := c.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	if named.Term < 0 || named.Term >= len(t.Ties.Apart) {
		return nil, fmt.Sprintf("%s has no term %d", named.Pod, named.Term)
	}
	term := t.Ties.Apart[named.Term]
	if term.Key != corev1.LabelHostname {
		return nil, fmt.Sprintf("term %d of %s is about %s", named.Term, named.Pod, term.Key)
	}
	known := make(map[string]bool)
	alike := func(s *snapshot.PodSelector) bool {
		same, ok := known[s.Text]
		if !ok {
			same = true
			for f := range faces {
				same = same && s.Has(f) == term.Pods.Has(f)
			}
			known[s.Text] = same
		}
		return same
	}
	m := &measure{members: make(map[string]bool), taken: make(map[string]bool)}
	for f, pods := range faces {
		if !term.Pods.Has(f) {
			continue
		}
		for _, p := range pods {
			if slices.ContainsFunc(p.Ties.Apart, func(a snapshot.AffinityTerm) bool { return a.Key == corev1.LabelHostname && alike(a.Pods) }) {
				m.members[p.Name] = true
			}
		}
	}
	for _, r := range c.Residents {
		if term.Pods.Has(r.Face) {
			m.taken[r.Node] = true
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
	return 1
}

// station is what a node has of it.
func (m *measure) station(s *snapshot.Node) int64 {
	_, named := s.Value(corev1.LabelHostname)
	switch {
	case m.members == nil:
		return m.whole(s.Free)
	case !named:
		return int64(len(m.members))
	case m.taken[s.Name]:
		return 0
	default:
		return 1
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
