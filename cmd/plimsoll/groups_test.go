package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// groupNode is a node of a type with a number of cores and GiB, whose cloud has put labels
// and taints on it, both in YAML's flow style.
func groupNode(name, instanceType, zone string, cores, gib int, labels, taints string) string {
	region := strings.TrimRight(zone, "abcdef")
	if i := strings.LastIndexByte(zone, '-'); strings.HasSuffix(region, "-") || i == len(zone)-2 && strings.Count(zone, "-") != 2 {
		region = zone[:i]
	}
	return fmt.Sprintf(`---
apiVersion: v1
kind: Node
metadata:
  name: %s
  creationTimestamp: "2026-10-01T00:00:00Z"
  labels: {kubernetes.io/hostname: %[1]s, kubernetes.io/arch: amd64, kubernetes.io/os: linux, node.kubernetes.io/instance-type: %s,
    topology.kubernetes.io/zone: %s, topology.kubernetes.io/region: %s, %s}
spec: {taints: [%s]}
status:
  capacity: {cpu: %d, memory: %dGi, pods: 58}
  allocatable: {cpu: %d, memory: %dMi, pods: 58}
  conditions: [{type: Ready, status: "True"}]
`, name, instanceType, zone, region, labels, taints, cores, gib, cores, gib*950)
}

