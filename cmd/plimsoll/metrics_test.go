package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sums adds up the samples of each metric.
func sums(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^plimsoll_([a-z_]+)(?:\{.*\})? (\S+)$`).FindAllStringSubmatch(text, -1) {
		value, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err, m[0])
		out[m[1]] += value
	}
	return out
}

func TestMetricsSayWhatThePlanSays(t *testing.T) {
	t.Parallel()
	r := run(t, waste("-o", "openmetrics")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	golden(t, "consolidate.prom", r.stdout)

	got, plan := sums(t, r.stdout), moveset(t, run(t, waste("-o", "json")...).stdout)
	s := &plan.Summary
	for name, want := range map[string]float64{
		"bill_dollars_per_hour": s.ExpectedPerHourBefore.USD(), "planned_bill_dollars_per_hour": s.ExpectedPerHourAfter.USD(),
		"saving_dollars_per_hour":      (s.ExpectedPerHourBefore - s.ExpectedPerHourAfter).USD(),
		"lower_bound_dollars_per_hour": s.LowerBoundPerHour.USD(), "rebuilt_dollars_per_hour": s.Rebuilt.ExpectedPerHour.USD(),
		"nodes": float64(s.NodesBefore), "steps": float64(len(plan.Steps)), "evictions": float64(s.PodsMoved), "launches": float64(s.Launches),
		"unbilled_nodes": float64(len(plan.Nodes) - s.NodesBefore), "plan_timestamp_seconds": 1795251600,
	} {
		require.InDelta(t, want, got[name], 1e-8, name)
	}
	require.InDelta(t, got["saving_dollars_per_hour"], got["step_saving_dollars_per_hour"], 1e-8)
	parts := 0.0
	for _, part := range []string{"namespace", "idle", "daemonset", "system_reserved", "node_overhead"} {
		parts += got[part+"_dollars_per_hour"]
	}
	require.InDelta(t, got["bill_dollars_per_hour"], parts, 1e-8)
	require.Len(t, s.Blocked, strings.Count(r.stdout, "\nplimsoll_blocked_saving_dollars_per_hour{"))
}

// A cluster without nodes has the same metrics, with nothing to add up.
func TestMetricsOfAnEmptyCluster(t *testing.T) {
	t.Parallel()
	file := temp(t, "nothing.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
	r := run(t, "consolidate", "-f", file, "--catalog", "kwok:testdata/kwok.json", "-o", "openmetrics")
	require.Equal(t, exitOK, r.code, r.stderr)
	names := func(text string) []string { return regexp.MustCompile(`(?m)^# HELP \S+`).FindAllString(text, -1) }
	require.Equal(t, names(run(t, waste("-o", "openmetrics")...).stdout), names(r.stdout))
	got := sums(t, r.stdout)
	require.Zero(t, got["bill_dollars_per_hour"])
	require.Contains(t, r.stdout, "\nplimsoll_saving_dollars_per_hour 0\n")
	require.Contains(t, r.stdout, "\nplimsoll_steps 0\n")
	require.NotContains(t, r.stdout, "\nplimsoll_lower_bound_dollars_per_hour ", "none is proven")
	require.NotContains(t, r.stdout, "\nplimsoll_price_timestamp_seconds{", "the catalog states no date")
}

// Nodes whose price is not known are counted, and their pool costs nothing.
func TestMetricsOfUnknownPrices(t *testing.T) {
	t.Parallel()
	args := stranding(t, "m5.xlarge", "m5.unheard-of")
	r := run(t, append(args, "-o", "openmetrics")...)
	require.Contains(t, r.stdout, "\nplimsoll_unbilled_nodes{cause=\"unknown-price\"} 1\n", r.stderr)
	require.Zero(t, sums(t, r.stdout)["bill_dollars_per_hour"])
}

// stranding are the arguments for a cluster whose only node is about to be taken away with a pod that has no other node,
// with one text put in place of another.
func stranding(t *testing.T, text, instead string) []string {
	t.Helper()
	file := temp(t, "cluster.yaml", strings.ReplaceAll(strandedPod, text, instead))
	return []string{"consolidate", "-f", file, "--now", "2026-11-21T09:00:00Z"}
}

// The job that sends the metrics must not fail when they tell something that is worth an alert.
func TestMetricsOfAStrandedPod(t *testing.T) {
	t.Parallel()
	args := stranding(t, "", "")
	require.Equal(t, exitUnschedulable, run(t, args...).code)
	r := run(t, append(args, "-o", "openmetrics")...)
	require.Equal(t, exitOK, r.code)
	require.Contains(t, r.stdout, "\nplimsoll_stranded 1\n")
}

func TestOutputFiles(t *testing.T) {
	t.Parallel()
	dir, args := t.TempDir(), []string{"consolidate", "-f", "testdata/dump.json", "--catalog", "testdata/market.json", "--now", "2026-11-21T09:00:00Z"}
	for _, name := range []string{"plan.prom", "plan.json", "plan.yaml"} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("of yesterday"), 0o600))
		r := run(t, append(args, "-o", file)...)
		require.Equal(t, result{code: exitOK}, result{r.code, r.stdout, ""}, r.stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		format := map[string]string{".prom": "openmetrics", ".json": "json", ".yaml": "yaml"}[filepath.Ext(name)]
		require.Equal(t, run(t, append(args, "-o", format)...).stdout, string(text))
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "node_exporter is another user")
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 3, "no temporary file is left")

	for _, file := range []string{filepath.Join(dir, "none", "plan.prom"), filepath.Join(dir, "plan.json", "plan.prom")} {
		r := run(t, append(args, "-o", file)...)
		require.Equal(t, exitBadInput, r.code)
		require.Regexp(t, `^error: --output `+regexp.QuoteMeta(file)+`: (no such file or directory|not a directory)\n$`, r.stderr)
	}
	r := run(t, append(args, "-o", "plan.csv")...)
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.stderr, `--output "plan.csv": want one of table, wide, json, yaml or openmetrics, or a file whose name ends in .json, .prom or .yaml`)
	require.Equal(t, exitUsage, run(t, append(args, "-o", "metrics")...).code)
}
