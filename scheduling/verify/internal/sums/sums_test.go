package sums_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/sums"
)

// codes returns the codes of the violations that a check adds.
func codes(check func(*rule.Report)) []string {
	var report rule.Report
	check(&report)
	var out []string
	for _, v := range report.Violations {
		out = append(out, v.Code)
	}
	return out
}

// TestBound judges summaries of plans that cost $0.000000110 per hour.
func TestBound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bound  offerings.Price
		gap    float64
		status scheduling.Status
		want   []string
	}{
		"a bound of 100":                   {100, 0.1, scheduling.StatusComplete, nil},
		"a gap that is rounded":            {100, 0.1 + 1e-12, scheduling.StatusComplete, nil},
		"the gap to the price":             {100, 10.0 / 110, scheduling.StatusComplete, []string{rule.SummaryGap}},
		"no bound":                         {0, 0, scheduling.StatusDeadline, nil},
		"a bound that is the price":        {110, 0, scheduling.StatusOptimal, nil},
		"a bound above the price":          {111, -1.0 / 111, scheduling.StatusComplete, []string{rule.BoundAbovePrice}},
		"a bound below 0":                  {-110, -2, scheduling.StatusComplete, []string{rule.BoundAbovePrice}},
		"optimal, with a bound of 100":     {100, 0.1, scheduling.StatusOptimal, []string{rule.SummaryStatus}},
		"a status that plans do not have":  {100, 0.1, "good", []string{rule.SummaryStatus}},
		"a gap that is no number":          {100, math.NaN(), scheduling.StatusComplete, []string{rule.SummaryGap}},
		"an infinite gap without a bound":  {0, math.Inf(1), scheduling.StatusComplete, []string{rule.SummaryGap}},
		"a gap without a bound, no status": {0, 1, "", []string{rule.SummaryGap, rule.SummaryStatus}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, codes(func(r *rule.Report) { sums.Bound(r, 110, tc.bound, tc.gap, tc.status) }))
		})
	}
}

// TestFiguresNameValueAndExpectation: a violation says which figure it is about, its value, and the right one.
func TestFiguresNameValueAndExpectation(t *testing.T) {
	t.Parallel()
	var report rule.Report
	sums.Count(&report, "nodes", 3, 3)
	sums.Price(&report, rule.SummaryPrice, "price per hour", 5, big.NewInt(5))
	assert.Empty(t, report.Violations)
	sums.Count(&report, "nodes", 2, 3)
	more := new(big.Int).Lsh(big.NewInt(1), 64) // the right price may exceed an int64
	sums.Price(&report, rule.SummaryPrice, "price per hour", 5, more)
	assert.Equal(t, []rule.Violation{
		{Code: rule.SummaryCounts, Object: "summary", Detail: "nodes is 2, want 3"},
		{Code: rule.SummaryPrice, Object: "summary", Detail: "price per hour is $0.000000005, want $18446744073.709551616"},
	}, report.Violations)
}

func TestAlike(t *testing.T) {
	t.Parallel()
	assert.True(t, sums.Alike(0.1+0.2, 0.3))
	assert.True(t, sums.Alike(1e15, 1e15+1))
	assert.False(t, sums.Alike(1, 1.001))
	assert.False(t, sums.Alike(math.NaN(), 0))
	assert.False(t, sums.Alike(math.Inf(1), 1e9))
	assert.True(t, sums.Alike(math.MaxFloat64, math.MaxFloat64))
}
