package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// asked are the arguments of whatif for the example cluster.
func asksOf(args ...string) []string { return append([]string{"whatif"}, waste(args...)[1:]...) }

// outcomes reads what whatif has printed.
func outcomes(t *testing.T, text string) map[string]*whatif.Outcome {
	t.Helper()
	var list struct{ Cases []*whatif.Outcome }
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&list))
	out := map[string]*whatif.Outcome{}
	for _, o := range list.Cases {
		out[o.Name] = o
		if o.ComparedWith != "" {
			require.Equal(t, o.PricePerHour-out[o.ComparedWith].PricePerHour, o.DifferencePerHour)
		}
	}
	require.Equal(t, "baseline", list.Cases[0].Name)
	return out
}

// someCases are cases of the example cluster.
func someCases() []string {
	return asksOf("--case", "no spot: --no-spot", "--case", "Stockholm: --catalog ec2/eu-north-1", "--case", "team: -f 'testdata/team.yaml'", "-o", "json")
}

func TestWhatIf(t *testing.T) {
	t.Parallel()
	r := run(t, someCases()...)
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	got := outcomes(t, r.stdout)
	plan := moveset(t, run(t, waste("-o", "json")...).stdout).Summary
	base := got["baseline"]
	require.Equal(t, plan.ExpectedPerHourAfter, base.PricePerHour, "the baseline is what consolidate says")
	require.Equal(t, []int{plan.NodesAfter, plan.PodsMoved, plan.Launches}, []int{base.Nodes, base.PodsMoved, base.Launches})

	require.NotEmpty(t, got["no spot"].Unplaced, "pods that must be on spot have no place without")
	require.Equal(t, []string{"ip-10-0-2-75"}, got["no spot"].Staying, "a pod of it may not move")
	require.Empty(t, got["no spot"].ComparedWith, "a bill of fewer pods is no saving")
	require.Zero(t, got["no spot"].DifferencePerHour)
	require.True(t, got["Stockholm"].Rebuild)
	require.Equal(t, "rebuilt here", got["Stockholm"].ComparedWith, "a rebuild is compared with a rebuild")
	require.True(t, got["rebuilt here"].Rebuild)
	require.Equal(t, got["Stockholm"].PodsMoved, got["rebuilt here"].PodsMoved)
	require.Positive(t, got["Stockholm"].DifferencePerHour, "Stockholm is dearer")
	require.Greater(t, got["Stockholm"].PodsMoved, base.PodsMoved, "every pod moves to another region")
	require.Greater(t, got["team"].PricePerHour, base.PricePerHour)
	require.Equal(t, []string{"-f", "testdata/team.yaml"}, got["team"].Flags)
	require.Equal(t, 40, got["team"].Added.Pods)
	require.Greater(t, got["team"].PricePerHour, got["team"].Added.PricePerHour)
	require.Positive(t, got["team"].Added.PricePerHour)
	require.Nil(t, got["no spot"].Added)

	var table bytes.Buffer
	writeOutcomes(&table, view{width: 120}, []*problem{{Snapshot: &manifest.Snapshot{}}}, []*whatif.Outcome{base, got["no spot"], got["rebuilt here"], got["Stockholm"]})
	require.Contains(t, table.String(), "CASE          $/MONTH  NODES  MOVES")
	require.Contains(t, table.String(), "\nbaseline      1,417    8      14")
	require.Regexp(t, `\nno spot       1,365    7      14     3         -                   -             2\n`, table.String())
	require.Contains(t, table.String(), "Stockholm: different region: priced as a full rebuild, and compared with rebuilt here.\n")
	require.Contains(t, table.String(), "no spot: 1 node stays that the case would not launch: ip-10-0-2-75.\n")
	require.Contains(t, table.String(), "no spot: not placed: batch/render-0, batch/render-1, so that its price is not compared.\n")
}

