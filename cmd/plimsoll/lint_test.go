package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// findings are those that lint prints of a file, by code.
func findings(t *testing.T, file string, args ...string) (map[lint.Code][]lint.Finding, int) {
	t.Helper()
	r := run(t, append([]string{"lint", "-f", file, "-o", "json"}, args...)...)
	var list struct{ Findings []lint.Finding }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list), r.stderr)
	out := map[lint.Code][]lint.Finding{}
	for _, f := range list.Findings {
		require.NotEmpty(t, f.Object)
		require.NotEmpty(t, f.Message)
		require.NotEmpty(t, f.Advice)
		out[f.Code] = append(out[f.Code], f)
	}
	return out, r.code
}

// Each kind is found, and gone once the advice is followed.
func TestLintFindsAndForgets(t *testing.T) {
	text, err := os.ReadFile("testdata/lint.yaml")
	require.NoError(t, err)
	market := []string{"--catalog", "testdata/market.json"}
	found, code := findings(t, "testdata/lint.yaml", market...)
	require.Equal(t, exitFound, code)
	for _, code := range lint.Codes() {
		if code == lint.BudgetUnready {
			continue // which needs nodes
		}
		require.NotEmpty(t, found[code], code)
		skipped, _ := findings(t, "testdata/lint.yaml", append(market, "--skip", string(code))...)
		require.Empty(t, skipped[code])
		require.Len(t, skipped, len(found)-1)
	}
	size := found[lint.RequestSize][0]
	require.Equal(t, "1050m", size.Value)
	require.Contains(t, size.Advice, "request 1, if that is enough")

	mended := strings.NewReplacer(
		"1050m", "990m", "maxUnavailable: 0", "maxUnavailable: 1", "minAvailable: 50%", "maxUnavailable: 1", "app: gone", "app: web",
		"s390x", "amd64", "{key: node.kubernetes.io/instance-type, operator: In, values: [large]}, ", "", "spec: {template: {spec: {requirements: [{key: kubernetes.io/arch", "spec: {weight: 5, template: {spec: {requirements: [{key: kubernetes.io/arch",
		"{cpu: 10m}}}, {name: sidecar}", "{cpu: 10m, memory: 1Mi}}}, {name: sidecar, resources: {limits: {cpu: 1m, memory: 1Mi}}}",
	).Replace(string(text))
	require.Contains(t, found[lint.NodePoolOverlap][0].Advice, "set it to 2 for general, 1 for second: ")
	require.Equal(t, "NodePool/second", found[lint.NodePoolOverlap][0].Object) // which Karpenter uses first
	left, code := findings(t, temp(t, "mended.yaml", mended), market...)
	delete(left, lint.SpotNarrow)   // of two types there are not fifteen
	delete(left, lint.NoDaemonSets) // there is still none
	require.Empty(t, left)
	require.Equal(t, exitFound, code)
}

// Of a pod with a sidecar the request of the container is told that is to become smaller, and the PodDisruptionBudget of a
// crash loop is told to let pods go that are not ready, unless it does.
func TestLintTellsWhatIsToBeWritten(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/lint.yaml")
	require.NoError(t, err)
	market := []string{"--catalog", "testdata/market.json"}
	sidecar := strings.Replace(string(text), "[{name: web, resources: {requests: {cpu: 1050m, memory: 1Gi}}}]",
		"[{name: web, resources: {requests: {cpu: 950m, memory: 1Gi}}}, {name: proxy, resources: {requests: {cpu: 100m, memory: 16Mi}}}]", 1)
	found, _ := findings(t, temp(t, "sidecar.yaml", sidecar), market...)
	size := found[lint.RequestSize][0]
	require.Equal(t, "spec.containers[web].resources.requests.cpu", size.Field)
	require.Equal(t, "950m", size.Value)
	require.Equal(t, "request 900m, if that is enough (tried)", size.Advice)

	crashing := groupNode("n-0", "m5.2xlarge", "eu-west-1a", 8, 32, "eks.amazonaws.com/nodegroup: workers", "")
	for i := range 3 {
		crashing += strings.Replace(groupPod(fmt.Sprint("api-", i), "n-0", "100m", "1Gi", ""), "status: {phase: Running}", "status: {phase: Running, conditions: [{type: Ready, status: 'False'}]}", 1)
	}
	const budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: api, namespace: shop}\nspec: {minAvailable: 2, selector: {matchLabels: {app: api}}%s}\n"
	found, _ = findings(t, temp(t, "crashing.yaml", crashing+fmt.Sprintf(budget, "")))
	require.Len(t, found[lint.BudgetUnready], 1)
	require.Equal(t, "repair the pods that are not ready, or set spec.unhealthyPodEvictionPolicy to AlwaysAllow", found[lint.BudgetUnready][0].Advice)
	found, _ = findings(t, temp(t, "always.yaml", crashing+fmt.Sprintf(budget, ", unhealthyPodEvictionPolicy: AlwaysAllow")))
	require.Empty(t, found[lint.BudgetUnready])
	require.Empty(t, found[lint.BudgetBlocks])
}

