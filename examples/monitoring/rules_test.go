package monitoring

import (
	"log/slog"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// alerts are the rules of rules.yaml, by name.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile("rules.yaml")
	require.NoError(t, err)
	var object struct {
		Kind string
		Spec map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &object))
	require.Equal(t, "PrometheusRule", object.Kind)
	file, err := yaml.Marshal(object.Spec)
	require.NoError(t, err)
	groups, errs := rulefmt.Parse(file, false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	rules := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			rules[r.Alert] = r
		}
	}
	return rules
}

// Each alert fires in its situation, for the series that it is about, and not otherwise.
func TestAlerts(t *testing.T) {
	rules, text := alerts(t), exposition(t)
	// with is a text with another value of some samples.
	with := func(text, sample, value string) string {
		changed := regexp.MustCompile(`(?m)^(`+sample+`) \S+$`).ReplaceAllString(text, "${1} "+value)
		require.NotEqual(t, text, changed, sample)
		return changed
	}
	const (
		blocked = `plimsoll_blocked_saving_dollars_per_hour\{.*\}`
		prices  = `plimsoll_price_timestamp_seconds\{.*\}`
	)
	open, current := with(text, blocked, "0.01"), with(text, prices, "1.795e9")
	tests := map[string]struct {
		before, now string
		late        time.Duration // since the plan
	}{
		"PlimsollStranded":          {text, with(text, "plimsoll_stranded", "1"), 0},
		"PlimsollUnschedulablePods": {text, with(text, `plimsoll_pending_pods\{outcome="unschedulable"\}`, "3"), 0},
		"PlimsollBillRose":          {text, with(text, `plimsoll_bill_dollars_per_hour\{nodepool="general".*\}`, "50"), 0},
		"PlimsollSavingPossible":    {with(text, "plimsoll_saving_dollars_per_hour", "0"), with(text, "plimsoll_saving_dollars_per_hour", "3"), 0},
		"PlimsollSavingBlocked":     {open, with(open, `plimsoll_blocked_saving_dollars_per_hour\{cause="pod-budget"\}`, "1"), 0},
		"PlimsollUnknownPrices":     {text, with(text, `plimsoll_unbilled_nodes\{cause="unknown-price"\}`, "2"), 0},
		"PlimsollPricesOld":         {current, with(current, `plimsoll_price_timestamp_seconds\{capacity_type="spot"\}`, "1.7e9"), 0},
		"PlimsollMetricsMissing":    {text, text, 4 * time.Hour},
	}
	require.Len(t, rules, len(tests))
	for name, test := range tests {
		var d database
		week := 7 * 24 * time.Hour
		// The former week is as it is to be, so that nothing fires then.
		d.scrape(t, test.before, planned.Add(-week))
		for at := time.Duration(0); at <= test.late; at += time.Minute {
			d.scrape(t, test.now, planned.Add(at))
		}
		rule := rules[name]
		require.NotEmpty(t, rule.Annotations["summary"], name)
		require.NotEmpty(t, rule.Annotations["description"], name)
		require.Contains(t, []string{"critical", "warning", "info"}, rule.Labels["severity"], name)
		require.Len(t, d.query(t, rule.Expr, planned.Add(test.late)), 1, name)
		if name != "PlimsollMetricsMissing" {
			require.Empty(t, d.query(t, rule.Expr, planned.Add(-week)), "%s: a week before", name)
		}
	}
	require.Len(t, new(database).query(t, rules["PlimsollMetricsMissing"].Expr, planned), 1, "there has never been a plan")
	var d database
	d.scrape(t, text, planned)
	require.Empty(t, d.query(t, rules["PlimsollMetricsMissing"].Expr, planned))
}

// An expression about a metric that does not exist would be silent for ever.
func TestAlertsAreAboutMetrics(t *testing.T) {
	text := exposition(t)
	for name, rule := range alerts(t) {
		for _, metric := range metricsOf(t, rule.Expr) {
			require.Contains(t, text, "# HELP "+metric+" ", name)
		}
		for _, m := range regexp.MustCompile(`\$labels\.([a-z_]+)`).FindAllStringSubmatch(rule.Annotations["summary"], -1) {
			require.Contains(t, text, m[1]+`="`, name)
		}
	}
}
