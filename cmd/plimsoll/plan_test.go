package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

const (
	// quickstart is the example of the README.
	quickstart = "../../examples/quickstart"
	// services are Deployments and a NodePool on EC2, for tests that need a search.
	services = "testdata/services"
)

// obeys checks what the plan's contract promises of every plan in JSON.
func obeys(t *testing.T, text string, pods int) {
	t.Helper()
	plan := decodePlan(t, text)
	var raw map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &raw))
	for _, name := range []string{"launches", "existing", "unschedulable", "warnings", "summary"} {
		require.Contains(t, raw, name)
		require.NotEqual(t, "null", string(raw[name]), "%s is a list even if it is empty", name)
	}
	stands := map[string]int{}
	total := 0.0
	for _, l := range plan.Launches {
		require.NotEmpty(t, l.Options)
		require.Equal(t, l.Options[0].Price, l.Price, "the first option is what the price counts")
		require.NotEmpty(t, l.Pods)
		require.NotEmpty(t, l.Name)
		require.NotEmpty(t, l.NodePool)
		total += l.Price.USD()
	}
	for pod := range plan.Placements() {
		stands[pod.String()]++
	}
	for _, u := range plan.Unschedulable {
		stands[u.Pod]++
		require.NotEmpty(t, u.Message)
		require.NotEmpty(t, u.Reasons)
	}
	for p, n := range stands {
		require.Equal(t, 1, n, "%s stands once", p)
	}
	require.Len(t, stands, pods)
	s := plan.Summary
	require.Equal(t, pods, s.Pods)
	require.Equal(t, pods-len(plan.Unschedulable), s.Placed)
	require.Len(t, plan.Launches, s.Nodes)
	require.InDelta(t, total, s.PricePerHour.USD(), 1e-9)
	require.LessOrEqual(t, s.LowerBoundPerHour, max(s.PricePerHour, s.ExpectedPerHour))
	require.NotEmpty(t, s.Status)
}

// The forms in which one and the same deployment may be passed.
func TestPlanReadsEveryForm(t *testing.T) {
	documents, err := os.ReadFile("testdata/shop.yaml")
	require.NoError(t, err)
	var items []json.RawMessage
	dir := t.TempDir()
	for i, doc := range strings.Split(string(documents), "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		require.NoError(t, err)
		items = append(items, raw)
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(doc), 0o644))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)

	catalog := []string{"--catalog", "testdata/market.json", "-o", "json"}
	want := run(t, append([]string{"plan", "-f", "testdata/shop.yaml"}, catalog...)...)
	require.Equal(t, exitUnschedulable, want.code)
	obeys(t, want.stdout, 13)
	for name, got := range map[string]result{
		"a directory":    run(t, append([]string{"plan", "-f", dir}, catalog...)...),
		"JSON list":      run(t, append([]string{"plan", "-f", temp(t, "list.json", string(list))}, catalog...)...),
		"YAML on stdin":  runWith(t, strings.NewReader(string(documents)), append([]string{"plan", "-f", "-"}, catalog...)...),
		"JSON on stdin":  runWith(t, strings.NewReader(string(list)), append([]string{"plan", "--filename=-"}, catalog...)...),
		"several files":  run(t, append([]string{"plan", "-f", filepath.Join(dir, "0.yaml"), "-f", filepath.Join(dir, "1.yaml"), "-f", filepath.Join(dir, "2.yaml"), "-f", filepath.Join(dir, "3.yaml"), "-f", filepath.Join(dir, "4.yaml")}, catalog...)...),
		"files together": run(t, append([]string{"plan", "-R", "-f", filepath.Dir(dir)}, catalog...)...),
	} {
		if name == "files together" {
			continue // the parent holds other tests' files, too
		}
		require.Equal(t, want, got, name)
	}
}

