package verify_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func TestReport(t *testing.T) {
	f := handmade()
	f.plan.Launches[0].Price++
	f.plan.Launches[1].Name = ""
	err := verify.Plan(f.p, f.plan)
	require.Error(t, err)
	wrapped := fmt.Errorf("judging: %w", err)

	var report *verify.Report
	require.ErrorAs(t, wrapped, &report)
	assert.Len(t, report.Violations, 5)
	assert.True(t, report.Has(verify.CodeLaunchPrice))
	assert.False(t, report.Has(verify.CodeLimits))
	assert.Equal(t, map[verify.Code]int{verify.CodeLaunchPrice: 1, verify.CodeLaunchName: 1, verify.CodeSummaryPrice: 1, verify.CodeSummaryShares: 2}, report.Count())

	var first verify.Violation
	require.ErrorAs(t, wrapped, &first)
	assert.Equal(t, report.Violations[0], first)
	assert.ErrorIs(t, wrapped, report.Violations[1])
	assert.Equal(t, "launch/default-1: launch-price: price is $0.030000001, the price of its first option $0.03", first.Error())
	assert.True(t, strings.HasPrefix(err.Error(), "plan breaks 5 rules\n  launch/default-1: launch-price: "), err.Error())
}

func TestReportsOfManyViolationsAreShort(t *testing.T) {
	f := handmade()
	f.plan.Launches, f.plan.Existing, f.plan.Unschedulable = nil, nil, nil
	err := verify.Plan(f.p, f.plan)
	var report *verify.Report
	require.ErrorAs(t, err, &report)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, 12)
	assert.Equal(t, fmt.Sprintf("  and %d more", len(report.Violations)-10), lines[11])
	assert.Contains(t, (&verify.Report{Violations: report.Violations[:1]}).Error(), "plan breaks 1 rule\n")
}

func TestCodesAreDistinctAndReadable(t *testing.T) {
	seen := make(map[verify.Code]bool)
	for _, c := range verify.Codes() {
		assert.False(t, seen[c], "%s is listed twice", c)
		seen[c] = true
		assert.Regexp(t, `^[a-z]+(-[a-z]+)*$`, string(c))
	}
	list := verify.Codes()
	list[0] = "changed"
	assert.NotEqual(t, list[0], verify.Codes()[0], "the list is the caller's")
	assert.True(t, slices.Contains(verify.Codes(), verify.CodeResources))
}

// TestEveryRuleHasACode: each constant of internal/rule is a code of this package, and the other way round.
func TestEveryRuleHasACode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "internal/rule/codes.go", nil, 0)
	require.NoError(t, err)
	var rules []verify.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if value, ok := n.(*ast.BasicLit); ok {
			text, err := strconv.Unquote(value.Value)
			require.NoError(t, err)
			rules = append(rules, verify.Code(text))
		}
		return true
	})
	assert.ElementsMatch(t, verify.Codes(), rules)
}

// TestReasonsOfRefusedPods: each reason code of package scheduling is a valid reason of a refused pod, and no other
// code is.
func TestReasonsOfRefusedPods(t *testing.T) {
	judged := func(c scheduling.ReasonCode) []verify.Code {
		f := handmade()
		f.plan.Unschedulable[0].Reasons[0].Code = c
		return codes(f.violations(t))
	}
	for _, c := range []scheduling.ReasonCode{
		scheduling.ReasonResources, scheduling.ReasonMinValues, scheduling.ReasonNodeNotReady, scheduling.ReasonTopologySpread,
		scheduling.ReasonPodAffinity, scheduling.ReasonPodAntiAffinity, scheduling.ReasonVolume, scheduling.ReasonAttachLimit, scheduling.ReasonSearch,
	} {
		assert.Empty(t, judged(c), "%s", c)
	}
	for _, c := range []scheduling.ReasonCode{"", "Search", "searching"} {
		assert.Equal(t, broken(verify.CodeNoReason), judged(c), "%q", c)
	}
}
