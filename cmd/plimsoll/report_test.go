package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// reported runs report on the example cluster.
func reported(args ...string) []string { return append([]string{"report"}, waste(args...)[1:]...) }

// decodeReport reads a report that was printed as JSON.
func decodeReport(t *testing.T, text string) *report.Report {
	t.Helper()
	r := &report.Report{}
	require.NoError(t, json.Unmarshal([]byte(text), r))
	return r
}

// The report says what consolidate does.
func TestReportSaysWhatConsolidateSays(t *testing.T) {
	t.Parallel()
	printed := run(t, reported("-o", "json")...)
	require.Equal(t, exitOK, printed.code, printed.stderr)
	r := decodeReport(t, printed.stdout)
	plan := &disruption.ConsolidationPlan{}
	require.NoError(t, json.Unmarshal([]byte(run(t, waste("-o", "json")...).stdout), plan))
	s := &plan.Summary
	require.Equal(t, []report.Level{
		{Code: "today", PerHour: s.ExpectedPerHourBefore, Cents: cents(s.ExpectedPerHourBefore), Nodes: s.NodesBefore},
		{Code: "after", PerHour: s.ExpectedPerHourAfter, Cents: cents(s.ExpectedPerHourAfter), Nodes: s.NodesAfter},
		{Code: "expected", PerHour: s.AfterScheduling.ExpectedPerHourAfter, Cents: cents(s.AfterScheduling.ExpectedPerHourAfter), Nodes: s.NodesAfter + s.AfterScheduling.Launches},
		{Code: "least", PerHour: s.LowerBoundPerHour, Cents: cents(s.LowerBoundPerHour)},
		{Code: "rebuilt", PerHour: s.Rebuilt.ExpectedPerHour, Cents: cents(s.Rebuilt.ExpectedPerHour), Nodes: s.Rebuilt.Nodes, Composition: s.Rebuilt.Composition},
	}, r.Levels)
	require.Contains(t, run(t, reported("-o", "markdown")...).stdout, "**About "+figures.Dollars(r.Levels[0].Cents-r.Levels[2].Cents)+" a month** (")
	require.Len(t, r.Points, len(s.Frontier)+1)
	for i, p := range s.Frontier {
		require.Equal(t, p.PodsMoved, r.Points[i+1].Moved)
		require.Equal(t, cents(s.ExpectedPerHourBefore-p.SavingPerHour), r.Points[i+1].Cents)
	}
	last := r.Points[len(r.Points)-1]
	require.Equal(t, []int{s.NodesAfter, s.Launches}, []int{last.Nodes, last.Launches})
	require.NotEmpty(t, s.Blocked)
	for _, k := range s.Blocked {
		i := slices.IndexFunc(r.Blocked, func(x report.BlockedSaving) bool { return x.Code == string(k.Code) })
		require.Equal(t, []any{string(k.Code), k.Nodes, cents(k.PerHour), !k.Tried && k.PerHour > 0}, []any{r.Blocked[i].Code, r.Blocked[i].Nodes, r.Blocked[i].Cents, r.Blocked[i].AtMost})
		require.NotEmpty(t, r.Blocked[i].Fix)
	}
	require.True(t, slices.IsSortedFunc(r.Blocked, func(a, b report.BlockedSaving) int {
		if a.AtMost != b.AtMost {
			return lo.Ternary(b.AtMost, -1, 1)
		}
		return cmp.Compare(b.Cents, a.Cents)
	}))
	require.True(t, slices.ContainsFunc(r.Blocked, func(x report.BlockedSaving) bool { return x.Code == string(lint.NodePoolTypes) }), "%v", r.Blocked)
	requireSums(t, r)
}

// requireSums requires that each breakdown adds up to the bill.
func requireSums(t *testing.T, r *report.Report) {
	t.Helper()
	for _, b := range r.Costs.Breakdowns {
		var today, after int64
		for _, row := range append(b.Rows, r.Costs.Overhead...) {
			today, after = today+row.Today, after+row.After
		}
		require.Equal(t, []int64{r.Levels[0].Cents, r.Levels[1].Cents}, []int64{today, after}, b.By)
	}
}

