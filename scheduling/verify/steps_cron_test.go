package verify

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

func TestSchedulesHit(t *testing.T) {
	at := func(text string) time.Time {
		out, err := time.Parse("2006-01-02 15:04", text)
		require.NoError(t, err)
		return out
	}
	for _, tc := range []struct {
		schedule, time string
		want           bool
	}{
		{"@yearly", "2026-01-01 00:00", true},
		{"@annually", "2026-02-01 00:00", false},
		{"@monthly", "2026-02-01 00:00", true},
		{"@weekly", "2026-03-01 00:00", true}, // a Sunday
		{"@weekly", "2026-03-02 00:00", false},
		{"@daily", "2026-03-02 00:00", true},
		{"@midnight", "2026-03-02 00:01", false},
		{"@hourly", "2026-03-02 17:00", true},
		{"* * * * *", "2026-03-02 17:13", true},
		{"? ? ? ? ?", "2026-03-02 17:13", true},
		{"5,10-12 9 * * *", "2026-03-02 09:11", true},
		{"5,10-12 9 * * *", "2026-03-02 09:13", false},
		{"*/15 * * * *", "2026-03-02 09:45", true},
		{"*/15 * * * *", "2026-03-02 09:44", false},
		{"10/20 * * * *", "2026-03-02 09:50", true},
		{"10-30/20 * * * *", "2026-03-02 09:50", false},
		{"0 9 * * MON-Fri", "2026-03-02 09:00", true},
		{"0 9 * * tue-fri", "2026-03-02 09:00", false},
		{"0 9 * mar *", "2026-03-02 09:00", true},
		{"0 9 * apr-dec *", "2026-03-02 09:00", false},
		// Where both days say something, one of them is enough.
		{"0 0 15 * sun", "2026-03-01 00:00", true},
		{"0 0 15 * sun", "2026-04-15 00:00", true},
		{"0 0 15 * sun", "2026-04-16 00:00", false},
		{"0 0 * * sun", "2026-04-15 00:00", false},
		// A star with a step is no star any more.
		{"0 0 */2 * sun", "2026-03-08 00:00", true},
		{"0 0 */2 * sun", "2026-03-04 00:00", false},
		{"0 0 */2 * sun", "2026-03-03 00:00", true},
	} {
		c, ok := readCron(tc.schedule)
		require.True(t, ok, tc.schedule)
		assert.Equal(t, tc.want, c.hits(at(tc.time)), "%s at %s", tc.schedule, tc.time)
	}
	for _, text := range []string{"", "@never", "* * * *", "60 * * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "x * * * *", "*/0 * * * *", "1- * * * *"} {
		_, ok := readCron(text)
		assert.False(t, ok, "%q", text)
	}
}

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
