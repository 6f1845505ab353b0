package report_test

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	stdhtml "html"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// emptied is a cluster of so many nodes, and a plan that was made without a search: it empties one
// node in three, and lets its pods go in turn to so many of the others that have the most room.
func emptied(t testing.TB, nodes, receivers int) report.Input {
	t.Helper()
	in := report.Input{
		Title: "Production", Cluster: st.Cluster(3, st.ClusterOptions{Nodes: nodes, DaemonSets: 2, Removed: 0.3}),
		Policy: scheduling.Policy{NodeOverhead: 7_200_000}, Plan: &disruption.ConsolidationPlan{},
		Workload: func(pod string) string { return pod[:strings.LastIndexByte(pod, '-')] },
		Notes:    []string{"Prices: made up."}, Assumptions: []report.Setting{{Name: "Version", Value: "test"}},
	}
	s, turn := &in.Plan.Summary, 0
	machines := costs.Machines(&in.Cluster, nil, in.Policy)
	var rest []*costs.Machine
	for i, m := range machines {
		if i%3 != 0 {
			rest = append(rest, m)
		}
	}
	slices.SortStableFunc(rest, func(a, b *costs.Machine) int { return cmp.Compare(b.At(0).Shares.Idle, a.At(0).Shares.Idle) })
	for i, m := range machines {
		at := m.At(0)
		s.ExpectedPerHourBefore += at.Node.Price
		s.NodesBefore++
		v := disruption.Verdict{Node: m.Name, Decision: disruption.Keep, Reasons: []disruption.Cause{{Code: disruption.CauseBudget, Object: "poddisruptionbudget/default/app"}}}
		if i%3 == 0 && i+1 < len(machines) {
			step := disruption.Step{Reason: disruption.Underutilized, Drain: []string{m.Name}, SavingPerHour: at.Node.Price}
			for _, pod := range at.Pods {
				step.Evictions = append(step.Evictions, disruption.Eviction{Pod: "default/" + pod.Name, From: m.Name, To: rest[turn%receivers].Name, Wave: 1})
				turn++
			}
			step.Risks = []disruption.Risk{{Code: disruption.RiskVolume, Object: "statefulset/default/db"}}
			in.Plan.Steps = append(in.Plan.Steps, step)
			v = disruption.Verdict{Node: m.Name, Decision: disruption.Drain, Step: len(in.Plan.Steps)}
			last := disruption.Point{}
			if n := len(s.Frontier); n > 0 {
				last = s.Frontier[n-1]
			}
			s.Frontier = append(s.Frontier, disruption.Point{
				Steps: last.Steps + 1, SavingPerHour: last.SavingPerHour + at.Node.Price, PodsMoved: last.PodsMoved + len(step.Evictions),
			})
		}
		in.Plan.Nodes = append(in.Plan.Nodes, v)
	}
	last := s.Frontier[len(s.Frontier)-1]
	s.ExpectedPerHourAfter, s.NodesAfter, s.PodsMoved = s.ExpectedPerHourBefore-last.SavingPerHour, s.NodesBefore-last.Steps, last.PodsMoved
	s.Rebuilt = &disruption.Rebuilt{Nodes: 1, PricePerHour: s.ExpectedPerHourAfter / 2}
	s.Blocked = []disruption.Blocked{{Code: disruption.CauseBudget, Nodes: 3, PerHour: s.ExpectedPerHourAfter / 2, Tried: true}}
	return in
}

// html is the report as a page.
func html(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.HTML(&b))
	return b.String()
}

