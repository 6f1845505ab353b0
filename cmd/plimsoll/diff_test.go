package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/compare"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// differences reads what diff has printed, and checks that its parts add up.
func differences(t *testing.T, text string) *compare.Diff {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	d := &compare.Diff{}
	require.NoError(t, dec.Decode(d))
	require.Equal(t, d.After.PricePerHour-d.Before.PricePerHour, d.DifferencePerHour)
	var machines, workloads offerings.Price
	for _, m := range d.Machines {
		machines += m.DifferencePerHour
	}
	require.Equal(t, d.DifferencePerHour, machines, "machines")
	for _, w := range d.Workloads {
		workloads += w.PricePerHourAfter - w.PricePerHourBefore
	}
	if len(d.Workloads) > 0 {
		require.Equal(t, d.DifferencePerHour, workloads, "workloads")
	}
	return d
}

func TestDiffOfPlans(t *testing.T) {
	all := temp(t, "all.json", run(t, waste("-o", "json")...).stdout)
	some := temp(t, "some.yaml", run(t, waste("-o", "yaml", "--steps", "2")...).stdout)
	d := differences(t, run(t, "diff", all, some, "-o", "json").stdout)
	plan := moveset(t, run(t, waste("-o", "json")...).stdout).Summary
	require.Equal(t, plan.AfterScheduling.ExpectedPerHourAfter, d.Before.PricePerHour)
	require.Equal(t, plan.ExpectedPerHourAfter, d.Before.PlannedPerHour)
	require.Equal(t, plan.NodesAfter, d.Before.Nodes)
	require.Positive(t, d.DifferencePerHour, "fewer steps save less")
	require.Empty(t, differences(t, run(t, "diff", all, all, "-o", "json").stdout).Machines)

	r := run(t, "diff", all, some, "--fail-above", "1000/month")
	require.Equal(t, exitAbove, r.code)
	require.Contains(t, r.stderr, "AFTER costs more than BEFORE by $1,136 a month")
	require.Regexp(t, `\ndifference \(\+77%\) +\+1,136 +\+1\.\d+ +\+2 *\n`, r.stdout)
	require.Contains(t, r.stdout, "\nExpected after scheduling. As planned: $1,417 → $2,606 per month.\nPrices: ec2/us-east-1, on-demand as of ")
	require.Equal(t, exitOK, run(t, "diff", some, all, "--fail-above", "1000/month").code)
	r = run(t, "diff", "testdata/plan.json", all)
	require.Equal(t, exitBadInput, r.code, "the price of what is launched is not that of a cluster")
	require.Contains(t, r.stderr, "cannot compare testdata/plan.json with "+all)
}