// groupPod is a pod of a ReplicaSet, on a node or waiting, with further fields of its spec.
func groupPod(name, node, cpu, memory, more string) string {
	app, _, _ := strings.Cut(name, "-")
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, uid: %[1]s, labels: {app: %s}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %[2]s, uid: %[2]s, controller: true}]}
spec: {%s%s containers: [{name: c, resources: {requests: {cpu: %s, memory: %s}}}]}
status: {phase: %s}
`, name, app, map[bool]string{true: "nodeName: " + node + ", "}[node != ""], more, cpu, memory, map[bool]string{true: "Running", false: "Pending"}[node != ""])
}

// eksCluster has two managed node groups in eu-west-1, and room to spare.
func eksCluster() string {
	var b strings.Builder
	for i := range 6 {
		node := fmt.Sprintf("ip-10-0-0-%d", i)
		b.WriteString(groupNode(node, "m5.2xlarge", "eu-west-1"+"abc"[i%3:i%3+1], 8, 32, "eks.amazonaws.com/nodegroup: workers, eks.amazonaws.com/capacityType: ON_DEMAND, team: web", ""))
		b.WriteString(groupPod(fmt.Sprint("web-", i), node, "2", "4Gi", "nodeSelector: {team: web},"))
	}
	for i := range 3 {
		node := fmt.Sprintf("ip-10-0-1-%d", i)
		b.WriteString(groupNode(node, "m5.xlarge", "eu-west-1"+"abc"[i:i+1], 4, 16, "eks.amazonaws.com/nodegroup: batch, eks.amazonaws.com/capacityType: SPOT", "{key: spot, value: 'true', effect: NoSchedule}"))
		b.WriteString(groupPod(fmt.Sprint("job-", i), node, "1", "2Gi", "nodeSelector: {eks.amazonaws.com/capacityType: SPOT}, tolerations: [{key: spot, operator: Exists}],"))
	}
	return b.String()
}

// aksCluster has a system pool, a user pool and a spot pool in eastus.
func aksCluster() string {
	var b strings.Builder
	pool := func(name string) string { return "agentpool: " + name + ", kubernetes.azure.com/agentpool: " + name }
	for i := range 3 {
		b.WriteString(groupNode(fmt.Sprint("aks-system-", i), "Standard_D4s_v5", fmt.Sprint("eastus-", i+1), 4, 16, pool("system"), "{key: CriticalAddonsOnly, value: 'true', effect: NoSchedule}"))
		b.WriteString(groupPod(fmt.Sprint("dns-", i), fmt.Sprint("aks-system-", i), "100m", "200Mi", "tolerations: [{key: CriticalAddonsOnly, operator: Exists}],"))
		b.WriteString(groupNode(fmt.Sprint("aks-user-", i), "Standard_D8s_v5", fmt.Sprint("eastus-", i+1), 8, 32, pool("user"), ""))
		b.WriteString(groupPod(fmt.Sprint("web-", i), fmt.Sprint("aks-user-", i), "1500m", "4Gi", ""))
	}
	const spot = "kubernetes.azure.com/scalesetpriority"
	for i := range 2 {
		b.WriteString(groupNode(fmt.Sprint("aks-spot-", i), "Standard_E8s_v5", "eastus-1", 8, 64, pool("spot")+", "+spot+": spot", "{key: "+spot+", value: spot, effect: NoSchedule}"))
		b.WriteString(groupPod(fmt.Sprint("job-", i), fmt.Sprint("aks-spot-", i), "2", "8Gi", "nodeSelector: {"+spot+": spot}, tolerations: [{key: "+spot+", operator: Exists}],"))
	}
	return b.String()
}

// kopsCluster has a control plane, an instance group of two types and a node that no label
// names a group of.
func kopsCluster() string {
	var b strings.Builder
	for i := range 3 {
		b.WriteString(groupNode(fmt.Sprint("i-master-", i), "t3.large", "us-east-1"+"abd"[i:i+1], 2, 8, "kops.k8s.io/instancegroup: masters, node-role.kubernetes.io/control-plane: ''", "{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}"))
	}
	for i := range 4 {
		node := fmt.Sprint("i-node-", i)
		b.WriteString(groupNode(node, []string{"m4.2xlarge", "m5.2xlarge"}[i/2], "us-east-1"+"ac"[i%2:i%2+1], 8, 32, "kops.k8s.io/instancegroup: nodes, node-role.kubernetes.io/node: ''", ""))
		b.WriteString(groupPod(fmt.Sprint("web-", i), node, "1500m", "4Gi", "nodeSelector: {kops.k8s.io/instancegroup: nodes},"))
	}
	b.WriteString(groupNode("i-lone-0", "c5.xlarge", "us-east-1a", 4, 8, "team: ops", ""))
	b.WriteString(groupPod("cron-0", "i-lone-0", "500m", "1Gi", ""))
	return b.String()
}

// gkeCluster has two node pools in europe-west1.
func gkeCluster() string {
	var b strings.Builder
	for i := range 3 {
		node := fmt.Sprint("gke-default-", i)
		b.WriteString(groupNode(node, "e2-standard-8", "europe-west1-b", 8, 32, "cloud.google.com/gke-nodepool: default-pool, cloud.google.com/gke-provisioning: standard", ""))
		b.WriteString(groupPod(fmt.Sprint("web-", i), node, "1500m", "4Gi", ""))
	}
	b.WriteString(groupNode("gke-spot-0", "e2-standard-4", "europe-west1-b", 4, 16, "cloud.google.com/gke-nodepool: spot, cloud.google.com/gke-spot: 'true', cloud.google.com/gke-provisioning: spot", ""))
	return b.String()
}

// gkeClassCluster has a node of a ComputeClass besides.
func gkeClassCluster() string {
	const class = "cloud.google.com/compute-class"
	return gkeCluster() + "---\napiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: cheap}\nspec: {priorities: [{machineFamily: n2d}]}\n" +
		groupNode("gke-nap-0", "n2d-standard-4", "europe-west1-b", 4, 16, "cloud.google.com/gke-nodepool: nap-1, cloud.google.com/machine-family: n2d, "+class+": cheap", "{key: "+class+", value: cheap, effect: NoSchedule}") +
		groupPod("cheap-0", "gke-nap-0", "1", "2Gi", "nodeSelector: {"+class+": cheap}, tolerations: [{key: "+class+", operator: Exists}],")
}

// The types of Google that the cluster runs; other clouds' are embedded.
const gkeCatalog = `name,cpu,memory,pods,zone,capacityType,price
e2-standard-4,4,16Gi,58,europe-west1-b,on-demand,0.147
e2-standard-4,4,16Gi,58,europe-west1-b,spot,0.044
e2-standard-8,8,32Gi,58,europe-west1-b,on-demand,0.295
e2-standard-8,8,32Gi,58,europe-west1-b,spot,0.088
`

// Clusters of managed and self-managed groups have a bill, a price to compare with and steps;
// nothing is drained for a reason but what it costs.
func TestNodeGroups(t *testing.T) {
	for name, tt := range map[string]struct {
		cluster, catalog string
		says             []string
		pools            map[string]string // by the beginning of the nodes' names
	}{
		"eks": {eksCluster(), "", []string{
			"Prices: ec2/eu-west-1,",
			"  workers      6      m5.2xlarge ×6  on-demand  2.6112  1,906    25%      13%\n",
			"  total (now)  9                                2.9141  2,127\n",
			"  batch        3      m5.xlarge ×3   spot       0.3",
			"batch (eks.amazonaws.com/nodegroup), workers (eks.amazonaws.com/nodegroup); which of its types a group launches is up to its autoscaler",
			"node groups: the minimum and maximum sizes of batch, workers are unknown: a minimum of one node",
			": node group workers: minimum size is one node (assumed; state the real minimum with --group-size workers=MIN:MAX)\n",
		}, map[string]string{"ip-10-0-0": "workers", "ip-10-0-1": "batch"}},
		"aks": {aksCluster(), "", []string{
			"Prices: azure/eastus,",
			"  user         3      Standard_D8s_v5 ×3  on-demand  1.1736  857 ",
			"  system       3      Standard_D4s_v5 ×3  on-demand  0.5976  436 ",
			"  spot         2      Standard_E8s_v5 ×2  spot       0.2027  148 ",
		}, map[string]string{"aks-user": "user", "aks-system": "system", "aks-spot": "spot"}},
		"kops": {kopsCluster(), "", []string{
			"Prices are of the nodes of node groups (3 others are not counted), ",
			"  nodes                       4      m4.2xlarge ×2, m5.2xlarge ×2  on-demand  1.5968  1,166 ",
			"  not counted: control plane  3      t3.large ×3                   on-demand  0.2712  198      0%       0%\n",
			"  self-managed-c5.xlarge      1      c5.xlarge                     on-demand  0.1772  129 ",
			"no label says how the nodes of nodes, self-managed-c5.xlarge are paid for: on demand is assumed",
		}, map[string]string{"i-master": "", "i-node": "nodes", "i-lone": "self-managed-c5.xlarge"}},
		"gke": {gkeCluster(), temp(t, "gke.csv", gkeCatalog), []string{
			"  default-pool  3      e2-standard-8 ×3  on-demand  0.9066  662 ",
			"  spot          1      e2-standard-4     spot       0.0512  37.37    0%       0%\n",
		}, map[string]string{"gke-default": "default-pool", "gke-spot": "spot"}},
		"gke with a ComputeClass": {gkeClassCluster(), "", []string{
			"Prices are of all nodes", "  total (now)   5  ", "  cheap-1       1      n2d-standard-4 ",
			"each node group that belongs to no ComputeClass counts as one", ": node group default-pool: minimum size is one node (assumed; state the real minimum with --group-size default-pool=MIN:MAX)\n",
		}, map[string]string{"gke-default": "default-pool", "gke-spot": "spot", "gke-nap": "cheap-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := temp(t, "cluster.yaml", tt.cluster)
			args := []string{"-f", file, "--now", "2026-11-21T09:00:00Z", "--effort", "fast"}
			if tt.catalog != "" {
				args = append(args, "--catalog", tt.catalog)
			}
			table := run(t, append([]string{"consolidate", "--details"}, args...)...)
			require.Equal(t, exitOK, table.code, table.stderr)
			for _, want := range append(tt.says, " in the input, so each node group ") {
				require.Contains(t, table.stdout, want)
			}
			r := run(t, append([]string{"consolidate", "-o", "json"}, args...)...)
			plan := moveset(t, r.stdout)
			require.NotEmpty(t, plan.Steps)
			require.Less(t, plan.Summary.PricePerHourAfter, plan.Summary.PricePerHourBefore/2)
			require.Zero(t, plan.Summary.UnpricedNodes)
			for _, s := range plan.Steps {
				require.Contains(t, []disruption.Reason{disruption.Empty, disruption.Underutilized}, s.Reason)
			}
			for _, v := range plan.Nodes {
				pool := tt.pools[v.Node[:strings.LastIndexByte(v.Node, '-')]]
				require.Equal(t, pool, v.NodePool, v.Node)
				require.False(t, pool == "" && v.Decision == disruption.Drain, "the control plane stays")
			}
			require.NotNil(t, plan.Summary.Alternative)
			for title, rebuilt := range map[string]*disruption.Rebuilt{"OF THE GROUPS' OWN TYPES": plan.Summary.Rebuilt, "OF ANY CURRENT TYPE": plan.Summary.Alternative} {
				require.Regexp(t, `REBUILT FROM SCRATCH, `+title+`\n  NODES  EXISTING  INSTANCE TYPE +CAPACITY +ZONES +NODE GROUP +\$/HOUR +\$/MONTH\n`, table.stdout)
				for _, kind := range rebuilt.Composition {
					require.Regexp(t, fmt.Sprintf(`\n  \d+ +\d+ +%s +%s +.*%s.* +%s +[0-9.,]+ +[0-9.,]+\n`, kind.InstanceType, kind.CapacityType, kind.Zone, kind.NodePool), table.stdout)
				}
			}
			require.Regexp(t, `rebuilt from scratch, of the groups' own types +[0-9,.]+ +[0-9.]+ +\d`, table.stdout)
			require.Regexp(t, fmt.Sprintf(`rebuilt from scratch, of any current type +[0-9,.]+ +%.4f +\d`, plan.Summary.Alternative.ExpectedPerHour.USD()), table.stdout)
			require.Equal(t, exitOK, run(t, append([]string{"verify", "--plan", temp(t, "moves.json", r.stdout)}, args...)...).code)
		})
	}
}