func TestPartsAddUpToTheBill(t *testing.T) {
	in := emptied(t, 12, 3)
	r := report.Of(in)
	require.Len(t, r.Points, len(in.Plan.Steps)+1)
	require.Equal(t, in.Plan.Summary.NodesAfter, r.Points[len(r.Points)-1].Nodes)
	bill := [2]int64{r.Levels[0].Cents, r.Levels[1].Cents}
	require.Equal(t, bill[1], r.Points[len(r.Points)-1].Cents)
	for _, b := range r.Costs.Breakdowns {
		var sum [2]int64
		for _, row := range append(append([]report.Row{}, b.Rows...), r.Costs.Overhead...) {
			sum[0], sum[1] = sum[0]+row.Today, sum[1]+row.After
		}
		assert.Equal(t, bill, sum, b.By)
	}
	require.Len(t, r.Costs.NodeBreakdowns, 2)
	for _, b := range r.Costs.NodeBreakdowns {
		var sum [2]int64
		for _, row := range b.Rows {
			sum[0], sum[1] = sum[0]+row.Today, sum[1]+row.After
		}
		assert.Equal(t, bill, sum, b.By)
	}
	var sum [2]int64
	for _, n := range r.Nodes {
		sum[0], sum[1] = sum[0]+n.Today, sum[1]+n.After
		for _, f := range n.Fills {
			var parts offerings.Price
			for _, p := range f.Parts {
				parts += p.PerHour
			}
			assert.InDelta(t, float64(max(n.Today, n.After)), parts.USD()*73000, 1, n.Name)
		}
	}
	assert.Equal(t, bill, sum)
}

// A page for a large cluster stays small enough to be sent, and says what it leaves out.
func TestPageOfLargeClusterIsSmall(t *testing.T) {
	in := emptied(t, 1000, 50)
	in.Workload = func(pod string) string { return pod[:strings.LastIndexByte(pod, '-')] + strings.Repeat("-long", 20) }
	r := report.Of(in)
	text := html(t, r)
	assert.Less(t, len(text), 300_000)
	assert.Contains(t, text, "further nodes")
	assert.Contains(t, text, "further steps")
	assert.Contains(t, text, "So many bars")
	var svg, md bytes.Buffer
	require.NoError(t, r.SVG(&svg))
	require.NoError(t, r.Markdown(&md))
	assert.Less(t, svg.Len(), 100_000)
	assert.Less(t, md.Len(), 60_000, "what a pull request takes")
}

func TestSameInputSameReport(t *testing.T) {
	first := report.Of(emptied(t, 12, 3))
	in := emptied(t, 12, 3)
	in.Cluster.Problem = st.Shuffle(in.Cluster.Problem, 7)
	second := report.Of(in)
	for _, write := range []func(*report.Report, io.Writer) error{(*report.Report).HTML, (*report.Report).Markdown, (*report.Report).SVG} {
		var a, b bytes.Buffer
		require.NoError(t, write(first, &a))
		require.NoError(t, write(second, &b))
		require.Equal(t, a.String(), b.String())
	}
}

// Names and messages are text, whatever is in them.
func TestHostileNames(t *testing.T) {
	const name = "x\"'><script>alert(1)</script>&amp; {{.}} | `a` *b* </style>\x01\n\\|<!--"
	in := emptied(t, 6, 2)
	in.Title, in.Notes, in.Assumptions = name, []string{name}, []report.Setting{{Name: name, Value: name}}
	in.Workload = func(string) string { return name }
	in.Labels = []string{name}
	in.Plan.Warnings = []scheduling.Warning{{Object: name, Message: name}}
	in.Plan.Steps[0].Risks[0].Object = name
	for i := range in.Plan.Nodes {
		for k := range in.Plan.Nodes[i].Reasons {
			in.Plan.Nodes[i].Reasons[k].Object = name
		}
	}
	r := report.Of(in)
	page := html(t, r)
	assert.Equal(t, 1, strings.Count(page, "<script>"), "the page's own")
	assert.Equal(t, 1, strings.Count(page, "</style>"))
	assert.NotContains(t, page, "<!--")
	assert.NotContains(t, page, name)

	var svg bytes.Buffer
	require.NoError(t, r.SVG(&svg))
	decoder, elements := xml.NewDecoder(&svg), map[string]int{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	assert.Zero(t, elements["script"])
	assert.Equal(t, 1, elements["style"])

	var md bytes.Buffer
	require.NoError(t, r.Markdown(&md))
	columns := 0
	for line := range strings.Lines(md.String()) {
		assert.NotContains(t, line, "<script")
		cells := strings.Count(strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""), "|")
		if strings.HasPrefix(line, "| ") && columns > 0 {
			assert.Equal(t, columns, cells, line)
		}
		columns = cells
	}
}

