package budget

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// noon is a Wednesday.
func noon() time.Time { return time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC) }

func scheduled(nodes, schedule string, lasts time.Duration, reasons ...string) scheduling.Budget {
	return scheduling.Budget{Nodes: nodes, Schedule: &schedule, Duration: &metav1.Duration{Duration: lasts}, Reasons: reasons}
}

func poolWithBudgets(budgets ...scheduling.Budget) *scheduling.NodePool {
	pool := &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Disruption.Budgets = budgets
	return pool
}

func TestAllowance(t *testing.T) {
	const shut = "0 3 * * *" // at noon long over, if it lasts an hour
	for name, tc := range map[string]struct {
		budgets []scheduling.Budget
		reason  string
		nodes   int
		want    int
	}{
		"D29 the default is ten percent":                         {nil, "Underutilized", 100, 10},
		"D29 the least of those that match":                      {[]scheduling.Budget{{Nodes: "8"}, {Nodes: "5"}, {Nodes: "90%"}}, "Empty", 100, 5},
		"D29 another reason does not match":                      {[]scheduling.Budget{{Nodes: "8"}, {Nodes: "0", Reasons: []string{"Drifted"}}}, "Empty", 100, 8},
		"D29 one of several reasons matches":                     {[]scheduling.Budget{{Nodes: "8"}, {Nodes: "0", Reasons: []string{"Drifted", "Empty"}}}, "Empty", 100, 0},
		"D30 percentages are rounded up":                         {[]scheduling.Budget{{Nodes: "10%"}}, "Empty", 1, 1},
		"D30 rounded up beyond one":                              {[]scheduling.Budget{{Nodes: "10%"}}, "Empty", 11, 2},
		"D30 a whole share stays":                                {[]scheduling.Budget{{Nodes: "10%"}}, "Empty", 20, 2},
		"D30 nothing of all":                                     {[]scheduling.Budget{{Nodes: "0%"}}, "Empty", 100, 0},
		"D30 all of all":                                         {[]scheduling.Budget{{Nodes: "100%"}}, "Empty", 37, 37},
		"D30 a share of nothing":                                 {[]scheduling.Budget{{Nodes: "100%"}}, "Empty", 0, 0},
		"D31 not in force":                                       {[]scheduling.Budget{scheduled("0", shut, time.Hour)}, "Empty", 100, Unbounded},
		"D31 no budget for the reason":                           {[]scheduling.Budget{{Nodes: "0", Reasons: []string{"Drifted"}}}, "Underutilized", 100, Unbounded},
		"D31 one in force counts":                                {[]scheduling.Budget{scheduled("0", shut, time.Hour), {Nodes: "7"}}, "Empty", 100, 7},
		"D32 what cannot be read allows nothing":                 {[]scheduling.Budget{{Nodes: "many"}}, "Empty", 100, 0},
		"D32 a broken schedule allows nothing":                   {[]scheduling.Budget{scheduled("5", "at noon", time.Hour)}, "Empty", 100, 0},
		"D32 but only for the reasons that it names":             {[]scheduling.Budget{{Nodes: "7"}, {Nodes: "many", Reasons: []string{"Drifted"}}}, "Empty", 100, 7},
		"D34 a schedule without a duration":                      {[]scheduling.Budget{{Nodes: "7", Schedule: new("@daily")}}, "Empty", 100, 0},
		"D34 a duration without a schedule":                      {[]scheduling.Budget{{Nodes: "7", Duration: &metav1.Duration{Duration: time.Hour}}}, "Empty", 100, 0},
		"D92 budgets say nothing about expiry and interruptions": {[]scheduling.Budget{{Nodes: "0"}}, "", 100, Unbounded},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, At(poolWithBudgets(tc.budgets...), noon()).Allowed(tc.reason, tc.nodes))
		})
	}
}