// Nobody's prices are taken for those of a cloud without an embedded catalog.
func TestNodeGroupsWithoutCatalog(t *testing.T) {
	r := run(t, "consolidate", "-f", temp(t, "cluster.yaml", strings.ReplaceAll(gkeCluster(), "europe-west1", "europe-west0")))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, "europe-west0")
	require.Contains(t, r.stderr, "--catalog FILE")
}

// Pods that wait are bought machines of the group that they ask for, of its types.
func TestNodeGroupsBuy(t *testing.T) {
	waiting := groupPod("more-0", "", "7", "4Gi", "nodeSelector: {eks.amazonaws.com/nodegroup: workers},") +
		groupPod("wide-0", "", "3", "4Gi", "nodeSelector: {eks.amazonaws.com/nodegroup: batch}, tolerations: [{key: spot, operator: Exists}],") +
		groupPod("odd-0", "", "1", "1Gi", "nodeSelector: {team: search},")
	r := run(t, "plan", "-f", temp(t, "cluster.yaml", eksCluster()+waiting+groupPod("wide-1", "", "3", "4Gi", "nodeSelector: {eks.amazonaws.com/nodegroup: batch}, tolerations: [{key: spot, operator: Exists}],")),
		"--catalog", "ec2/eu-west-1", "-o", "json")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	types := map[string]string{"workers": "m5.2xlarge on-demand", "batch": "m5.xlarge spot"}
	require.NotEmpty(t, plan.Launches)
	for _, l := range plan.Launches {
		for _, o := range l.Options {
			require.Equal(t, types[l.NodePool], o.InstanceType+" "+string(o.CapacityType))
		}
	}
	require.Len(t, plan.Unschedulable, 1)
	require.Equal(t, "shop/odd-0", plan.Unschedulable[0].Pod)
}

