package lint

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const requirementsField = "spec.template.spec.requirements"

// unmet returns a finding for each NodePool that can launch no machine.
func unmet(p *scheduling.Problem) (out []Finding) {
	for _, w := range provisioning.IdleNodePools(p) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "change that requirement, or use a catalog with such instance types",
		})
	}
	for _, w := range provisioning.UnmetMinValues(p) {
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: w.Object, Field: requirementsField, Message: w.Message,
			Advice: "lower minValues to that number, or widen the other requirements",
		})
	}
	return out
}