func TestWindows(t *testing.T) {
	at := func(s string) time.Time {
		out, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		return out
	}
	for name, tc := range map[string]struct {
		schedule string
		lasts    time.Duration
		now      string
		open     bool
	}{
		"D33 a moment before":                    {"0 9 * * *", time.Hour, "2026-11-18T08:59:59Z", false},
		"D33 at the hit":                         {"0 9 * * *", time.Hour, "2026-11-18T09:00:00Z", true},
		"D33 within":                             {"0 9 * * *", time.Hour, "2026-11-18T09:30:00Z", true},
		"D33 a moment before its end":            {"0 9 * * *", time.Hour, "2026-11-18T09:59:59.999Z", true},
		"D33 at its end":                         {"0 9 * * *", time.Hour, "2026-11-18T10:00:00Z", false},
		"D33 weekdays":                           {"0 9 * * mon-fri", 8 * time.Hour, "2026-11-20T16:59:00Z", true},
		"D33 not on Saturday":                    {"0 9 * * mon-fri", 8 * time.Hour, "2026-11-21T12:00:00Z", false},
		"D33 over midnight":                      {"0 22 * * *", 4 * time.Hour, "2026-11-18T01:30:00Z", true},
		"D33 hits that overlap keep it open":     {"*/10 * * * *", 15 * time.Minute, "2026-11-18T09:09:59Z", true},
		"D33 longer than the time between hits":  {"0 * * * *", 90 * time.Minute, "2026-11-18T09:59:00Z", true},
		"D33 macro":                              {"@daily", 2 * time.Hour, "2026-11-18T01:00:00Z", true},
		"D33 macro over":                         {"@daily", 2 * time.Hour, "2026-11-18T02:00:00Z", false},
		"D33 hourly":                             {"@hourly", 10 * time.Minute, "2026-11-18T07:09:00Z", true},
		"D33 weekly":                             {"@weekly", 24 * time.Hour, "2026-11-22T12:00:00Z", true},
		"D33 monthly, longer than a month":       {"@monthly", 40 * 24 * time.Hour, "2026-11-18T12:00:00Z", true},
		"D33 yearly":                             {"@yearly", time.Hour, "2026-11-18T12:00:00Z", false},
		"D33 in UTC, wherever now was read":      {"0 9 * * *", time.Hour, "2026-11-18T04:30:00-05:00", true},
		"D33 a day that never comes":             {"0 0 30 2 *", time.Hour, "2026-11-18T12:00:00Z", false},
		"D33 no time at all":                     {"* * * * *", 0, "2026-11-18T12:00:00Z", false},
		"D33 day of month or day of week":        {"0 9 1 * wed", time.Hour, "2026-11-18T09:00:00Z", true},
		"D33 seconds of now do not lose the hit": {"0 9 * * *", time.Minute, "2026-11-18T09:00:59.5Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := parseWindow(tc.schedule, tc.lasts)
			require.NoError(t, err)
			assert.Equal(t, tc.open, w.open(at(tc.now)))
		})
	}
}

// What NodePools accept as a schedule, the parser reads (D33, D34).
func TestSchedulesOfNodePoolsAreRead(t *testing.T) {
	for _, s := range []string{
		"* * * * *", "0 9 * * mon-fri", "0 9 * * MON-FRI", "*/15 0-6,22-23 1,15 * ?", "59 23 31 12 6", "0 0 1 jan sun",
		"0-30/10 * * * *", "5/15 * * * *", "  0\t0 * *  0 ", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually",
	} {
		pool := poolWithBudgets(scheduled("1", s, time.Hour))
		require.NoError(t, provisioning.Validate((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}})), s)
		_, err := parseWindow(s, time.Hour)
		assert.NoError(t, err, s)
	}
	for _, s := range []string{"", "* * * *", "@every 1h", "60 * * * *", "TZ=Asia/Tokyo 0 9 * * *"} {
		pool := poolWithBudgets(scheduled("1", s, time.Hour))
		assert.ErrorIs(t, provisioning.Validate((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}})), scheduling.ErrInvalid, s)
	}
}

// FuzzWindow holds that no text makes reading or asking panic, that what NodePools accept
// is read, and that a window which is always open is so at any time.
func FuzzWindow(f *testing.F) {
	for _, s := range []string{"* * * * *", "0 9 * * mon-fri", "@daily", "*/0 * * * *", "TZ=UTC * * * * *", "@every 1h", "0 0 30 2 *", "5-1 * * * *", "? ? ? ? ?", "*/99 * * * *"} {
		f.Add(s, int64(0), int64(time.Hour))
	}
	f.Fuzz(func(t *testing.T, s string, at, lasts int64) {
		w, err := parseWindow(s, time.Duration(lasts))
		pool := poolWithBudgets(scheduled("1", s, time.Hour))
		if provisioning.Validate((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}})) == nil {
			require.NoError(t, err)
		}
		if err != nil || strings.HasPrefix(strings.TrimSpace(s), "@every") {
			return
		}
		now := time.Unix(at%(1<<33), 0)
		if w.open(now); s == "* * * * *" && lasts >= int64(time.Minute) && lasts < int64(1000*time.Hour) {
			assert.True(t, w.open(now))
		}
	})
}

// FuzzShareOf holds that a share is between nothing and what was asked for.
func FuzzShareOf(f *testing.F) {
	for _, s := range []string{"0", "5", "10%", "100%", "-1", "%", "", "9999999999", "2000000000%", "1%%", "+5"} {
		f.Add(s, 134)
	}
	f.Fuzz(func(t *testing.T, s string, of int) {
		of = max(0, min(of, 1<<20))
		n, ok := shareOf(s, of)
		assert.GreaterOrEqual(t, n, 0)
		if digits, percent := strings.CutSuffix(s, "%"); ok && percent {
			share, err := strconv.Atoi(digits)
			require.NoError(t, err)
			asked := share * of
			assert.GreaterOrEqual(t, n*100, min(asked, 100*math.MaxInt32), "rounded up")
			assert.Less(t, (n-1)*100, asked+1, "by less than one")
		}
	})
}
