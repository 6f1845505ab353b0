package prove

import (
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/lagrangian"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// certificate writes the duals by domain and the multipliers of rules.
func (m *balance) certificate(x *lagrangian.Proof) *certificate.Certificate {
	c := &certificate.Certificate{Kind: certificate.AssignmentKind, Values: map[string]string{}, Domains: map[string]certificate.DomainDuals{}, Scale: fixed.Scale, TopologyKey: m.book.key}
	for i, ids := range m.groups {
		m.nameAll(c.Values, ids, x.Duals[i])
	}
	for z, domain := range m.book.domains {
		own := certificate.DomainDuals{Values: map[string]string{}, Vectors: namedVectors(m.prover, x.Parts[z].Vectors)}
		for i, ids := range m.prover.classes {
			m.nameAll(own.Values, ids, x.Parts[z].Duals[i])
		}
		c.Domains[domain] = own
	}
	for r := range m.rules {
		c.Balances = append(c.Balances, certificate.DomainBalance{
			Pod: podspec.PodName(m.rules[r].representative), Raised: m.byDomainName(x.Raised[r]), Taken: m.byDomainName(x.Taken[r]),
		})
	}
	nameSurrogateResources(m.prover, c)
	return c
}

// nameAll writes the dual of some planned classes: for the first class where no pod has constraints on its node, because
// equal requests then mean equal duals; else for all.
func (m *balance) nameAll(values map[string]string, ids []model.ClassID, worth *big.Int) {
	if !slices.ContainsFunc(ids, func(id model.ClassID) bool { return !demandsNothing(m.in.Planned[id].Pods[0]) }) {
		ids = ids[:1]
	}
	nameWorth(m.in, values, ids, worth)
}

// demandsNothing reports whether a pod only requests resources of its node: no selector, toleration, volume, node
// affinity or port.
func demandsNothing(pod *corev1.Pod) bool {
	s := &pod.Spec
	if len(s.NodeSelector) > 0 || len(s.Tolerations) > 0 || len(s.Volumes) > 0 || s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		return false
	}
	for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range list {
			if len(list[i].Ports) > 0 {
				return false
			}
		}
	}
	return true
}

// byDomainName maps names of domains to the values above 0.
func (m *balance) byDomainName(values []*big.Int) map[string]string {
	out := map[string]string{}
	for z, v := range values {
		if v.Sign() > 0 {
			out[m.book.domains[z]] = v.String()
		}
	}
	return out
}