func TestDiffOfManifests(t *testing.T) {
	web := func(replicas int) string { return deployed("web", fmt.Sprintf("replicas: %d, ", replicas)) }
	before, after := temp(t, "before.yaml", web(10)+"---\n"+deployed("old", "")), temp(t, "after.yaml", web(80)+"---\n"+deployed("new", ""))
	args := []string{"-f", "testdata/reserved.yaml", "--catalog", "testdata/market.json"}
	r := run(t, append([]string{"diff", before, after, "-o", "json"}, args...)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	d := differences(t, r.stdout)
	require.Equal(t, []int{11, 81}, []int{d.Before.Pods, d.After.Pods})
	pods := map[string][]int{}
	for _, w := range d.Workloads {
		pods[w.Name] = []int{w.PodsBefore, w.PodsAfter}
	}
	require.Equal(t, []int{10, 80}, pods["default/web"])
	require.Equal(t, []int{1, 0}, pods["default/old"])
	require.Equal(t, []int{0, 1}, pods["default/new"])

	plan := run(t, append([]string{"plan", "-f", after, "-o", "json"}, args...)...)
	require.Empty(t, differences(t, run(t, append([]string{"diff", after, temp(t, "plan.json", plan.stdout), "-o", "json"}, args...)...).stdout).Machines,
		"manifests can be compared with a plan of them")
	stdin := runWith(t, strings.NewReader(web(80)+"---\n"+deployed("new", "")), append([]string{"diff", before, "-", "-o", "json"}, args...)...)
	require.Equal(t, d.DifferencePerHour, differences(t, stdin.stdout).DifferencePerHour)
}

// Two dumps are compared by their bills: nodes and what runs on them count, and not only pods that are pending.
func TestDiffOfDumps(t *testing.T) {
	t.Parallel()
	before := eksCluster()
	node := strings.SplitAfter(before, "---\n")[1]
	after := strings.Replace(before, "---\n"+node, "", 1)
	after = strings.Replace(after, "nodeName: ip-10-0-0-0, ", "nodeName: ip-10-0-0-1, ", 1)
	args := []string{"diff", temp(t, "before.yaml", before), temp(t, "after.yaml", after), "--effort", "fast"}
	r := run(t, append(args, "-o", "json")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	d := differences(t, r.stdout)
	bill := moveset(t, run(t, "consolidate", "-f", args[1], "--now", "2026-11-21T09:00:00Z", "--effort", "fast", "-o", "json").stdout).Summary
	require.Equal(t, bill.ExpectedPerHourBefore, d.Before.PricePerHour, "the bill is that of consolidate")
	require.Equal(t, []int{9, 8, 9, 9}, []int{d.Before.Nodes, d.After.Nodes, d.Before.Pods, d.After.Pods})
	require.Negative(t, d.DifferencePerHour, "a node less")
	require.Len(t, d.Machines, 1)
}

func TestDiffUsage(t *testing.T) {
	r := run(t, "diff", "x")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.stderr, "want two files or directories to compare, got 1")
	r = run(t, "diff", "nowhere", "testdata/plan.json")
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "nowhere")
	r = run(t, "diff", temp(t, "p.json", `{"launches": [], "launch": 1}`), "testdata/plan.json")
	require.Contains(t, r.stderr, "launch: is not known (did you mean launches?)")
}

func TestDiffAsAComment(t *testing.T) {
	web := func(replicas int) string { return deployed("web", fmt.Sprintf("replicas: %d, ", replicas)) }
	before, after := temp(t, "before.yaml", web(10)), temp(t, "after.yaml", web(80)+"---\n"+deployed("huge", "replicas: 1, "))
	args := []string{"-f", "testdata/reserved.yaml", "--catalog", "testdata/market.json"}
	d := differences(t, run(t, append([]string{"diff", before, after, "-o", "json"}, args...)...).stdout)
	comment := run(t, append([]string{"diff", before, after, "-o", "markdown"}, args...)...)
	require.Equal(t, exitOK, comment.code, comment.stderr)
	require.Contains(t, comment.stdout, "## The nodes cost "+figures.Monthly(d.DifferencePerHour)+" per month more (+")
	require.Contains(t, comment.stdout, "| default/web | 10 → 80 | ")
	require.Contains(t, comment.stdout, "\n<details><summary>Nodes</summary>\n")
	_, nodes, _ := strings.Cut(comment.stdout, "<details>")
	require.Equal(t, len(d.Machines), strings.Count(nodes, " → "))

	back := run(t, append([]string{"diff", after, before, "-o", "markdown"}, args...)...)
	require.Contains(t, back.stdout, "## The nodes cost "+figures.Monthly(d.DifferencePerHour)+" per month less (-")
	same := run(t, append([]string{"diff", before, before, "-o", "markdown"}, args...)...)
	require.True(t, strings.HasPrefix(same.stdout, "## The nodes cost the same\n"), same.stdout)
	require.NotContains(t, same.stdout, "<details>")

	none := temp(t, "none.yaml", strings.ReplaceAll(deployed("giant", "replicas: 1, "), "requests: {", "requests: {example.com/none: 1, "))
	lost := run(t, append([]string{"diff", before, none, "-o", "markdown"}, args...)...)
	require.Equal(t, exitUnschedulable, lost.code, lost.stdout)
	require.Contains(t, lost.stdout, "\n**No node for 1 more pod:** default/giant-0.\n")
}