// The baseline is what consolidate says, with pods pending, too: what their nodes cost stands beside it.
func TestWhatIfWithPendingPods(t *testing.T) {
	t.Parallel()
	gke := []string{"-f", "../../examples/gke", "--now", "2026-11-25T18:00:00Z", "--effort", "fast", "-o", "json"}
	plan := moveset(t, run(t, append([]string{"consolidate"}, gke...)...).stdout).Summary
	r := run(t, append([]string{"whatif", "--case", "arm64: --allow kubernetes.io/arch=arm64"}, gke...)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	got := outcomes(t, r.stdout)
	base := got["baseline"]
	require.NotNil(t, base.Pending)
	require.Equal(t, plan.ExpectedPerHourAfter, base.PricePerHour-base.Pending.PricePerHour)
	require.Equal(t, plan.NodesAfter, base.Nodes-base.Pending.Launches)
	require.Equal(t, plan.PodsMoved, base.PodsMoved)
	require.Contains(t, base.Notes(3, base)[0], "1 node that pending pods need after the steps; consolidate shows the other "+figures.Monthly(plan.ExpectedPerHourAfter))
	require.NotContains(t, got["arm64"].Notes(3, base)[0], "consolidate shows", "consolidate does not replace the nodes that a case would not launch")
}

// Room that only a case keeps free is of virtual pods, which never run.
func TestWhatIfWithHeadroom(t *testing.T) {
	t.Parallel()
	r := run(t, asksOf("--effort", "fast", "--case", "room: --headroom 15%", "-o", "json")...)
	require.Contains(t, []int{exitOK, exitUnschedulable}, r.code, r.stderr)
	got := outcomes(t, r.stdout)
	require.GreaterOrEqual(t, got["room"].PricePerHour, got["baseline"].PricePerHour)

	limited := strings.Replace(twoLargeNodes, "spec:\n", "spec:\n  limits: {cpu: \"10\"}\n", 1)
	r = run(t, "whatif", "-f", temp(t, "cluster.yaml", limited), "--catalog", "testdata/market.json", "--case", "room: --headroom cpu=20,memory=1Gi")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	require.Regexp(t, `\nroom: no room is kept free for [0-9]+ virtual pods: default/\S+, .*, so that its price is not compared\.\n`, r.stdout)
	require.NotContains(t, r.stdout, "not placed:")
}

// A case that cannot change anything says so, and why, instead of a difference of nothing.
func TestWhatIfNothingCanChange(t *testing.T) {
	t.Parallel()
	groups := []string{"whatif", "-f", temp(t, "groups.yaml", eksCluster()), "--now", "2026-11-25T18:00:00Z", "--effort", "fast"}
	r := run(t, append(groups, "--case", "arm64: --allow kubernetes.io/arch=arm64")...)
	require.Regexp(t, `\narm64 +[0-9,.]+ .* n/a +n/a `, r.stdout)
	require.Contains(t, r.stdout, "arm64: n/a: the node groups may launch the same nodes as in the baseline, because a node group launches only the instance types that its nodes have: ")
	same := outcomes(t, run(t, asksOf("--case", "amd64: --allow kubernetes.io/arch=amd64", "--case", "later: --min-lifetime 1h", "-o", "json")...).stdout)
	require.Equal(t, "the NodePools may launch the same nodes as in the baseline", same["amd64"].Unchanged)
	require.Equal(t, same["baseline"].PricePerHour, same["amd64"].PricePerHour)
	require.Empty(t, same["later"].Unchanged, "nodes may stay for longer")
}

// Without nodes a case is a plan, and stdin is read once for all cases.
func TestWhatIfNothingRuns(t *testing.T) {
	args := []string{"whatif", "-f", "-", "--catalog", "testdata/market.json", "--capacity-types", "on-demand,spot", "--case", `small: --largest-node "cpu=2" --no-spot`, "-o", "json"}
	r := runWith(t, strings.NewReader(deployed("web", "replicas: 30, ")), args...)
	require.Equal(t, exitOK, r.code, r.stderr)
	got := outcomes(t, r.stdout)
	require.Equal(t, got["baseline"].Launches, got["baseline"].Nodes)
	require.Greater(t, got["small"].PricePerHour, got["baseline"].PricePerHour)
	require.Equal(t, []string{"--largest-node", "cpu=2", "--no-spot"}, got["small"].Flags)
}

// Commands that read their input several times leave stdin alone where no file is of it: a terminal
// would be waited for.
func TestStdinIsReadOnlyWhereItIsNamed(t *testing.T) {
	cluster := temp(t, "web.yaml", deployed("web", "replicas: 3, "))
	flags := []string{"--catalog", "testdata/market.json", "--effort", "fast"}
	for _, args := range [][]string{
		{"whatif", "-f", cluster, "--case", "calm: --no-spot"}, {"diff", cluster, cluster}, {"report", "-f", cluster, "--case", "calm: --no-spot"},
	} {
		r := runWith(t, iotest.ErrReader(errors.New("somebody reads stdin")), append(args, flags...)...)
		require.Contains(t, []int{exitOK, exitUnschedulable}, r.code, "%s: %s", args[0], r.stderr)
	}
}

func TestWhatIfUsage(t *testing.T) {
	for text, want := range map[string]string{
		"no name":            "want 'NAME: FLAGS'",
		": --no-spot":        "want 'NAME: FLAGS'",
		"baseline: -R":       `a case "baseline" exists already`,
		"rebuilt here: -R":   `a case "rebuilt here" exists already`,
		"a: --no-spots":      "unknown flag: --no-spots (did you mean --no-spot?)",
		"a: shop.yaml":       `unexpected argument "shop.yaml"`,
		"a: -o json":         "unknown shorthand flag: 'o'",
		"a: --case 'b: -R'":  "unknown flag: --case",
		"a: --filter 'cpu>1": "a quote ' has no end",
		"a: --allow arch":    "want KEY=VALUE",
		"a: --allow a/b/c=d": "--allow",
	} {
		r := run(t, "whatif", "-f", "x", "--case", text)
		require.Equal(t, exitUsage, r.code, text)
		require.Contains(t, r.stderr, want)
	}
}

// Quoted words come back as they were.
func FuzzSplitWords(f *testing.F) {
	f.Add("--filter", "cpu >= 8", "x")
	f.Add("", "'", `"`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		quoted := func(word string) string {
			var out strings.Builder
			for part := range strings.SplitAfterSeq(word, "'") {
				before, found := strings.CutSuffix(part, "'")
				out.WriteString("'" + before + "'")
				if found {
					out.WriteString(`"'"`)
				}
			}
			return out.String()
		}
		words, err := splitWords("  " + quoted(a) + " " + quoted(b) + "   " + quoted(c))
		require.NoError(t, err)
		require.Equal(t, []string{a, b, c}, words)
	})
}

