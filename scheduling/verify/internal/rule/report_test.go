package rule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
)

// TestViolationsOfParts: violations stand in the order in which they are found, and those of a part name the part.
func TestViolationsOfParts(t *testing.T) {
	t.Parallel()
	var whole, step rule.Report
	whole.Add(rule.NoPlan, "plan", "has %d steps", 1)
	step.Add(rule.Landing, "pod/shop/web-0", "target node %s does not exist", "a")
	whole.AddWithin("steps[0]", &step)
	whole.AddWithin("steps[1]", &rule.Report{})
	assert.Equal(t, []rule.Violation{
		{Code: "no-plan", Object: "plan", Detail: "has 1 steps"},
		{Code: "landing", Object: "steps[0]/pod/shop/web-0", Detail: "target node a does not exist"},
	}, whole.Violations)
	assert.Equal(t, "pod/shop/web-0", step.Violations[0].Object, "the report of the part is as before")
}
