package lint

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const requirementsField = "spec.template.spec.requirements"

// unmet returns a finding for each NodePool that can launch no machine.
func (s *Subject) unmet() (out []Finding) {
	for _, w := range provisioning.IdleNodePools(s.problem()) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "change the requirement that is named, or name a catalog that has such instance types",
		})
	}
	for _, w := range provisioning.UnmetMinValues(s.problem()) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "lower minValues to that number, or widen the other requirements",
		})
	}
	return out
}

// sells returns the part of its catalog that a pool may launch.
func (s *Subject) sells(pool *scheduling.NodePool) *instancetypes.Catalog {
	return s.sales.Of(s.problem(), pool)
}
