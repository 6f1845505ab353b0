package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// smallMarket is a catalog file in which two small machines cost $0.004 per hour less than a large
// one.
const smallMarket = `name,arch,cpu,memory,pods,zone,capacityType,price
large,amd64,2,8Gi,20,a,on-demand,0.040
small,amd64,1,4Gi,20,a,on-demand,0.018
arm,arm64,1,4Gi,20,a,on-demand,0.010
cheap,amd64,1,4Gi,20,a,spot,0.009
`

// settled is a cluster on that market: a pool, nodes of a type, and pods in the words of YAML.
type settled struct {
	capacityTypes, archs string
	nodes                map[string]string // types by name
	objects              []string
}

// consolidated is what the command plans for the cluster.
func (c *settled) consolidated(t *testing.T, args ...string) (table string, plan *disruption.ConsolidationPlan) {
	t.Helper()
	catalog := filepath.Join(t.TempDir(), "market.csv")
	require.NoError(t, os.WriteFile(catalog, []byte(smallMarket), 0o600))
	docs := []string{fmt.Sprintf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: "100%%"}]}
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}, requirements: [
    {key: karpenter.sh/capacity-type, operator: In, values: [%s]}, {key: kubernetes.io/arch, operator: In, values: [%s]}]}}
`, c.capacityTypes, c.archs)}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		cpu, capacityType := map[string]int{"large": 2}[c.nodes[name]], "on-demand"
		if c.nodes[name] == "cheap" {
			capacityType = "spot"
		}
		docs = append(docs, fmt.Sprintf(`apiVersion: v1
kind: Node
metadata:
  name: %[1]s
  labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true", karpenter.sh/capacity-type: %[5]s,
    node.kubernetes.io/instance-type: %[2]s, topology.kubernetes.io/zone: a, kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: %[1]s}