// The runbook cordons all nodes that go, drains each step's in the order of steps, and forces the eviction of unmanaged
// pods only where a step has any. A shell reads each name as one argument. Nodes of NodePools are deleted, so that Karpenter
// terminates them; node groups launch nodes in the commands of their cloud.
func TestRunbook(t *testing.T) {
	in := emptied(t, 12, 3)
	in.Plan.Cordon = []string{"node-1", "it's; rm -rf /"}
	launch := func(pool string) scheduling.Launch {
		return scheduling.Launch{NodePool: pool, Options: []scheduling.LaunchOption{{InstanceType: "it's $(reboot)", Zone: "a", CapacityType: "spot"}}}
	}
	in.Plan.Steps[0].Launches = []scheduling.Launch{launch("eks"), launch("eks"), launch("aks"), launch("gke"), launch("kops"), launch("general")}
	in.NodeGroups = map[string]manifest.NodeGroup{
		"eks": {Label: "eks.amazonaws.com/nodegroup", Name: "workers"}, "aks": {Label: "kubernetes.azure.com/agentpool", Name: "user"},
		"gke": {Label: "cloud.google.com/gke-nodepool", Name: "default-pool"}, "kops": {Label: "kops.k8s.io/instancegroup", Name: "nodes"},
	}
	in.Cluster.Nodes = append(in.Cluster.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gke-prod-default-pool-1a2b3c4d-x7kq", Labels: map[string]string{
		scheduling.NodePoolLabel: "gke", corev1.LabelTopologyZone: "a",
	}}})
	in.Plan.Steps[1].Drain = []string{"$(reboot)"}
	in.Plan.Steps[1].Risks = []disruption.Risk{{Code: disruption.RiskUnmanagedPod, Object: "pod/default/alone"}}
	page := stdhtml.UnescapeString(html(t, report.Of(in)))
	_, text, found := strings.Cut(page, `<pre id="runbook" tabindex="0">`)
	require.True(t, found)
	assert.Contains(t, text, `existing kubectl cordon -- node-1 'it'\''s; rm -rf /'`+"\n")
	first := "\nexisting drain -- " + in.Plan.Steps[0].Drain[0] + "\nexisting kubectl delete node -- " + in.Plan.Steps[0].Drain[0] + "\n"
	second := "\nexisting drain --force -- '$(reboot)'\nexisting kubectl delete node -- '$(reboot)'\n"
	require.Contains(t, text, first)
	require.Contains(t, text, second)
	assert.Less(t, strings.Index(text, first), strings.Index(text, second))

	// Pasted as a whole, it stops at the first command that fails, and where nodes must be launched or removed first.
	text, _, _ = strings.Cut(text, "</pre>")
	assert.True(t, strings.HasPrefix(text, "# This plan is of "+in.AsOf+". If that is more than an hour ago, plan again.\n# Run it with sh from a file, or paste it into bash.\n# First pause consolidation,"))
	assert.Contains(t, text, "\n(\nset -e\n")
	assert.Regexp(t, `(?s)\npause 'Is consolidation paused\?'\n.*\nexisting kubectl cordon`, text)
	for _, line := range []string{
		"eks_launch workers 2\npause 'Wait for 2 nodes (it'\\''s $(reboot) spot) of node group workers in zone a.'\n",
		"gke_launch default-pool 1 1\n", "aks_launch user 1\n",
		"pause 'Wait for 1 node (it'\\''s $(reboot) spot) of node group nodes in zone a.'\n",
		"# NodePool general launches 1 node (it's $(reboot) spot) in zone a for the evicted pods.\n",
	} {
		assert.Contains(t, text, line)
	}

	// gcloud resizes all zones of a node pool, which may launch more nodes than planned.
	_, resize, found := strings.Cut(text, "\ngke_launch() {")
	require.True(t, found)
	resize, _, _ = strings.Cut(resize, "\n}\n")
	for zones, surplus := range map[string]string{"a;b;c": "so that 5 more start than planned.", "a;b": "so that 2 more start than planned.", "a": ""} {
		shell := exec.CommandContext(t.Context(), "sh")
		shell.Stdin = strings.NewReader("set -e\nkubectl() { printf 'x a\\nx a\\nx b\\n'; }\ngcloud() { case \"$*\" in *describe*) echo '" + zones + "' ;; esac; }\n" +
			"gke_launch() {" + resize + "\n}\ngke_launch default-pool 1 1\n")
		out, err := shell.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), surplus)
		assert.Equal(t, surplus != "", strings.Contains(string(out), "delete-instances"), "%s", out)
	}

	check := exec.CommandContext(t.Context(), "sh", "-n")
	check.Stdin = strings.NewReader(text)
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The end that all names of nodes share is left out of tables, and stands in the runbook.
func TestSharedEndOfNames(t *testing.T) {
	in := emptied(t, 12, 3)
	const end = ".eu-west-1.compute.internal"
	long := func(name string) string { return name + end }
	for _, node := range in.Cluster.Nodes {
		node.Name = long(node.Name)
	}
	for _, pod := range in.Cluster.Running {
		if pod.Spec.NodeName != "" {
			pod.Spec.NodeName = long(pod.Spec.NodeName)
		}
	}
	for i := range in.Plan.Steps {
		step := &in.Plan.Steps[i]
		step.Drain[0] = long(step.Drain[0])
		for k := range step.Evictions {
			step.Evictions[k].From, step.Evictions[k].To = long(step.Evictions[k].From), long(step.Evictions[k].To)
		}
	}
	page := html(t, report.Of(in))
	name := in.Plan.Steps[0].Drain[0]
	assert.Contains(t, page, `<td data-head="Removes">`+strings.TrimSuffix(name, end)+"</td>")
	assert.Contains(t, page, ".<wbr>eu-west-1.<wbr>compute.<wbr>internal")
	assert.Contains(t, page, "\nexisting drain -- "+name+"\n")
}