func TestPlanOfADump(t *testing.T) {
	r := run(t, "plan", "-f", "testdata/dump.json", "--catalog", "testdata/market.json", "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	obeys(t, r.stdout, 5)
	plan := decodePlan(t, r.stdout)
	require.Len(t, plan.Existing, 1)
	require.Equal(t, "ip-10-0-0-1", plan.Existing[0].Node)
	require.Empty(t, plan.Warnings, "kubectl's output is read without complaint")
}

func TestPlanWithEveryCatalog(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"embedded":          {"--catalog", "ec2/us-east-1"},
		"default":           {},
		"embedded of Azure": {"--catalog", "azure/eastus"},
		"own format":        {"--catalog", "testdata/market.json"},
		"CSV":               {"--catalog", "testdata/reserved.csv"},
		"KWOK":              {"--catalog", "kwok:testdata/kwok.json"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, append([]string{"plan", "-f", "testdata/nopool.yaml", "-o", "json", "--effort", "fast"}, args...)...)
			require.Equal(t, exitOK, r.code, r.stderr)
			obeys(t, r.stdout, 4)
			require.Contains(t, r.stdout, "the input has no NodePool")
		})
	}
}

// What is written by catalog is a file that plan accepts.
func TestCatalogsMakeTheRound(t *testing.T) {
	withoutName := func(r result) *scheduling.Plan {
		require.Equal(t, exitOK, r.code, r.stderr)
		plan := decodePlan(t, r.stdout)
		plan.Summary.Catalog, plan.Settings = instancetypes.Origin{}, nil // the names of files
		return plan
	}
	want := withoutName(run(t, "plan", "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json", "-o", "json"))
	for _, format := range []string{"json", "csv"} {
		c := run(t, "catalog", "--catalog", "testdata/market.json", "-o", format)
		require.Equal(t, exitOK, c.code)
		for _, name := range []string{"c." + format, "c.txt"} {
			got := run(t, "plan", "-f", "testdata/nopool.yaml", "--catalog", temp(t, name, c.stdout), "-o", "json")
			require.Equal(t, want, withoutName(got))
		}
	}
}

func TestPlanOfTheQuickstart(t *testing.T) {
	t.Parallel()
	r := run(t, "plan", "-f", quickstart, "-o", "json", "--effort", "fast")
	require.Equal(t, exitOK, r.code, r.stderr)
	obeys(t, r.stdout, 70)
	plan := decodePlan(t, r.stdout)
	require.Empty(t, plan.Warnings, "a newcomer is shown nothing that needs explaining")
	require.Len(t, plan.Summary.Pools, 2)
	again := run(t, "plan", "-f", quickstart, "-o", "json", "--effort", "fast")
	require.Equal(t, r, again, "the same input gives the same bytes")

	file := temp(t, "plan.json", r.stdout)
	v := run(t, "verify", "-f", quickstart, "--plan", file)
	require.Equal(t, exitOK, v.code, v.stderr)
	require.Contains(t, v.stdout, "The plan is valid: 70 of 70 pods placed")

	table := run(t, "plan", "-f", quickstart, "--effort", "fast")
	require.Contains(t, table.stdout, "70 pods placed on")
	for line := range strings.Lines(table.stdout) {
		require.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "no blanks at the end of a line")
	}

	claims := run(t, "plan", "-f", quickstart, "-o", "nodeclaims", "--effort", "fast")
	require.Equal(t, plan.Summary.Nodes, strings.Count(claims.stdout, "kind: NodeClaim"))
	require.Contains(t, claims.stdout, "kind: EC2NodeClass")
}

func TestFiltersNarrowWhatIsBought(t *testing.T) {
	r := run(t, "plan", "-f", "testdata/nopool.yaml", "-f", "testdata/reserved.yaml", "-o", "json", "--effort", "fast",
		"--filter", "category in (c m),generation>=7", "--filter", "arch=arm64", "--capacity-types", "spot,on-demand", "--max-options", "5")
	require.Equal(t, exitOK, r.code, r.stderr)
	c := ec2.MustCatalog("us-east-1")
	for _, l := range decodePlan(t, r.stdout).Launches {
		require.LessOrEqual(t, len(l.Options), 5)
		for _, o := range l.Options {
			it, ok := c.Get(o.InstanceType)
			require.True(t, ok)
			require.Equal(t, "arm64", it.Labels["kubernetes.io/arch"])
			require.Contains(t, []string{"c", "m"}, it.Labels["karpenter.k8s.aws/instance-category"])
		}
	}
}

