package lint

import (
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const requirementsField = "spec.template.spec.requirements"

// unmet returns a finding for each NodePool that can launch no machine; at is [Subject.requirementsOf].
func unmet(p *scheduling.Problem, at func(pool string, keys ...string) (object, field, names string)) (out []Finding) {
	for _, w := range provisioning.IdleNodePools(p) {
		object, field, _ := at(strings.TrimPrefix(w.Object, "NodePool/"))
		out = append(out, Finding{
			Severity: Error, Code: NodePoolUnmet, Object: object, Field: field, Message: w.Message,
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