// What could cost less is no failure.
func TestLintOfTheQuickstart(t *testing.T) {
	t.Parallel()
	r := run(t, "lint", "-f", quickstart, "--effort", "fast")
	require.Equal(t, exitOK, r.code, r.stdout)
}

// A PodDisruptionBudget has one fix, whichever command names it, the way without downtime first, and pods of Jobs are given
// the time to complete.
func TestBlockersHaveOneFix(t *testing.T) {
	t.Parallel()
	var objects strings.Builder
	for i := range 4 {
		objects.WriteString(groupNode(fmt.Sprint("n-", i), "m5.2xlarge", "eu-west-1a", 8, 32, "eks.amazonaws.com/nodegroup: workers", ""))
	}
	objects.WriteString(groupPod("api-0", "n-0", "100m", "1Gi", "") + groupPod("db-0", "n-1", "100m", "1Gi", ""))
	objects.WriteString(strings.NewReplacer("apps/v1", "batch/v1", "ReplicaSet", "Job", "metadata: {", "metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}, ").Replace(groupPod("report-0", "n-2", "100m", "1Gi", "")))
	const budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: shop}\nspec: {%s, selector: {matchLabels: {app: %[1]s}}}\n"
	fmt.Fprintf(&objects, budget, "api", "minAvailable: 1")
	fmt.Fprintf(&objects, budget, "db", "maxUnavailable: 0")
	file := temp(t, "blockers.yaml", objects.String())

	r := run(t, "consolidate", "-f", file, "-o", "json")
	var plan disruption.ConsolidationPlan
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &plan), r.stderr)
	fixes := map[string]string{}
	for _, b := range plan.Summary.Blocked {
		for _, c := range b.Changes {
			fixes[c.Object] = c.To
		}
	}
	found, _ := findings(t, file)
	require.Equal(t, map[string]string{
		"poddisruptionbudget/shop/api": "run 2 replicas, and replace spec.minAvailable by maxUnavailable: 1 (with 1 replica: brief downtime)",
		"poddisruptionbudget/shop/db":  "run 2 replicas, and set spec.maxUnavailable to 1 (with 1 replica: brief downtime)",
		"pod/shop/report-0":            "wait until its Job completes, or remove the annotation karpenter.sh/do-not-disrupt: true, if the Job may start over",
	}, fixes)
	require.Equal(t, fixes["poddisruptionbudget/shop/api"], found[lint.BudgetBlocks][0].Advice)
	require.Equal(t, fixes["poddisruptionbudget/shop/db"], found[lint.BudgetBlocks][1].Advice)
}

// NodePools that stand for a ComputeClass of GKE are no objects of the user: findings name the ComputeClass and its fields, and
// rules of Karpenter do not hold for it.
func TestLintNamesComputeClasses(t *testing.T) {
	t.Parallel()
	found, code := findings(t, "../../examples/gke", "--effort", "fast")
	require.Equal(t, exitOK, code)
	require.Equal(t, []string{"ComputeClass/batch", "spec.priorities[0]", "machineFamily, minCores"},
		[]string{found[lint.NodePoolTypes][0].Object, found[lint.NodePoolTypes][0].Field, found[lint.NodePoolTypes][0].Value})
	require.Regexp(t, `^remove these requirements, if these nodes are acceptable: \S+ (spot|on-demand).* \(tried\)$`, found[lint.NodePoolTypes][0].Advice)

	const class = "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: %s}\nspec: {priorities: [{machineType: %s, spot: true}], whenUnsatisfiable: DoNotScaleUp}\n---\n"
	found, _ = findings(t, temp(t, "classes.yaml", fmt.Sprintf(class, "a", "n4-standard-4")+fmt.Sprintf(class, "b", "n0-none-2")), "--catalog", "gcp/europe-west4")
	require.Empty(t, found[lint.SpotNarrow])
	require.Len(t, found[lint.NodePoolUnmet], 1)
	require.Equal(t, "ComputeClass/b", found[lint.NodePoolUnmet][0].Object)
	require.Equal(t, "spec.priorities[0]", found[lint.NodePoolUnmet][0].Field)
}

// The machine series of ScaleUpAnyway is none of the user's fields: the advice is to append a priority with cheaper machine types.
func TestLintOfScaleUpAnyway(t *testing.T) {
	t.Parallel()
	found, _ := findings(t, temp(t, "class.yaml", `
apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: batch}
spec: {priorities: [], whenUnsatisfiable: ScaleUpAnyway}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 8
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {cloud.google.com/compute-class: batch}
      containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]
`), "--catalog", "gcp/europe-west4")
	require.NotEmpty(t, found[lint.NodePoolTypes])
	f := found[lint.NodePoolTypes][0]
	require.Equal(t, []string{"ComputeClass/batch", "spec.whenUnsatisfiable", "ScaleUpAnyway"}, []string{f.Object, f.Field, f.Value})
	require.Regexp(t, `^append a priority with these machine types to spec.priorities, if these nodes are acceptable: \S+ (spot|on-demand).* \(tried\)$`, f.Advice)
}