func TestStrategiesAndPolicies(t *testing.T) {
	for _, args := range [][]string{
		{"--strategy", "price-capacity-optimized"}, {"--strategy", "diversified"}, {"--strategy", "prioritized", "--capacity-types", "on-demand,spot"},
		{"--min-values-policy", "best-effort"}, {"--min-values-policy", "BEST-EFFORT"}, {"--weights", "ignore"},
		{"--effort", "thorough"}, {"--effort", "50"}, {"--timeout", "1h"},
	} {
		r := run(t, append([]string{"plan", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "-o", "json"}, args...)...)
		require.Equal(t, exitUnschedulable, r.code, r.stderr)
		obeys(t, r.stdout, 13)
		if args[0] == "--strategy" {
			v := run(t, append([]string{"verify", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "--plan", temp(t, "plan.json", r.stdout)}, args...)...)
			require.Equal(t, exitOK, v.code, v.stderr)
		}
	}
	prioritized := run(t, "plan", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "-o", "json", "--strategy", "prioritized", "--capacity-types", "on-demand,spot")
	require.Equal(t, "on-demand", string(decodePlan(t, prioritized.stdout).Launches[0].Options[0].CapacityType))
}

func TestDeadlinesAndInterrupts(t *testing.T) {
	r := run(t, "plan", "-f", services, "--timeout", "1ns", "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "deadline", string(decodePlan(t, r.stdout).Summary.Status))
	table := run(t, "plan", "-f", services, "--timeout", "1ns")
	require.Contains(t, table.stdout, "The search was stopped by --timeout")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	code := Run(ctx, []string{"plan", "-f", "testdata/shop.yaml"}, nil, &stdout, &stderr)
	require.Equal(t, exitInterrupted, code)
	require.Empty(t, stdout.String())
	require.Equal(t, "error: interrupted before a plan was found\n", stderr.String())
}

func TestOverlaysChangePrices(t *testing.T) {
	overlay := temp(t, "overlay.yaml", `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: deal}
spec:
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [large]}, {key: karpenter.sh/nodepool, operator: In, values: [general]}]
  price: "0.01"
`)
	r := run(t, "plan", "-f", "testdata/shop.yaml", "-f", overlay, "--catalog", "testdata/market.json", "-o", "json")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	require.Len(t, plan.Launches, 1)
	require.Equal(t, "large", plan.Launches[0].Options[0].InstanceType)
	require.Equal(t, "0.01", plan.Launches[0].Price.String())
	table := run(t, "plan", "-f", "testdata/shop.yaml", "-f", overlay, "--catalog", "testdata/market.json")
	require.Contains(t, table.stdout, "large spot a")
}

func TestNothingToDo(t *testing.T) {
	r := run(t, "plan", "-f", "testdata/reserved.yaml", "--catalog", "testdata/market.json")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "Nothing to place: the input has no pending pods (1 object read: NodePool; no pod or workload).\n", r.stdout)
	r = run(t, "plan", "-f", "testdata/reserved.yaml", "--catalog", "testdata/market.json", "-o", "json")
	obeys(t, r.stdout, 0)
	r = run(t, "plan", "-f", "testdata/reserved.yaml", "--catalog", "testdata/market.json", "-o", "nodeclaims")
	require.Equal(t, result{}, r)
}

func TestNothingFits(t *testing.T) {
	huge := temp(t, "huge.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: huge}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1000, memory: 1Gi}}}]}\n")
	r := run(t, "plan", "-f", huge)
	require.Equal(t, exitUnschedulable, r.code)
	require.True(t, strings.HasPrefix(r.stdout, "None of 1 pod can be placed: "), r.stdout)
	require.Contains(t, r.stdout, "NOT PLACED\n  default/huge (1 pod)\n")
}

