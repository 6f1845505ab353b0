package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// waste are the arguments for the example cluster at a fixed time, and with little effort.
func waste(args ...string) []string {
	return append([]string{"consolidate", "-f", "../../examples/consolidate", "--now", "2026-11-21T09:00:00Z", "--effort", "fast"}, args...)
}

// moveset reads a consolidation plan.
func moveset(t *testing.T, text string) *disruption.ConsolidationPlan {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	plan := &disruption.ConsolidationPlan{}
	require.NoError(t, dec.Decode(plan))
	return plan
}

func TestConsolidateFormats(t *testing.T) {
	t.Parallel()
	small := []string{"consolidate", "-f", "testdata/dump.json", "--catalog", "testdata/market.json", "--now", "2026-11-25T18:00:00Z", "-o"}
	raw, err := yaml.YAMLToJSON([]byte(run(t, append(small, "yaml")...).stdout))
	require.NoError(t, err)
	require.JSONEq(t, run(t, append(small, "json")...).stdout, string(raw))
	asJSON := run(t, waste("-o", "json")...)
	require.Equal(t, exitOK, asJSON.code, asJSON.stderr)
	plan := moveset(t, asJSON.stdout)
	require.NotEmpty(t, plan.Steps)
	require.Equal(t, disruption.Interrupted, plan.Steps[0].Reason, "what is taken away comes first")
	require.Less(t, plan.Summary.PricePerHourAfter, plan.Summary.PricePerHourBefore)
	require.Len(t, plan.Nodes, 12)
	for _, name := range []string{"steps", "nodes", "warnings", "summary", "reason", "drain", "launches", "evictions", "savingPerHour", "disruptionCost", "score", "decision", "reasons", "pricePerHourBefore", "pricePerHourAfter", "lowerBoundPerHour", "podsMoved", "status"} {
		require.Contains(t, asJSON.stdout, `"`+name+`":`, "the names are a contract")
	}
}

func TestConsolidateFlags(t *testing.T) {
	t.Parallel()
	all := moveset(t, run(t, waste("-o", "json")...).stdout)
	two := moveset(t, run(t, waste("-o", "json", "--steps", "2")...).stdout)
	require.Equal(t, all.Steps[:2], two.Steps)

	empty := moveset(t, run(t, waste("-o", "json", "--reasons", "Empty")...).stdout)
	require.Len(t, empty.Steps, 1)
	require.Equal(t, disruption.Empty, empty.Steps[0].Reason)

	dear := moveset(t, run(t, waste("-o", "json", "--min-saving", "50/hour", "--reasons", "underutilized")...).stdout)
	require.Empty(t, dear.Steps)

	young := moveset(t, run(t, waste("-o", "json", "--min-lifetime", "8760h", "--reasons", "empty,underutilized")...).stdout)
	require.Empty(t, young.Steps)

	early := run(t, append(waste("-o", "json", "--reasons", "empty,underutilized"), "--now", "2026-11-20T22:00:00Z")...)
	require.Empty(t, moveset(t, early.stdout).Steps, "before consolidateAfter has passed")

	table := run(t, waste("--reasons", "misplaced,empty")...)
	require.Equal(t, exitOK, table.code, table.stderr)
	require.Contains(t, table.stdout, "1 step: 11 → 10 nodes")
}

// strandedPod is a cluster whose only node is about to be taken away with a pod that has no other node.
const strandedPod = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {limits: {cpu: 4}, template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}
---
apiVersion: v1
kind: Node
metadata:
  name: a
  labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true", karpenter.sh/capacity-type: on-demand,
    node.kubernetes.io/instance-type: m5.xlarge, topology.kubernetes.io/zone: us-east-1a, kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: a}