// Clusters of three clouds without NodePools have a report, with the price of all current types and a runbook in the commands
// of the cloud.
func TestReportOfNodeGroups(t *testing.T) {
	for title, c := range map[string]struct{ objects, removal string }{
		"Cluster on ec2/eu-west-1":    {eksCluster(), "aws autoscaling terminate-instance-in-auto-scaling-group --should-decrement-desired-capacity --instance-id i-of-NODE\n"},
		"Cluster on azure/eastus":     {aksCluster(), "az aks nodepool delete-machines --resource-group rg --cluster-name prod --name POOL --machine-names NODE\n"},
		"Cluster on gcp/europe-west1": {gkeCluster(), "gcloud compute instance-groups managed delete-instances gke-POOL-grp --zone europe-west1-b --instances NODE\n"},
	} {
		file := temp(t, "cluster.yaml", c.objects)
		printed := run(t, "report", "-f", file, "--effort", "fast", "-o", "json")
		require.Equal(t, exitOK, printed.code, printed.stderr)
		r := decodeReport(t, printed.stdout)
		require.Equal(t, title, r.Title)
		require.NotZero(t, r.Levels[0].Cents)
		require.Equal(t, "alternative", r.Levels[len(r.Levels)-1].Code)
		requireSums(t, r)
		done := followed(t, r.Runbook)
		for _, s := range r.Steps {
			i := strings.Index(done, "kubectl drain "+s.Drain[0]+" --ignore-daemonsets")
			require.GreaterOrEqual(t, i, 0, done)
			pool := strings.Split(s.Drain[0], "-")[1]
			removal := strings.ReplaceAll(strings.ReplaceAll(c.removal, "NODE", s.Drain[0]), "POOL", pool)
			require.Contains(t, done[i:], removal, done)
		}
	}
}

// The runbook of node groups pauses Cluster Autoscaler first, and leaves out nodes that are gone instead of stopping halfway.
func TestRunbookSkipsNodesThatAreGone(t *testing.T) {
	printed := run(t, "report", "-f", temp(t, "cluster.yaml", gkeCluster()), "--effort", "fast", "-o", "json")
	r := decodeReport(t, printed.stdout)
	require.NotEmpty(t, r.Steps)
	gone := r.Steps[0].Drain[0]
	require.Contains(t, r.Runbook, "# Cluster Autoscaler:\n")
	require.NotContains(t, r.Runbook, "# Karpenter:\n")
	done := followed(t, r.Runbook, gone)
	require.Contains(t, done, "kubectl get node "+gone+" --ignore-not-found -o name\n")
	require.NotContains(t, done, "kubectl drain "+gone)
	require.NotContains(t, done, "--instances "+gone)
	for _, s := range r.Steps[1:] {
		require.Contains(t, done, "kubectl drain "+s.Drain[0])
	}
}