status: {capacity: {cpu: %[3]d, memory: %[4]dGi, pods: 20}, allocatable: {cpu: %[3]d, memory: %[4]dGi, pods: 20}, conditions: [{type: Ready, status: "True"}]}
`, name, c.nodes[name], max(cpu, 1), 4*max(cpu, 1), capacityType))
	}
	input := strings.Join(append(docs, c.objects...), "---\n")
	args = append([]string{"consolidate", "-f", "-", "--catalog", catalog, "--now", "2026-11-21T09:00:00Z"}, args...)
	r := runWith(t, strings.NewReader(input), args...)
	require.Equal(t, exitOK, r.code, r.stderr)
	j := runWith(t, strings.NewReader(input), append(args, "-o", "json")...)
	require.Equal(t, exitOK, j.code, j.stderr)
	return r.stdout, moveset(t, j.stdout)
}

// running is a pod on a node; of a ReplicaSet, unless owner is "".
func running(name, node, owner, spec string) string {
	meta := fmt.Sprintf("{name: %s, namespace: shop, uid: %[1]s, labels: {app: web}", name)
	if owner != "" {
		meta += fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %s, uid: %[1]s, controller: true}]", owner)
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: %s}\nspec: {nodeName: %s, %s}\nstatus: {phase: Running}\n", meta, node, spec)
}

// asks is the spec of a pod that asks for so much CPU.
func asks(cpu string) string {
	return "containers: [{name: c, resources: {requests: {cpu: " + cpu + ", memory: 1Gi}}}]"
}

// A cluster grows in nodes for what another node costs, not for cents.
func TestNoNodesForCents(t *testing.T) {
	c := &settled{
		capacityTypes: "on-demand", archs: "amd64", nodes: map[string]string{"one": "large"},
		objects: []string{running("web-1", "one", "web", asks("700m")), running("web-2", "one", "web", asks("700m"))},
	}
	table, plan := c.consolidated(t)
	assert.Empty(t, plan.Steps)
	assert.Equal(t, offerings.MustPrice("0.007191781"), plan.Summary.NodeOverheadPerHour)
	assert.Equal(t, offerings.MustPrice("0.04"), plan.Summary.PricePerHourBefore)
	assert.Equal(t, offerings.MustPrice("0.047191781"), plan.Summary.ExpectedPerHourBefore)
	assert.Contains(t, table, "Prices are of all nodes, including node overhead ($0.0072/h each).\n")
	assert.Equal(t, plan.Summary.ExpectedPerHourAfter, plan.Summary.LowerBoundPerHour, "price and bound both include the node overhead")
	assert.Contains(t, table, "No steps lead to a lower price.\n")

	_, plan = c.consolidated(t, "--node-overhead", "0")
	require.Len(t, plan.Steps, 1, "two small machines are cheaper by themselves")
	assert.Equal(t, 2, plan.Summary.NodesAfter)
	assert.Equal(t, offerings.MustPrice("0.004"), plan.Steps[0].SavingPerHour)
	assert.Zero(t, plan.Summary.ExpectedPerHourAfter)

	c.nodes = map[string]string{"one": "small", "two": "small"}
	c.objects = []string{running("web-1", "one", "web", asks("700m")), running("web-2", "two", "web", asks("700m"))}
	_, plan = c.consolidated(t, "--node-overhead", "7.30/month")
	require.Len(t, plan.Steps, 1, "one large machine is cheaper with what nodes cost")
	assert.Equal(t, 1, plan.Summary.NodesAfter)
	assert.Equal(t, offerings.MustPrice("0.05"), plan.Summary.LowerBoundPerHour)
	assert.Equal(t, plan.Summary.LowerBoundPerHour, plan.Summary.ExpectedPerHourAfter)
	assert.Equal(t, offerings.MustPrice("0.006"), plan.Steps[0].SavingPerHour, "a node less for $0.01, and a machine that costs $0.004 more")
}

// A spot machine that is dearer than one on demand with what its interruptions are expected to
// cost is replaced by that.
func TestInterruptionsCountForNodesThatRun(t *testing.T) {
	c := &settled{
		capacityTypes: "spot, on-demand", archs: "amd64", nodes: map[string]string{"one": "cheap"},
		objects: []string{running("web-1", "one", "web", asks("500m"))},
	}
	_, plan := c.consolidated(t)
	assert.Empty(t, plan.Steps)
	table, plan := c.consolidated(t, "--interruption-cost", "365", "--unstated-rate", "10%", "--node-overhead", "0")
	require.Len(t, plan.Steps, 1)
	assert.Equal(t, "small", plan.Steps[0].Launches[0].Options[0].InstanceType)
	assert.Equal(t, offerings.MustPrice("0.041"), plan.Steps[0].SavingPerHour, "0.009 and 0.05 for interruptions, in place of 0.018")
	assert.Equal(t, offerings.MustPrice("0.009"), plan.Summary.PricePerHourBefore)
	assert.Equal(t, offerings.MustPrice("0.018"), plan.Summary.PricePerHourAfter)
	assert.Contains(t, table, "Prices are of all nodes, including the expected cost of interruptions.\n")
}

// Steps tell what a careful person would ask.
func TestRisksAreTold(t *testing.T) {
	volume := ", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"
	claim := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}\nspec: {volumeName: pv, storageClassName: gp3, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound}\n" +
		"---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec: {storageClassName: gp3, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], claimRef: {name: data, namespace: shop}, csi: {driver: ebs.csi.aws.com, volumeHandle: vol}}\n"
	budget := "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n"
	few := map[string]string{"one": "large", "two": "large"}
	for name, tc := range map[string]struct {
		cluster settled
		want    map[disruption.RiskCode]string
		shown   string
	}{
		"the only pod": {
			settled{nodes: few, objects: []string{running("web-1", "one", "web", asks("100m")), running("api-1", "two", "api", asks("1500m"))}},
			map[disruption.RiskCode]string{disruption.RiskSingleReplica: "replicaset/shop/web"},
			"single-replica  single replica without a PodDisruptionBudget: brief downtime",
		},
		"the only pod, and a budget allows it": {
			settled{nodes: few, objects: []string{running("web-1", "one", "web", asks("100m")), running("api-1", "two", "api", asks("1500m")), budget}},
			map[disruption.RiskCode]string{}, "",
		},
		"several at once": {
			settled{nodes: few, objects: []string{running("web-1", "one", "web", asks("100m")), running("web-2", "one", "web", asks("100m")), running("api-1", "two", "api", asks("500m")), running("api-2", "two", "api", asks("500m")), running("api-3", "two", "api", asks("500m"))}},
			map[disruption.RiskCode]string{disruption.RiskReplicas: "replicaset/shop/web"},
			"replicas  several replicas are down at once, without a PodDisruptionBudget",
		},
		"a volume": {
			settled{nodes: few, objects: []string{running("web-1", "one", "web", asks("100m")+volume), running("web-2", "two", "web", asks("1500m")), claim}},
			map[disruption.RiskCode]string{disruption.RiskVolume: "persistentvolumeclaim/shop/data"},
			"volume  volume is detached and reattached",
		},
		"another architecture": {
			settled{archs: "amd64, arm64", nodes: map[string]string{"one": "large"}, objects: []string{running("web-1", "one", "web", asks("500m")), budget}},
			map[disruption.RiskCode]string{disruption.RiskArchitecture: "replicaset/shop/web"},
			"architecture  pods may be rescheduled to another CPU architecture",
		},
		"spot": {
			settled{capacityTypes: "spot, on-demand", nodes: map[string]string{"one": "large"}, objects: []string{running("web-1", "one", "web", asks("500m")), budget}},
			map[disruption.RiskCode]string{disruption.RiskSpot: "replicaset/shop/web"},
			"spot  pods may be rescheduled to spot nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.cluster.archs == "" {
				tc.cluster.archs = "amd64"
			}
			if tc.cluster.capacityTypes == "" {
				tc.cluster.capacityTypes = "on-demand"
			}
			table, plan := tc.cluster.consolidated(t)
			require.NotEmpty(t, plan.Steps)
			got := map[disruption.RiskCode]string{}
			for _, r := range plan.Steps[0].Risks {
				got[r.Code] = r.Object
				assert.NotEmpty(t, r.Detail)
			}
			assert.Equal(t, tc.want, got)
			assert.Contains(t, strings.Join(strings.Fields(table), " "), strings.Join(strings.Fields(tc.shown), " "))
			assert.Equal(t, len(tc.want) > 0, strings.Contains(table, "\nRISKS\n"))
		})
	}
}

// A pod that nobody would make again keeps its node, unless it is asked for.
func TestBarePodsStay(t *testing.T) {
	c := &settled{
		capacityTypes: "on-demand", archs: "amd64", nodes: map[string]string{"one": "large", "two": "large"},
		objects: []string{running("debug", "one", "", asks("100m")), running("api-1", "two", "api", asks("2"))},
	}
	table, plan := c.consolidated(t)
	assert.NotContains(t, drainedBy(plan), "one")
	assert.Equal(t, disruption.CauseUnmanagedPod, plan.Nodes[0].Reasons[0].Code)
	assert.Equal(t, "pod/shop/debug", plan.Nodes[0].Reasons[0].Object)
	require.NotEmpty(t, plan.Summary.Blocked)
	assert.Equal(t, disruption.CauseUnmanagedPod, plan.Summary.Blocked[0].Code)
	assert.Contains(t, table, "unmanaged pod (would not be recreated)")

	table, plan = c.consolidated(t, "--evict-bare-pods")
	assert.Contains(t, drainedBy(plan), "one")
	assert.Contains(t, table, "unmanaged pod: not recreated after eviction")
	assert.Equal(t, disruption.RiskUnmanagedPod, plan.Steps[0].Risks[0].Code)
}

// drainedBy are the nodes that a plan removes.
func drainedBy(plan *disruption.ConsolidationPlan) (out []string) {
	for i := range plan.Steps {
		out = append(out, plan.Steps[i].Drain...)
	}
	return out
}

// What the cluster costs and what it could cost stand first, and then what each cause alone keeps it from saving, with the
// change that lifts it: amounts of tried causes before limits, and 0 where nodes stay for a cause that costs nothing.
func TestWhatIsBlocked(t *testing.T) {
	t.Parallel()
	r := run(t, waste("--effort", "default")...)
	lines := strings.Split(r.stdout, "\n")
	for i, want := range []string{"Prices are of", "", "$/MONTH", "now", "after these steps", "expected after scheduling", "lower bound while blocked nodes stay", "rebuilt from scratch"} {
		assert.Contains(t, lines[i], want)
	}
	_, blocked, _ := strings.Cut(r.stdout, "\nBLOCKED SAVINGS\n")
	for i, row := range []string{
		`[\d.,]+ +1 +do-not-disrupt .* remove the annotation karpenter.sh/do-not-disrupt: true \(pod/shop/month-end-0\)`,
		`[\d.,]+ +2 +pod-budget .* replace spec.minAvailable by maxUnavailable: 1 \(poddisruptionbudget/shop/ledger\)`,
		`[\d.,]+ +1 +policy .* set spec.disruption.consolidationPolicy to WhenEmptyOrUnderutilized \(nodepool/batch\)`,
		`0 to [\d.,]+ +any +search .*`, // limits come after amounts
	} {
		assert.Regexp(t, `^ +`+row+`$`, strings.Split(blocked, "\n")[i+1])
	}
	assert.Contains(t, r.stdout, "0 to N: no full plan was made without this cause")
}
