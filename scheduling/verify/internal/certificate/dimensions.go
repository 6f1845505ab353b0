package certificate

import (
	"math"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// dimensions are the amounts that a proof counts: of the resources that placed pods request, then measures.
type dimensions struct {
	names    []corev1.ResourceName
	measures []*measure
}

// vector returns amounts by dimension. Amounts beyond an int64 exceed the requests of all pods, so that its maximum
// stands for them.
func (d *dimensions) vector(a snapshot.Amounts) []int64 {
	out := make([]int64, 0, len(d.names))
	for _, name := range d.names[:len(d.names)-len(d.measures)] {
		switch n := a.Of(name); {
		case n.IsInt64():
			out = append(out, n.Int64())
		case n.Sign() > 0:
			out = append(out, math.MaxInt64)
		default:
			out = append(out, 0)
		}
	}
	for _, m := range d.measures {
		out = append(out, m.machine(a))
	}
	return out
}

// room returns the room of a running node by dimension.
func (d *dimensions) room(s *snapshot.Node) []int64 {
	room := d.vector(s.Free)
	for i, m := range d.measures {
		room[len(room)-len(d.measures)+i] = m.left(s)
	}
	return room
}

// holdsOne reports whether the running node can take one more pod, in all dimensions.
func (d *dimensions) holdsOne(s *snapshot.Node, t *snapshot.Pod) bool {
	return !s.Leaves() && s.Admits(t, snapshot.LastingFilters|snapshot.NodeResources) &&
		!slices.ContainsFunc(d.measures, func(m *measure) bool { return m.request(t) > m.left(s) })
}

// readMeasures reads the measures of a certificate, and reports whether all are well formed.
func (d *dimensions) readMeasures(c *Claim, cert *certificate.Certificate) bool {
	fine := true
	var identities map[*snapshot.Identity][]*snapshot.Pod // placed pods
	if len(cert.Apart) > 0 {
		identities = make(map[*snapshot.Identity][]*snapshot.Pod)
		for _, t := range c.placed {
			identities[t.Identity] = append(identities[t.Identity], t)
		}
	}
	for i, term := range cert.Apart {
		m, why := apartMeasure(c, term, identities)
		if why != "" {
			c.malformed("apart[%d]: %s", i, why)
			fine = false
			continue
		}
		d.measures, d.names = append(d.measures, m), append(d.names, corev1.ResourceName(certificate.ApartKey(i)))
	}
	for i, s := range cert.Steps {
		if s.Size <= 0 {
			c.malformed("steps[%d]: size %d is not above 0", i, s.Size)
			fine = false
			continue
		}
		m := &measure{resource: corev1.ResourceName(s.Resource), step: big.NewInt(s.Size)}
		d.measures, d.names = append(d.measures, m), append(d.names, corev1.ResourceName(certificate.QuantumKey(i)))
	}
	return fine
}