// followed runs a runbook, Enter always pressed, and returns the commands of clouds and of Kubernetes that it runs. Some nodes
// no longer exist.
func followed(t *testing.T, runbook string, gone ...string) string {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	absent := ""
	for _, node := range gone {
		absent += "'get node " + node + " '*) ;; "
	}
	for _, name := range []string{"kubectl", "aws", "az", "gcloud"} {
		fake := "#!/bin/sh\necho " + name + ` "$@" >> ` + log + "\ncase \"$*\" in " + absent + "'get node '*) echo \"aws:///eu-west-1a/i-of-$3\";; *describe*|*show*) echo 3;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(fake), 0o700)) //nolint:gosec // a program
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Stdin = strings.NewReader(strings.ReplaceAll(runbook, "read -r _ </dev/tty", ":"))
	shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CLUSTER=prod", "RESOURCE_GROUP=rg")
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	done, err := os.ReadFile(log)
	require.NoError(t, err)
	return string(done)
}

// cents is what a price comes to in a month.
func cents(p offerings.Price) int64 { return (int64(p)*730 + 5_000_000) / 10_000_000 }

func TestReportFormats(t *testing.T) {
	t.Parallel()
	small := []string{"report", "-f", "testdata/dump.json", "--catalog", "testdata/market.json", "--now", "2026-11-25T18:00:00Z", "--effort", "fast", "-o"}
	for _, c := range []struct{ format, ending, want string }{
		{"html", "html", "<!doctype html>"}, {"markdown", "md", "## Cluster"}, {"svg", "svg", "<svg "}, {"json", "json", "{"}, {"yaml", "yaml", "asOf:"},
	} {
		file := filepath.Join(t.TempDir(), "report."+c.ending)
		written := run(t, append(small, file)...)
		require.Equal(t, exitOK, written.code, written.stderr)
		require.Empty(t, written.stdout)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), c.want), "%.60s", text)
		if c.format == "markdown" {
			printed := run(t, append(small, c.format)...)
			require.Equal(t, exitOK, printed.code, printed.stderr)
			require.Equal(t, string(text), printed.stdout)
		}
	}
	for output, want := range map[string]string{"pdf": "want one of html, markdown, svg, json or yaml", "report.pdf": "or a file whose name ends in .html, .json, .markdown, .md, .svg or .yaml", "": "want one of html"} {
		r := run(t, append(small, output)...)
		require.Equal(t, exitUsage, r.code)
		require.Contains(t, r.stderr, want)
	}
	r := run(t, append(small, filepath.Join(t.TempDir(), "none", "report.html"))...)
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "no such file or directory")
}

// A report compares cases as whatif does.
func TestReportOfCases(t *testing.T) {
	t.Parallel()
	cluster := ""
	for i := range 3 {
		name := fmt.Sprint("n-", i)
		cluster += groupNode(name, "m5.2xlarge", "eu-west-1a", 8, 32, "eks.amazonaws.com/nodegroup: workers", "") + groupPod(fmt.Sprint("api-", i), name, "1", "4Gi", "")
	}
	args := []string{"-f", "-", "--now", "2026-11-21T09:00:00Z", "--effort", "fast", "-o", "json", "--case", "no spot: --no-spot", "--case", "Stockholm: --catalog ec2/eu-north-1"}
	r := decodeReport(t, runWith(t, strings.NewReader(cluster), append([]string{"report"}, args...)...).stdout)
	want := outcomes(t, runWith(t, strings.NewReader(cluster), append([]string{"whatif"}, args...)...).stdout)
	require.Len(t, r.Cases, 4) // with the baseline, and the cluster rebuilt here
	for _, got := range r.Cases {
		require.Equal(t, want[got.Name], got)
	}
	require.Equal(t, r.Levels[1].PerHour, r.Cases[0].PricePerHour, "the baseline is what the report is about")
	var page, text bytes.Buffer
	require.NoError(t, r.HTML(&page))
	require.NoError(t, r.Markdown(&text))
	for _, shown := range []string{page.String(), text.String()} {
		require.Contains(t, shown, "What if")
		require.Contains(t, shown, "different region: priced as a full rebuild, and compared with rebuilt here")
	}
}

func TestReportByLabelsAndSettings(t *testing.T) {
	r := decodeReport(t, run(t, reported("-o", "json", "--label", "tier", "--label", "app", "--title", "Shop", "--steps", "2")...).stdout)
	require.Equal(t, "Shop", r.Title)
	require.Equal(t, "tier", r.Costs.Breakdowns[2].By)
	require.Equal(t, "app", r.Costs.Breakdowns[3].By)
	require.Empty(t, r.Costs.Breakdowns[2].Rows[0].Name, "no pod has the label")
	require.Contains(t, r.Assumptions, report.Setting{Name: "Settings", Value: "--effort=fast --steps=2"})
	require.Len(t, r.Steps, 2)
}