// Pending pods and findings of lint are on the page and in the comment of a pull request; findings with a saving are
// among the blocked savings alone.
func TestPendingPodsAndFindings(t *testing.T) {
	in := emptied(t, 6, 2)
	in.Plan.Pending = &disruption.Pending{Pods: 7, Existing: 4, Launched: 2, Launches: 1, Unschedulable: []string{"shop/huge"}}
	in.Findings = []lint.Finding{
		{Severity: lint.Error, Code: lint.BudgetBlocks, Object: "PodDisruptionBudget/shop/db", Message: "never lets a pod be evicted", Advice: "raise it"},
		{Severity: lint.Info, Code: lint.RequestSize, Object: "shop/api", Message: "is slightly too large", Advice: "request 1110m", SavingPerHour: 1e9, SavingProven: true},
		{Severity: lint.Info, Code: lint.RequestSize, Object: "shop/web", Message: "is slightly too large", Advice: "request 555m", SavingPerHour: 2e9},
	}
	r := report.Of(in)
	require.Len(t, r.Lint, 1)
	var md bytes.Buffer
	require.NoError(t, r.Markdown(&md))
	page := strings.ReplaceAll(html(t, r), "<wbr>", "")
	for _, text := range []string{page, md.String()} {
		for _, want := range []string{"7 pods pending", "need 1 new node", "shop/huge", "never lets a pod be evicted", "request 1110m", "request 555m", "$730", "$0 to $1,460", "no plan or lower bound proves the saving"} {
			assert.Contains(t, text, want)
		}
		assert.NotContains(t, text, "$0 to $730", "its saving is proven")
		assert.NotContains(t, text, "is slightly too large")
	}
}

// The page asks for nothing from elsewhere.
func TestPageStandsAlone(t *testing.T) {
	text := html(t, report.Of(emptied(t, 6, 2)))
	for _, word := range []string{"http:", "https:", "src=", "@import", "<link rel=\"stylesheet"} {
		assert.NotContains(t, text, word)
	}
	assert.Equal(t, strings.Count(text, "url("), strings.Count(text, "url(#"), "only elements of the page")
	assert.Contains(t, text, "default-src 'none'")
}

func TestClusterWithoutNodes(t *testing.T) {
	r := report.Of(report.Input{Title: "Nothing", Plan: &disruption.ConsolidationPlan{}, Workload: func(pod string) string { return pod }})
	assert.Contains(t, html(t, r), "counts no node")
	var b bytes.Buffer
	require.NoError(t, r.Markdown(&b))
	require.NoError(t, r.SVG(&b))
	assert.NotContains(t, b.String(), "NaN")
}

func BenchmarkRender(b *testing.B) {
	in := emptied(b, 1000, 300)
	for b.Loop() {
		text := html(b, report.Of(in))
		b.ReportMetric(float64(len(text)), "bytes")
	}
	b.ReportMetric(float64(len(in.Cluster.Running)), "pods")
}