func TestPoolsThatBuyNothingAreTold(t *testing.T) {
	idle := temp(t, "idle.yaml", "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: idle}\nspec: {template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [s390x]}]}}}\n")
	r := run(t, "plan", "-f", "testdata/shop.yaml", "-f", idle, "--catalog", "testdata/market.json")
	require.Equal(t, exitUnschedulable, r.code)
	require.Contains(t, r.stdout, "  NodePool/idle: cannot launch nodes: none of the 2 instance types of the catalog meets all of its requirements: kubernetes.io/arch In [s390x] alone rules out 2\n")
}

// The default pool gives way where the flags ask for what it would not buy.
func TestDefaultPoolFollowsTheFlags(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]func(arch, capacityType string) bool{
		"":                                 func(arch, ct string) bool { return arch == "amd64" && ct == "on-demand" },
		"--capacity-types spot":            func(arch, ct string) bool { return arch == "amd64" && ct == "spot" },
		"--filter arch=arm64":              func(arch, ct string) bool { return arch == "arm64" && ct == "on-demand" },
		"--catalog azure/eastus":           func(_, ct string) bool { return ct == "on-demand" },
		"--filter capacity-type=spot":      func(_, ct string) bool { return ct == "spot" },
		"--capacity-types on-demand,spot ": func(arch, _ string) bool { return arch == "amd64" },
	} {
		r := run(t, append([]string{"plan", "-f", "testdata/nopool.yaml", "-o", "json", "--effort", "fast"}, strings.Fields(flags)...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		plan := decodePlan(t, r.stdout)
		require.Len(t, plan.Warnings, 1)
		require.Equal(t, "NodePool/default", plan.Warnings[0].Object)
		c := ec2.MustCatalog("us-east-1")
		for _, l := range plan.Launches {
			for _, o := range l.Options {
				arch := ""
				if it, ok := c.Get(o.InstanceType); ok {
					arch = it.Labels["kubernetes.io/arch"]
					require.NotEqual(t, "t", it.Labels["karpenter.k8s.aws/instance-category"], "burstable machines do not keep up their speed")
				}
				require.True(t, want(arch, string(o.CapacityType)), "%s: %v", flags, o)
			}
		}
	}
}

// Pods that scheduling gates hold back are told, and are no reason for exit code 3.
func TestGatedPodsAreNoFailure(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {%s containers: [{name: c, resources: {requests: {cpu: %s}}}]}\n---\n"
	gated := fmt.Sprintf(pod, "gated", "schedulingGates: [{name: example.com/quota}],", "1")
	small, huge := fmt.Sprintf(pod, "small", "", "1"), fmt.Sprintf(pod, "huge", "", "1000")
	plan := func(text string) result {
		return run(t, "plan", "-f", temp(t, "pods.yaml", text), "--catalog", "testdata/market.json")
	}
	r := plan(gated + small)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "1 pod placed on 1 new node")
	require.Contains(t, r.stdout, "1 pod is held by scheduling gates, see below.\n")
	require.Contains(t, r.stdout, "HELD BY SCHEDULING GATES\n  default/gated (1 pod)\n")
	require.NotContains(t, r.stdout, "NOT PLACED")

	r = plan(gated)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "Nothing to place")

	r = plan(gated + huge)
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	require.Contains(t, r.stdout, "None of 1 pod can be placed: ")
	require.Contains(t, r.stdout, "NOT PLACED\n  default/huge (1 pod)\n")
}

// A claim of which the phase says that it is bound needs no annotation that says so.
func TestPhaseBoundIsBound(t *testing.T) {
	r := run(t, "plan", "--catalog", "testdata/market.json", "-f", temp(t, "claim.yaml", `
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], volumeName: disk, resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}
`))
	require.Equal(t, exitOK, r.code, r.stdout+r.stderr)
	require.Contains(t, r.stdout, "1 pod placed on 1 new node")
}
