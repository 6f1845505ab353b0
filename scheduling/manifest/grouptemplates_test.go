package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// gpuNode is a node of an AKS pool whose GPU is cut into slices, with conditions, taints and resources
// besides.
func gpuNode(name, ready, taints, labels, resources string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, kubernetes.io/arch: amd64, kubernetes.io/os: linux, node.kubernetes.io/instance-type: Standard_NC24ads_A100_v4,
  topology.kubernetes.io/region: westeurope, topology.kubernetes.io/zone: westeurope-1, kubernetes.azure.com/agentpool: a100, kubernetes.azure.com/os-sku: AzureLinux%s}}
spec: {taints: [{key: sku, value: gpu, effect: NoSchedule}%s]}
status:
  capacity: {cpu: "24", memory: 210Gi, pods: "110"%s}
  allocatable: {cpu: "23", memory: 200Gi, pods: "110"%[4]s}
  conditions: [{type: Ready, status: "%s"}]
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: %[1]s}
spec: {drivers: [{name: disk.csi.azure.com, nodeID: %[1]s, topologyKeys: [], allocatable: {count: 2}}]}
---`, name, labels, taints, resources, ready)
}

// A group's next node is like its healthy nodes: slices of GPUs, huge pages, labels, taints and the number of volumes;
// and not like a node that has just joined or is broken.
func TestGroupTemplates(t *testing.T) {
	const slices, accelerator = `, nvidia.com/mig-1g.10gb: "7", hugepages-2Mi: 4Gi`, `, accelerator: nvidia`
	pod := func(name, more, requests string) string {
		return fmt.Sprintf("\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, uid: %[1]s}\nspec: {tolerations: [{key: sku, operator: Exists}], %scontainers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {%s}}}]}\n---", name, more, requests)
	}
	volumes := func(n int) string {
		var b, names strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d%d}\nspec: {storageClassName: ssd, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Pending}\n---", i)
			fmt.Fprintf(&names, "{name: d%d, persistentVolumeClaim: {claimName: d%[1]d}}, ", i)
		}
		return b.String() + "\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: ssd}\nprovisioner: disk.csi.azure.com\nvolumeBindingMode: WaitForFirstConsumer\n---" +
			pod("p", "volumes: ["+names.String()+"], ", "memory: 1Gi")
	}
	healthy := gpuNode("a", "True", ", {key: node.kubernetes.io/unschedulable, effect: NoSchedule}", accelerator, slices)
	healthy = strings.Replace(healthy, "spec: {taints", "spec: {unschedulable: true, taints", 1) // new pods need new nodes
	broken := gpuNode("b", "False", ", {key: node.kubernetes.io/not-ready, effect: NoExecute}", "", "")
	odd := strings.Replace(gpuNode("c", "True", ", {key: node.kubernetes.io/unschedulable, effect: NoSchedule}", accelerator, `, nvidia.com/gpu: "1"`), "spec: {taints", "spec: {unschedulable: true, taints", 1)
	for name, tt := range map[string]struct {
		nodes, pods string
		bought      int
	}{
		"slices":              {healthy, pod("p", "", `nvidia.com/mig-1g.10gb: "7"`) + pod("q", "", `nvidia.com/mig-1g.10gb: "1"`), 2},
		"whole GPUs":          {healthy, pod("p", "", `nvidia.com/gpu: "1"`), 0},
		"huge pages":          {healthy, pod("p", "", `hugepages-2Mi: 4Gi`), 1},
		"too many of them":    {healthy, pod("p", "", `hugepages-2Mi: 5Gi`), 0},
		"labels":              {healthy, pod("p", "nodeSelector: {accelerator: nvidia}, ", "memory: 1Gi"), 1},
		"labels of a cloud":   {healthy, pod("p", "nodeSelector: {kubernetes.azure.com/os-sku: AzureLinux}, ", "memory: 1Gi"), 1},
		"taints":              {healthy, strings.Replace(pod("p", "", "memory: 1Gi"), "key: sku", "key: other", 1), 0},
		"beside a broken one": {broken + healthy, pod("p", "nodeSelector: {accelerator: nvidia}, ", `nvidia.com/mig-1g.10gb: "7"`), 1},
		"what most are":       {odd + healthy + strings.ReplaceAll(healthy, "name: a", "name: z"), pod("p", "", `nvidia.com/mig-1g.10gb: "7"`), 1},
		"two volumes":         {healthy, volumes(2), 1},
		"three volumes":       {healthy, volumes(3), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, tt.nodes+tt.pods)
			require.True(t, s.AssumeNodePools())
			require.NoError(t, s.SetCatalog(azure.MustCatalog("westeurope")))
			plan, err := provisioning.Planner{}.Plan(t.Context(), s.Problem)
			require.NoError(t, err)
			require.Len(t, plan.Launches, tt.bought)
			require.Equal(t, tt.bought == 0, len(plan.Unschedulable) > 0)
			for _, l := range plan.Launches {
				require.Equal(t, "Standard_NC24ads_A100_v4", l.Options[0].InstanceType)
				require.Equal(t, []corev1.Taint{{Key: "sku", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}, l.Taints)
			}
		})
	}
}
