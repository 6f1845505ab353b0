package verify

import (
	"fmt"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// measure is what a certificate counts beside resources. No node holds pods that come to
// more of it than the node has.
type measure struct {
	name corev1.ResourceName
	// members are the pods of which no two can be on a node with a host name, by name;
	// apart is whom they keep away, taken are the nodes where such a one is.
	members map[string]bool
	apart   *podSet
	taken   map[string]bool
	// resource is counted in steps.
	resource corev1.ResourceName
	step     *big.Int
}

// readMeasures reads them. It reports whether they can be.
func (j *judge) readMeasures(cert *scheduling.Certificate) ([]*measure, bool) {
	var out []*measure
	fine := true
	var faces map[*face][]*tenant
	if len(cert.Apart) > 0 {
		faces = j.placedFaces()
	}
	for i, term := range cert.Apart {
		m, why := j.apartMeasure(term, faces)
		if why != "" {
			j.malformed("apart[%d]: %s", i, why)
			fine = false
			continue
		}
		m.name = corev1.ResourceName(scheduling.ApartKey(i))
		out = append(out, m)
	}
	for i, s := range cert.Steps {
		if s.Size <= 0 {
			j.malformed("steps[%d]: %d is no size", i, s.Size)
			fine = false
			continue
		}
		out = append(out, &measure{
			name: corev1.ResourceName(scheduling.StepKey(i)), resource: corev1.ResourceName(s.Resource), step: big.NewInt(s.Size),
		})
	}
	return out, fine
}

// placedFaces are the pods that the plan places, by face.
func (j *judge) placedFaces() map[*face][]*tenant {
	faces, placed := make(map[*face][]*tenant), j.placed()
	for name, t := range j.pods {
		if placed[name] {
			faces[t.face] = append(faces[t.face], t)
		}
	}
	return faces
}

// apartMeasure finds the pods that a term of anti-affinity keeps apart: those that it
// selects and that have such a term themselves. The second of two of them on a node finds
// the first there, whichever it is, and would not be bound. A term is such a one if it
// selects the same of the placed pods.
func (j *judge) apartMeasure(named scheduling.ApartTerm, faces map[*face][]*tenant) (*measure, string) {
	t := j.pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	if named.Term < 0 || named.Term >= len(t.ties.apart) {
		return nil, fmt.Sprintf("%s has no term %d", named.Pod, named.Term)
	}
	term := t.ties.apart[named.Term]
	if term.key != corev1.LabelHostname {
		return nil, fmt.Sprintf("term %d of %s is about %s", named.Term, named.Pod, term.key)
	}
	known := map[string]bool{term.pods.text: true}
	alike := func(s *podSet) bool {
		same, ok := known[s.text]
		if !ok {
			same = true
			for f := range faces {
				same = same && s.has(f) == term.pods.has(f)
			}
			known[s.text] = same
		}
		return same
	}
	m := &measure{members: make(map[string]bool), apart: term.pods, taken: make(map[string]bool)}
	for f, pods := range faces {
		if !term.pods.has(f) {
			continue
		}
		for _, p := range pods {
			if slices.ContainsFunc(p.ties.apart, func(a podTerm) bool { return a.key == corev1.LabelHostname && alike(a.pods) }) {
				m.members[p.name] = true
			}
		}
	}
	for _, r := range j.residents {
		if term.pods.has(r.face) {
			m.taken[r.node] = true
		}
	}
	return m, ""
}

// request is what a pod takes of it.
func (m *measure) request(t *tenant) int64 {
	if m.apart == nil {
		return m.whole(t.requests)
	}
	if m.members[t.name] {
		return 1
	}
	return 0
}

// machine is what a machine with so much room has of it.
func (m *measure) machine(room amounts) int64 {
	if m.apart == nil {
		return m.whole(room)
	}
	return 1
}

// station is what a node has of it.
func (m *measure) station(s *station) int64 {
	if m.apart == nil {
		return m.whole(s.free)
	}
	if _, named := s.value(corev1.LabelHostname); !named {
		return int64(len(m.members))
	}
	if m.taken[s.name] {
		return 0
	}
	return 1
}

// whole is how many whole steps there are.
func (m *measure) whole(a amounts) int64 {
	n := a.of(m.resource)
	if n.Sign() <= 0 {
		return 0
	}
	steps := new(big.Int).Quo(n, m.step)
	if !steps.IsInt64() {
		return 1<<63 - 1
	}
	return steps.Int64()
}

// belongs says which measures count the pod among those that they keep apart, and which
// spreads count it.
func (pr *assignmentProof) belongs(t *tenant) string {
	b := make([]byte, 0, len(pr.measures)+len(pr.spreads))
	for _, m := range pr.measures {
		if m.members[t.name] {
			b = append(b, '1')
		} else {
			b = append(b, '0')
		}
	}
	for _, z := range pr.spreads {
		if z.members[t.name] {
			b = append(b, 'z')
		} else {
			b = append(b, '.')
		}
	}
	return string(b)
}
