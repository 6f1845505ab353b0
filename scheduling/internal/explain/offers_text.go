package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// idlePool says why a pool has no offering to choose from, as the warning about it does.
func (e *Explainer) idlePool(pool *scheduling.NodePool) string {
	text, known := e.idle[pool.Name]
	if !known {
		text = "NodePool " + pool.Name + " " + cmp.Or(validate.Idle(e.In.Facts.Problem, pool), "cannot launch: its requirements match no instance type")
		e.idle[pool.Name] = text
	}
	return text
}

// affinityText writes the alternatives of a required node affinity.
func affinityText(c *podspec.Constraint) string {
	var terms []string
	for i := range c.Terms {
		var parts []string
		for j := range c.Terms[i].Labels {
			parts = append(parts, c.Terms[i].Labels[j].Short())
		}
		for j := range c.Terms[i].Fields {
			parts = append(parts, c.Terms[i].Fields[j].Short())
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return strings.Join(terms, ", or ")
}

// affinityFault says why no node can match a required node affinity.
func affinityFault(c *podspec.Constraint) string {
	if text := affinityText(c); text != "" {
		return text + " matches nothing that fits"
	}
	return "none of its terms can match any node"
}

// affinityReason says that a required node affinity does not match a place, or which SpotPolicy keeps the pods off it.
func affinityReason(s *subject, p place) scheduling.ReasonCount {
	text := "required node affinity does not match: " + cmp.Or(affinityText(s.needs.group), "none of its terms can match any node")
	if b := s.spotBound(p); b.Policy != "" {
		text = fmt.Sprintf("SpotPolicy %s keeps the pod off spot nodes (%s)", b.Policy, b.Field)
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonRequirements, Detail: text}
}

// leftOut reports whether an offer cannot be launched only because the pool's own catalog lacks it, e.g. because its
// NodeClass selects other subnets.
func (s *PlanState) leftOut(pool string, x *offers.Offer) bool {
	if s.in.Facts.Problem.PoolCatalogs[pool] == nil {
		return false
	}
	it, ok := s.in.Facts.Problem.Catalog.Get(x.InstanceType.Name)
	return ok && slices.ContainsFunc(it.Offerings, func(o offerings.Offering) bool {
		return o.Zone == x.Offering.Zone && o.CapacityType == x.Offering.CapacityType && o.ReservationID == x.Offering.ReservationID && o.Launchable()
	})
}

// notOnSale is why an offer of a pool cannot be launched.
func (s *PlanState) notOnSale(pool string, x *offers.Offer) scheduling.ReasonCount {
	detail := "offerings are not on sale now"
	if s.leftOut(pool, x) {
		detail = "the node class or the catalog of NodePool " + pool + " leaves offerings out"
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonUnavailable, Detail: detail}
}

// volumeReason says that the volumes of a group keep it away from machines.
func volumeReason(c *podspec.Constraint) scheduling.ReasonCount {
	return scheduling.ReasonCount{Code: scheduling.ReasonVolume, Detail: "the pod's volumes can be used " + podspec.PlacesText(c)}
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
