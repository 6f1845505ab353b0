package steps

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

func TestWindowsAreOpenFromHitToEnd(t *testing.T) {
	noon := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		schedule string
		lasts    time.Duration
		now      time.Time
		want     bool
	}{
		{"0 12 * * *", time.Hour, noon, true},
		{"0 12 * * *", time.Hour, noon.Add(-time.Nanosecond), false},
		{"0 12 * * *", time.Hour, noon.Add(time.Hour - time.Nanosecond), true},
		{"0 12 * * *", time.Hour, noon.Add(time.Hour), false},
		{"0 12 * * *", 0, noon, false},
		{"0 * * * *", 2 * time.Hour, noon.Add(30 * time.Minute), true},
		{"@yearly", 100 * 24 * time.Hour, noon, true},
		{"@yearly", 60 * 24 * time.Hour, noon, false},
		{"0 12 30 2 *", 365 * 24 * time.Hour, noon, false},
		{"0 12 * * *", time.Hour, noon.In(time.FixedZone("east", 3600)), true},
	} {
		assert.Equal(t, tc.want, openAt(tc.schedule, tc.lasts, tc.now), "%s for %v at %v", tc.schedule, tc.lasts, tc.now)
	}
}

// The numbers of D29 to D31.
func TestBudgetsOfPools(t *testing.T) {
	noon := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	at := "0 12 * * *"
	hour := &metav1.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		budgets []scheduling.Budget
		reason  disruption.Reason
		nodes   int
		want    int
	}{
		"a tenth by default, rounded up": {nil, disruption.Empty, 1, 1},
		"a tenth of many":                {nil, disruption.Underutilized, 101, 11},
		"nothing of nothing":             {[]scheduling.Budget{{Nodes: "0%"}}, disruption.Drifted, 50, 0},
		"all":                            {[]scheduling.Budget{{Nodes: "100%"}}, disruption.Drifted, 50, 50},
		"the least":                      {[]scheduling.Budget{{Nodes: "5"}, {Nodes: "3"}}, disruption.Empty, 50, 3},
		"for other reasons":              {[]scheduling.Budget{{Nodes: "0", Reasons: []string{"Drifted"}}}, disruption.Empty, 50, math.MaxInt},
		"for this reason":                {[]scheduling.Budget{{Nodes: "4", Reasons: []string{"Drifted", "Empty"}}}, disruption.Empty, 50, 4},
		"in force":                       {[]scheduling.Budget{{Nodes: "0", Schedule: &at, Duration: hour}}, disruption.Empty, 50, 0},
		"no reason of budgets":           {[]scheduling.Budget{{Nodes: "0"}}, disruption.Expired, 50, math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &scheduling.NodePool{}
			pool.Spec.Disruption.Budgets = tc.budgets
			assert.Equal(t, tc.want, budgeted(pool, tc.reason, tc.nodes, noon))
		})
	}
	pool := &scheduling.NodePool{}
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "0", Schedule: &at, Duration: hour}}
	assert.Equal(t, math.MaxInt, budgeted(pool, disruption.Empty, 50, noon.Add(-time.Minute)))
}