// Nodes of no cloud say nothing of what can be bought.
func TestNodesOfNoCloud(t *testing.T) {
	k3s := groupNode("default-0", "k3s", "us-east-1a", 4, 8, "agentpool: default", "")
	r := run(t, "plan", "-f", temp(t, "k3s.yaml", k3s+groupPod("big-0", "", "6", "4Gi", "")), "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	require.Len(t, plan.Launches, 1)
	require.Equal(t, "assumed-default", plan.Launches[0].NodePool)
}

// Where Karpenter runs, groups beside it are in the bill and in no step.
func TestNodeGroupsBesideNodePools(t *testing.T) {
	const pool = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}\n"
	r := run(t, "consolidate", "-f", temp(t, "cluster.yaml", pool+eksCluster()), "--catalog", "ec2/eu-west-1", "--now", "2026-11-21T09:00:00Z", "--effort", "fast", "--details")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "  not counted: workers (no NodePool)  6      m5.2xlarge ×6  on-demand  2.6112  1,906 ")
	require.Contains(t, r.stdout, "  not counted: batch (no NodePool)    3      m5.xlarge ×3   spot       0.3")
	require.NotContains(t, r.stdout, "STEPS")
}

// What is assumed without any NodePool buys hardware that is sold today.
func TestDefaultPoolBuysCurrentHardware(t *testing.T) {
	const pods = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 300m, memory: 400Mi}}}]}}}\n"
	const gpu = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: train}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1, memory: 4Gi}, limits: {nvidia.com/gpu: 1}}}]}\n"
	for name, c := range map[string]struct {
		catalog *instancetypes.Catalog
		fine    func(labels map[string]string) bool
	}{
		"ec2/us-east-1": {ec2.MustCatalog("us-east-1"), func(l map[string]string) bool {
			return slices.Contains([]string{"c", "m", "r"}, l["karpenter.k8s.aws/instance-category"]) && !slices.Contains([]string{"1", "2"}, l["karpenter.k8s.aws/instance-generation"])
		}},
		"azure/eastus": {azure.MustCatalog("eastus"), func(l map[string]string) bool {
			return slices.Contains([]string{"D", "E", "F"}, l["karpenter.azure.com/sku-family"]) && !slices.Contains([]string{"1", "2"}, l["karpenter.azure.com/sku-version"])
		}},
		"gcp/us-central1": {gcp.MustCatalog("us-central1"), func(l map[string]string) bool {
			return slices.Contains([]string{"c3", "c3d", "c4", "c4d", "e2", "n2", "n2d", "n4", "n4d", "t2d"}, l["cloud.google.com/machine-family"])
		}},
	} {
		r := run(t, "plan", "-f", temp(t, "pods.yaml", pods+gpu), "--catalog", name, "-o", "json", "--effort", "fast")
		require.Equal(t, exitOK, r.code, r.stderr)
		bought := map[string]bool{}
		for _, l := range decodePlan(t, r.stdout).Launches {
			bought[l.NodePool] = true
			for _, o := range l.Options {
				it, ok := c.catalog.Get(o.InstanceType)
				require.True(t, ok)
				gpus := it.Capacity["nvidia.com/gpu"]
				require.True(t, c.fine(it.Labels) || l.NodePool == "devices" && !gpus.IsZero(), "%s of %s", o.InstanceType, l.NodePool)
			}
		}
		require.True(t, bought["devices"])
		r = run(t, "plan", "-f", temp(t, "pods.yaml", pods), "--catalog", name)
		require.NotContains(t, r.stdout, "NodePool/devices", "nobody asks for devices")
	}
}