func TestFailAbove(t *testing.T) {
	t.Parallel()
	shop := []string{"plan", "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json"}
	for limit, code := range map[string]int{"78/month": exitAbove, "79/month": exitOK, "0.1/hour": exitAbove, "0.11/hour": exitOK} {
		r := run(t, append(shop, "--fail-above", limit)...)
		require.Equal(t, code, r.code, limit)
		require.Equal(t, run(t, shop...).stdout, r.stdout, "what is printed stays the same")
		require.Equal(t, code == exitAbove, strings.Contains(r.stderr, "--fail-above "+limit+": the new nodes cost $78.25 a month"), r.stderr)
	}
	require.Equal(t, exitAbove, run(t, "consolidate", "-f", "../../examples/gke", "--effort", "fast", "--now", "2026-11-25T18:00:00Z", "--fail-above", "1/month").code)
	for _, amount := range []string{"much", "78", "$78", "78/", "78/year"} {
		require.Equal(t, exitUsage, run(t, append(shop, "--fail-above", amount)...).code, amount)
	}
	require.Contains(t, run(t, append(shop, "--fail-above", "78")...).stderr, `--fail-above "78": want an amount per hour or per month, such as 0.05/hour or 30/month`)
}

func TestAllow(t *testing.T) {
	args := []string{"plan", "-f", "testdata/nopool.yaml", "-o", "json"}
	plan := decodePlan(t, run(t, append(args, "--allow", "kubernetes.io/arch=arm64")...).stdout)
	require.Contains(t, plan.Launches[0].Options[0].InstanceType, "g.", "Graviton costs less")
	require.NotContains(t, run(t, args...).stdout, "c8g.")
	r := run(t, append(args, "--allow", "kubernetes.io/arch=amd64")...)
	require.Contains(t, r.stdout, "no requirement excludes kubernetes.io/arch=amd64, so that --allow changes nothing")
}

// A case in another region has its own prices, with their age. Spot prices of more than a year ago say nothing about regions.
func TestWhatIfPricesOfEachCase(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	args := asksOf("--effort", "fast", "--case", "Stockholm: --catalog ec2/eu-north-1", "--case", "spot: --allow karpenter.sh/capacity-type=spot")
	require.Equal(t, exitOK, Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr), stderr.String())
	text := stdout.String()
	require.Equal(t, 1, strings.Count(text, "Prices: ec2/us-east-1, on-demand as of "), text)
	require.Regexp(t, `(?m)^Stockholm: Prices: ec2/eu-north-1, on-demand as of .* spot as of \S+ \(estimated\)\.$`, text)
	require.Equal(t, 2, strings.Count(text, "Prices: "), text)
	require.Regexp(t, `^WARNING: prices are old: on-demand \d+ months, spot \d+ months\. To renew them:\n  plimsoll prices FILE\.\.\. -o prices\.json, then --prices prices\.json\n  https://\S+\n\nCASE `, text)
	require.Equal(t, 1, strings.Count(text, "prices are old"), text)
	require.Contains(t, text, "\n\nOld spot prices do not tell which region is cheaper, because they change the most: compare regions with --no-spot.\n")
	require.Contains(t, text, "rebuilt here: consolidate rebuilds the cluster from scratch for $1,031 a month, with its zones, volumes and other nodes, and without pending pods.\n")
}
