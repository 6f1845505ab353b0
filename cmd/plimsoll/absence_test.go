package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// atNoon is a time at which all nodes of these tests have long been there.
const atNoon = "2026-11-21T12:00:00Z"

// onDemandPool is a NodePool that buys on demand, openPool one that buys everything.
const (
	onDemandPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}
---
`
	openPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: Exists}]}}}
---
`
)

// runningNode is a node of the pool with a pod on it that asks for so much cpu. More labels
// are given as "key: value, ".
func runningNode(name, kind, zone, capacityType, cpu, request, labels string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Node
metadata:
  name: %[1]s
  creationTimestamp: "2026-11-01T00:00:00Z"
  labels: {%[7]snode.kubernetes.io/instance-type: %[2]s, topology.kubernetes.io/zone: %[3]s, karpenter.sh/capacity-type: %[4]s, karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true", kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: %[1]s}
status:
  capacity: {cpu: "%[5]s", memory: 16Gi, pods: "20"}
  allocatable: {cpu: "%[5]s", memory: 16Gi, pods: "20"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: on-%[1]s, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}
spec: {nodeName: %[1]s, containers: [{name: c, resources: {requests: {cpu: %[6]s, memory: 1Gi}}}]}
status: {phase: Running}
---
`, name, kind, zone, capacityType, cpu, request, labels)
}

// consolidated consolidates, and has the plan verified.
func consolidated(t *testing.T, file string, args ...string) *disruption.ConsolidationPlan {
	t.Helper()
	args = append([]string{"-f", file, "--now", atNoon, "--effort", "fast"}, args...)
	r := run(t, append([]string{"consolidate", "-o", "json"}, args...)...)
	require.NotEqual(t, exitBadInput, r.code, r.stderr)
	require.NotEqual(t, exitUsage, r.code, r.stderr)
	v := run(t, append([]string{"verify", "--plan", temp(t, "moves.json", r.stdout)}, args...)...)
	require.Equal(t, exitOK, v.code, v.stderr)
	return moveset(t, r.stdout)
}

// verdictOf is what becomes of a node.
func verdictOf(t *testing.T, plan *disruption.ConsolidationPlan, node string) disruption.Verdict {
	t.Helper()
	for _, v := range plan.Nodes {
		if v.Node == node {
			return v
		}
	}
	require.Fail(t, "no verdict", node)
	return disruption.Verdict{}
}

// A healthy node is left alone and has its price where the catalog does not list its zone, and
// is left alone where the catalog does not know its type.
func TestWhatTheCatalogLacksStays(t *testing.T) {
	file := temp(t, "cluster.yaml", onDemandPool+
		runningNode("here", "small", "a", "on-demand", "2", "1900m", "")+
		runningNode("elsewhere", "small", "c", "on-demand", "2", "1900m", "")+
		runningNode("unheard-of", "tiny", "a", "on-demand", "2", "1900m", ""))
	plan := consolidated(t, file, "--catalog", "testdata/market.json")
	require.Empty(t, plan.Steps)
	require.Equal(t, offerings.MustPrice("0.2"), plan.Summary.PricePerHourBefore)
	require.Equal(t, 2, plan.Summary.NodesBefore)
	require.Equal(t, 1, plan.Summary.UnpricedNodes)
	require.Equal(t, offerings.MustPrice("0.1"), verdictOf(t, plan, "elsewhere").PricePerHour)
	require.Equal(t, disruption.CauseUnknownPrice, verdictOf(t, plan, "unheard-of").Reasons[0].Code)

	x := run(t, "explain", "node/unheard-of", "-f", file, "--now", atNoon, "--catalog", "testdata/market.json")
	require.Contains(t, x.stdout, "Not removed.\n  unknown-price  the catalog has no offering of tiny as on-demand in zone a\n")
}

// The embedded catalog sells hardly anything in us-east-1c, where much runs.
func TestNodesInAZoneThatTheCatalogHardlyKnows(t *testing.T) {
	var text strings.Builder
	for i := range 4 {
		text.WriteString(runningNode(fmt.Sprint("n", i), "m5.large", "us-east-1c", []string{"on-demand", "spot"}[i%2], "2", "1700m", ""))
	}
	plan := consolidated(t, temp(t, "cluster.yaml", openPool+text.String()), "--filter", "name=m5.large")
	for _, s := range plan.Steps {
		require.NotEqual(t, disruption.Drifted, s.Reason)
	}
	require.Zero(t, plan.Summary.UnpricedNodes)
	require.Equal(t, offerings.MustPrice("0.096"), verdictOf(t, plan, "n0").PricePerHour)
	spot := verdictOf(t, plan, "n1").PricePerHour
	require.Greater(t, spot, offerings.MustPrice("0.01"))
	require.Less(t, spot, offerings.MustPrice("0.096"))
}

// An account calls zones what it likes: what is bought for them is told by their ids.
func TestZonesAreToldByTheirIDs(t *testing.T) {
	const id = "topology.k8s.aws/zone-id: "
	known := onDemandPool + runningNode("n1", "m5.large", "us-east-1c", "on-demand", "2", "1700m", id+"use1-az6, ") +
		runningNode("n2", "m5.large", "us-east-1b", "on-demand", "2", "1700m", id+"use1-az2, ")
	pod := `apiVersion: v1
kind: Pod
metadata: {name: here, namespace: shop}
spec: {nodeSelector: {topology.kubernetes.io/zone: us-east-1c, node.kubernetes.io/instance-type: m7i.large}, containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
---
`
	prices := temp(t, "prices.yaml", "prices: [{instanceType: m7i.large, zone: us-east-1c, capacityType: on-demand, price: 0.05}]")
	r := run(t, "plan", "-o", "json", "-f", temp(t, "cluster.yaml", known+pod), "--prices", prices)
	require.Equal(t, exitOK, r.code, r.stdout+r.stderr)
	options := decodePlan(t, r.stdout).Launches[0].Options
	require.Len(t, options, 1)
	require.Equal(t, "us-east-1c", options[0].Zone, "the catalog has m7i.large in use1-az6, under another name")
	require.Equal(t, offerings.MustPrice("0.05"), options[0].Price, "prices are of zones as the account calls them")

	r = run(t, "plan", "-f", temp(t, "cluster.yaml", known+pod+runningNode("n3", "m5.large", "us-east-1d", "on-demand", "2", "1700m", id+"use1-az2, ")))
	require.Equal(t, exitBadInput, r.code)
	require.Equal(t, "error: node n3: topology.k8s.aws/zone-id: use1-az2 is the id of zone us-east-1d, but on node n2 use1-az2 is that of us-east-1b\n", r.stderr)
}

// What may be bought says nothing about what runs: the bill, the reasons for which nodes go and
// what a cluster costs at least are of the nodes as they are.
func TestFiltersSayWhatIsBought(t *testing.T) {
	file := temp(t, "cluster.yaml", openPool+
		runningNode("spot-1", "small", "a", "spot", "2", "1900m", "")+
		runningNode("spot-2", "small", "b", "spot", "2", "1900m", "")+
		runningNode("large", "large", "a", "spot", "4", "3900m", ""))
	for _, args := range [][]string{
		{}, {"--filter", "name=large,capacity-type=on-demand"}, {"--filter", "zone=b"}, {"--no-spot"}, {"--capacity-types", "on-demand"},
		{"--smallest-node", "cpu=4"}, {"--largest-node", "cpu=2"}, {"--goal", "on-demand"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append([]string{"--catalog", "testdata/market.json"}, args...)
			plan := consolidated(t, file, args...)
			require.Empty(t, plan.Steps, "everything is full, and as cheap as can be")
			require.Equal(t, offerings.MustPrice("0.18"), plan.Summary.PricePerHourBefore)
			require.Zero(t, plan.Summary.UnpricedNodes)
			r := run(t, append([]string{"explain", "node/spot-1", "node/spot-2", "node/large", "-o", "json", "-f", file, "--now", atNoon, "--effort", "fast"}, args...)...)
			require.Equal(t, exitOK, r.code, r.stderr)
			var explained []struct{ Verdict disruption.Verdict }
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &explained))
			for i, node := range []string{"spot-1", "spot-2", "large"} {
				price := []string{"0.04", "0.05", "0.09"}[i]
				v := verdictOf(t, plan, node)
				require.Equal(t, offerings.MustPrice(price), v.PricePerHour)
				require.NotEqual(t, disruption.CauseUnknownPrice, v.Reasons[0].Code)
				require.Empty(t, v.Drift)
				require.Equal(t, v, explained[i].Verdict)
			}
		})
	}
}

// A cluster can cost what some of its nodes cost, though none like them may be bought.
func TestWhatRunsMayStayInTheBound(t *testing.T) {
	pool := strings.Replace(openPool, "spec: {", `spec: {disruption: {budgets: [{nodes: "0"}]}, `, 1)
	file := temp(t, "cluster.yaml", pool+
		runningNode("spot-1", "small", "a", "spot", "2", "900m", "")+
		runningNode("spot-2", "small", "a", "spot", "2", "900m", ""))
	for _, args := range [][]string{{"--no-spot"}, {"--capacity-types", "on-demand"}, {"--filter", "name=large"}, {"--smallest-node", "cpu=4"}} {
		plan := consolidated(t, file, append([]string{"--catalog", "testdata/market.json", "--node-overhead", "0"}, args...)...)
		require.Equal(t, offerings.MustPrice("0.08"), plan.Summary.PricePerHourAfter, "%v", args)
		require.Equal(t, offerings.MustPrice("0.04"), plan.Summary.LowerBoundPerHour, "%v", args)
	}
}

// A pod that only what is left out could hold is told so.
func TestFiltersAreTheReason(t *testing.T) {
	pod := `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "3", memory: 1Gi}}}]}
`
	r := run(t, "plan", "-f", temp(t, "in.yaml", openPool+pod), "--catalog", "testdata/market.json", "--filter", "name=small")
	require.Equal(t, exitUnschedulable, r.code)
	require.Contains(t, r.stdout, "excluded by filters")
	require.NotContains(t, r.stdout, "not on sale")
}

// A node that has drifted says how.
func TestHowANodeHasDrifted(t *testing.T) {
	file := temp(t, "cluster.yaml", onDemandPool+runningNode("spot", "small", "a", "spot", "2", "1900m", ""))
	args := []string{"-f", file, "--now", atNoon, "--catalog", "testdata/market.json"}
	const how = "RequirementsDrifted: NodePool general requires karpenter.sh/capacity-type In [on-demand], and the node has spot"
	require.Contains(t, run(t, append(args, "consolidate", "--details")...).stdout, "DRIFTED NODES\n  spot: "+how+"\n")
	require.Contains(t, run(t, append(args, "explain", "node/spot")...).stdout, "  Drifted: "+how+".\n")
	require.Equal(t, how, verdictOf(t, consolidated(t, file, "--catalog", "testdata/market.json"), "spot").Drift)
}