// A pool that nothing on sale meets is no error: its pods have no place, and the warning says
// what stands in the way.
func TestPoolThatNothingMeets(t *testing.T) {
	const west = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: west}
spec: {template: {metadata: {labels: {team: web}}, spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {nodeSelector: {team: web}, containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}
`
	r := run(t, "plan", "-f", temp(t, "west.yaml", west), "--catalog", "ec2/us-east-1", "-o", "json")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	require.Len(t, plan.Unschedulable, 1)
	const why = "cannot launch nodes: none of the 1335 instance types of the catalog meets all of its requirements: topology.kubernetes.io/zone In [us-west-2a] alone rules out 1335, " +
		"and the catalog's zones are us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f"
	require.Equal(t, "NodePool west "+why, plan.Unschedulable[0].Reasons[0].Detail)
	require.Contains(t, plan.Warnings, scheduling.Warning{Object: "NodePool/west", Message: why})
}

// A node group keeps its minimum size, which is one node where nothing is stated, and buys no more nodes
// than its maximum; a dump of Karpenter's nodes without NodePools has no such sizes.
func TestNodeGroupSizes(t *testing.T) {
	aks := strings.ReplaceAll(aksCluster(), "agentpool: system,", "agentpool: system, kubernetes.azure.com/mode: system,")
	karpenters := strings.ReplaceAll(eksCluster(), "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool")
	left := func(cluster string, args ...string) map[string]int {
		args = append([]string{"-f", temp(t, "cluster.yaml", cluster), "--now", "2026-11-21T09:00:00Z", "--effort", "fast"}, args...)
		r := run(t, append([]string{"consolidate", "-o", "json"}, args...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Equal(t, exitOK, run(t, append([]string{"verify", "--plan", temp(t, "moves.json", r.stdout)}, args...)...).code)
		stay := map[string]int{}
		for _, v := range moveset(t, r.stdout).Nodes {
			if v.Decision == disruption.Keep {
				stay[v.NodePool]++
			}
		}
		return stay
	}
	empty := aks + strings.ReplaceAll(groupNode("aks-spare-0", "Standard_D8s_v5", "eastus-1", 8, 32, "agentpool: spare, kubernetes.azure.com/agentpool: spare", ""), "\r", "")
	require.Equal(t, map[string]int{"system": 1, "user": 1, "spot": 1, "spare": 1}, left(empty))
	require.Equal(t, map[string]int{"system": 1, "user": 3, "spot": 1}, left(empty, "--group-size", "spare=0:3", "--group-size", "user=3:5"))
	require.Equal(t, map[string]int{"workers": 2, "batch": 1}, left(karpenters))

	held := map[string]int{}
	plan := moveset(t, run(t, "consolidate", "-o", "json", "-f", temp(t, "cluster.yaml", empty), "--now", "2026-11-21T09:00:00Z").stdout)
	for _, v := range plan.Nodes {
		if len(v.Reasons) > 0 && v.Reasons[0].Code == disruption.CauseMinNodes {
			held[v.NodePool]++
		}
	}
	stated := run(t, "consolidate", "--details", "-f", temp(t, "cluster.yaml", empty), "--now", "2026-11-21T09:00:00Z", "--group-size", "spare=1:3").stdout
	require.Contains(t, stated, ": node group spare: minimum size is one node\n")
	require.Equal(t, 1, held["system"])
	i := slices.IndexFunc(plan.Summary.Blocked, func(b disruption.Blocked) bool { return b.Code == disruption.CauseMinNodes })
	require.GreaterOrEqual(t, i, 0)
	require.True(t, plan.Summary.Blocked[i].Tried)
	require.Equal(t, held["user"]+held["spot"]+held["spare"], plan.Summary.Blocked[i].Nodes, "AKS keeps the system node, whatever is stated")

	more := eksCluster() + groupPod("more-0", "", "7", "4Gi", "nodeSelector: {eks.amazonaws.com/nodegroup: workers},") + groupPod("more-1", "", "7", "4Gi", "nodeSelector: {eks.amazonaws.com/nodegroup: workers},")
	r := run(t, "plan", "-f", temp(t, "cluster.yaml", more), "-o", "json", "--group-size", "workers=1:7")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	require.Len(t, decodePlan(t, r.stdout).Launches, 1)

	for flag, want := range map[string]string{
		"user=1":     "want NAME=MIN:MAX, such as workers=2:10",
		"user=3:2":   "the minimum 3 is above the maximum 2",
		"user=-1:2":  `"-1" is not a number of nodes`,
		"system=0:2": "error: --group-size system=0:2: AKS keeps at least one node of a system node pool\n",
		"users=1:2":  "error: --group-size users: no node group users; the input has spot, system, user\n",
	} {
		r := run(t, "consolidate", "-f", temp(t, "cluster.yaml", aks), "--group-size", flag)
		require.NotEqual(t, exitOK, r.code)
		require.Contains(t, r.stderr, want)
	}
}

// In place of a smaller request a node group may have a larger instance type, which explain says once.
func TestExplainNamesALargerTypeOnce(t *testing.T) {
	t.Parallel()
	r := run(t, "explain", "pod/shop/huge-0", "-f", temp(t, "cluster.yaml", eksCluster()+groupPod("huge-0", "", "40", "4Gi", "nodeSelector: {team: web},")))
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, 1, strings.Count(r.stdout, "or add a larger instance type to a node group"), r.stdout)
}