spec: {taints: [{key: aws-node-termination-handler/scheduled-maintenance, effect: NoSchedule}]}
status: {capacity: {cpu: 4, memory: 16Gi, pods: 58}, allocatable: {cpu: 3920m, memory: 14Gi, pods: 58}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, uid: p}
spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 3, memory: 400Gi}}}]}
status: {phase: Running}
`

// A machine that is about to go with a pod that fits nowhere is worth an exit code.
func TestConsolidateStranded(t *testing.T) {
	r := runWith(t, strings.NewReader(strandedPod), "consolidate", "-f", "-", "--now", "2026-11-21T09:00:00Z")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	require.Contains(t, r.stdout, "default/p")
}

func TestConsolidateNothing(t *testing.T) {
	r := runWith(t, strings.NewReader("apiVersion: v1\nkind: List\nitems: []\n"), "consolidate", "-f", "-")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "Nothing to consolidate: the input has no nodes.\n", r.stdout)
}

// The example is what kubectl would print, in one List as well as in files. Nothing in it says what
// time it is: the present will do.
func TestConsolidateAList(t *testing.T) {
	t.Parallel()
	var items []json.RawMessage
	for _, name := range []string{"10-nodepools.yaml", "20-nodes.yaml", "30-pods.yaml"} {
		text, err := os.ReadFile("../../examples/consolidate/" + name)
		require.NoError(t, err)
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			raw, err := yaml.YAMLToJSON([]byte(doc))
			require.NoError(t, err)
			items = append(items, raw)
		}
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)
	r := runWith(t, strings.NewReader(string(list)), "consolidate", "-f", "-", "--effort", "fast", "--reasons", "misplaced,empty")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, run(t, waste("--reasons", "misplaced,empty")...).stdout, r.stdout)
}

// A node of a pool is explained with what becomes of it if no other node may go.
func TestExplainNodeWithVerdict(t *testing.T) {
	t.Parallel()
	explain := func(args ...string) result {
		return run(t, append([]string{"explain", "-f", "../../examples/consolidate", "--now", "2026-11-21T09:00:00Z", "--effort", "fast"}, args...)...)
	}
	r := explain("node/ip-10-0-1-88", "node/ip-10-0-1-42", "node/ip-10-0-1-3")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "CONSOLIDATION, IF NO OTHER NODE IS REMOVED\n  Not removed.\n  do-not-disrupt  pod/shop/month-end-0")
	require.Contains(t, r.stdout, "Would be removed (empty): saves $0.3912 per hour, 0 pods rescheduled.")
	require.Equal(t, 2, strings.Count(r.stdout, "CONSOLIDATION"), "the third belongs to no pool")

	r = explain("node/ip-10-0-1-88", "-o", "json")
	var answer struct {
		Node    string              `json:"node"`
		Verdict *disruption.Verdict `json:"verdict"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &answer))
	require.Equal(t, "ip-10-0-1-88", answer.Node)
	require.Equal(t, disruption.Keep, answer.Verdict.Decision)
	require.Equal(t, exitUsage, explain("node/ip-10-0-1-88", "--steps", "-1").code)
}

// verify replays the steps of a plan that consolidate has made, and finds what was changed.
func TestVerifyMoves(t *testing.T) {
	made := run(t, waste("-o", "json")...)
	check := func(text string, args ...string) result {
		return run(t, append([]string{"verify", "-f", "../../examples/consolidate", "--plan", temp(t, "moves.json", text)}, args...)...)
	}
	r := check(made.stdout)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Regexp(t, `^The plan is valid: \d+ steps from 11 nodes to \d+ nodes, \d+ pods rescheduled, from \$3\.7696 to \$[0-9.]+ per hour\.\nThe lower bound of \$[0-9.]+ per hour is proven by`, r.stdout)

	plan := moveset(t, made.stdout)
	plan.Steps[0].SavingPerHour++
	changed, err := json.Marshal(plan)
	require.NoError(t, err)
	r = check(string(changed))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "the plan breaks a rule: steps[0]/")

	r = check(made.stdout, "--now", "2026-11-20T22:00:00Z")
	require.Equal(t, exitBadInput, r.code, "too soon at that time")
	require.Contains(t, r.stderr, "error: verified with other settings than the plan's: --now 2026-11-20T22:00:00Z (plan: 2026-11-21T09:00:00Z)\n")
	r = check(strings.Replace(made.stdout, `"steps"`, `"stairs": [], "steps"`, 1))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "is no plan")

	r = run(t, "explain", "node/ip-10-0-1-88", "-f", "../../examples/consolidate", "--plan", temp(t, "moves.json", made.stdout))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "is a consolidation plan")
}
