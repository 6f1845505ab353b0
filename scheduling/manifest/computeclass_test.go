package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

const computeClasses = `
apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: batch}
spec:
  priorities:
    - {machineFamily: n2d, spot: true, minCores: 16, minMemoryGb: 64, location: {zones: [us-central1-a]}}
    - {machineType: n2-standard-16, storage: {bootDiskSize: 100}}
    - {nodepools: [old]}
    - {gpu: {type: nvidia-l4, count: 1}}
  nodePoolAutoCreation: {enabled: true}
  nodePoolConfig: {nodeLabels: {team: data}, taints: [{key: own, effect: NoSchedule}]}
  autoscalingPolicy: {consolidationDelayMinutes: 5, consolidationThreshold: 70}
  whenUnsatisfiable: ScaleUpAnyway
---
apiVersion: v1
kind: Pod
metadata: {name: job}
spec: {nodeSelector: {cloud.google.com/compute-class: batch}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {nodeSelector: {cloud.google.com/compute-class: other}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: spot, labels: {cloud.google.com/compute-class: batch, cloud.google.com/machine-family: n2d, cloud.google.com/gke-spot: "true", cloud.google.com/gke-nodepool: nap, node.kubernetes.io/instance-type: n2d-standard-16, topology.kubernetes.io/zone: us-central1-a}}
status: {capacity: {cpu: 16, memory: 64Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: small, labels: {cloud.google.com/compute-class: batch, cloud.google.com/machine-family: n2d, cloud.google.com/gke-spot: "true", cloud.google.com/gke-nodepool: nap, node.kubernetes.io/instance-type: n2d-standard-8, topology.kubernetes.io/zone: us-central1-a}}
status: {capacity: {cpu: 8, memory: 32Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: own, labels: {cloud.google.com/gke-nodepool: own, node.kubernetes.io/instance-type: n2d-standard-8}}
status: {capacity: {cpu: 8, memory: 32Gi, pods: 110}}
`

func TestComputeClass(t *testing.T) {
	s, err := manifest.Loader{}.Read("gke.yaml", strings.NewReader(computeClasses))
	require.NoError(t, err)
	in := func(key string, values ...string) requirements.Selector {
		return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
	}
	above := func(key, value string) requirements.Selector {
		return requirements.Selector{Key: key, Operator: requirements.Gt, Values: []string{value}}
	}
	want := map[string][]requirements.Selector{
		"batch-1": {in("karpenter.sh/capacity-type", "spot"), in("cloud.google.com/machine-family", "n2d"), in("topology.kubernetes.io/zone", "us-central1-a"),
			above("karpenter.k8s.gcp/instance-cpu", "15"), above("karpenter.k8s.gcp/instance-memory", "65535")},
		"batch-2": {in("karpenter.sh/capacity-type", "on-demand"), in("node.kubernetes.io/instance-type", "n2-standard-16")},
		"batch-4": {in("karpenter.sh/capacity-type", "on-demand"), in("cloud.google.com/gke-accelerator", "nvidia-l4"), in("karpenter.k8s.gcp/instance-gpu-count", "1")},
		"batch-5": {in("karpenter.sh/capacity-type", "on-demand"), in("cloud.google.com/machine-family", "e2")},
	}
	require.Len(t, s.Problem.NodePools, len(want))
	weight := int32(101)
	for _, p := range s.Problem.NodePools {
		assert.Equal(t, want[p.Name], p.Spec.Template.Spec.Requirements, p.Name)
		assert.Less(t, p.Weight(), weight)
		weight = p.Weight()
		assert.Equal(t, map[string]string{"cloud.google.com/compute-class": "batch", "team": "data"}, p.Spec.Template.Metadata.Labels)
		assert.Equal(t, []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}, {Key: "cloud.google.com/compute-class", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}, p.Spec.Template.Spec.Taints)
	}
	for pool, field := range map[string]string{"batch-1": "spec.priorities[0]", "batch-4": "spec.priorities[3]", "batch-5": "spec.whenUnsatisfiable"} {
		part := s.ComputeClasses[pool]
		assert.Equal(t, []string{"batch", field}, []string{part.Class, part.Field}, pool)
		for _, r := range want[pool] {
			if field == "spec.whenUnsatisfiable" {
				assert.Empty(t, part.Fields, "GKE sets its machines")
				continue
			}
			assert.NotEmpty(t, part.Fields[r.Key], r.Key)
		}
	}
	require.Contains(t, s.Warnings, scheduling.Warning{Object: "ComputeClass/batch", Message: "was read as NodePools batch-1, batch-2, batch-4, batch-5", Note: true})
	require.Contains(t, s.Warnings, scheduling.Warning{Object: "ComputeClass/batch", Message: "spec.priorities[2].nodepools names nodes that are not in the input, and was left out; spec.priorities[1].storage is not read"})

	tolerated := map[string]int{}
	for _, pod := range s.Problem.Pods {
		tolerated[pod.Name] = len(pod.Spec.Tolerations)
	}
	assert.Equal(t, map[string]int{"job": 1, "web": 0}, tolerated, "GKE adds the toleration of a class")
	pools := map[string]string{}
	for _, n := range s.Problem.Nodes {
		pools[n.Name] = n.Labels[scheduling.NodePoolLabel]
	}
	assert.Equal(t, map[string]string{"spot": "batch-1", "small": "", "own": ""}, pools)
	require.NoError(t, s.SetCatalog(gcp.MustCatalog("us-central1")))

	// Nodes that belong to no class are groups beside them, without Karpenter.
	require.True(t, s.AssumeNodePools())
	require.False(t, s.AssumeNodePools())
	require.Len(t, s.Problem.NodePools, len(want)+2)
	for _, n := range s.Problem.Nodes {
		pools[n.Name] = n.Labels[scheduling.NodePoolLabel]
	}
	assert.Equal(t, map[string]string{"spot": "batch-1", "small": "nap", "own": "own"}, pools)
	assert.Equal(t, map[string]manifest.NodeGroup{"nap": {Label: "cloud.google.com/gke-nodepool", Name: "nap"}, "own": {Label: "cloud.google.com/gke-nodepool", Name: "own"}}, s.NodeGroups)
	require.NoError(t, s.SetCatalog(gcp.MustCatalog("us-central1")))
}

// Where Karpenter runs, nodes that belong to no class get no NodePool.
func TestComputeClassBesideKarpenter(t *testing.T) {
	s, err := manifest.Loader{}.Read("gke.yaml", strings.NewReader(computeClasses+"---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {requirements: []}}}\n"))
	require.NoError(t, err)
	require.False(t, s.AssumeNodePools())
	require.Len(t, s.Problem.NodePools, 5)
}

func TestGCENodeClass(t *testing.T) {
	s, err := manifest.Loader{}.Read("gke.yaml", strings.NewReader(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.gcp, kind: GCENodeClass, name: default}, requirements: [{key: karpenter.k8s.gcp/instance-family, operator: In, values: [n2]}]}}}
---
apiVersion: karpenter.k8s.gcp/v1alpha1
kind: GCENodeClass
metadata: {name: default}
spec:
  imageSelectorTerms: [{family: ContainerOptimizedOS, channel: cluster}]
  labels: {env: dev}
  networkTags: [a]
  autoGPUTaint: true
  kubeletConfiguration: {maxPods: 50, clusterDNS: [10.0.0.10]}
  disks: [{category: pd-balanced, sizeGiB: 60, boot: true}]
`))
	require.NoError(t, err)
	require.Equal(t, []scheduling.Warning{{Object: "GCENodeClass/default", Message: "spec.autoGPUTaint bears on what is launched, and is not read"}}, s.Warnings)
	require.NoError(t, s.SetCatalog(gcp.MustCatalog("us-central1")))
	it, ok := s.Problem.PoolCatalogs["general"].Get("n2-standard-4")
	require.True(t, ok)
	pods, disk := it.Capacity[corev1.ResourcePods], it.Capacity[corev1.ResourceEphemeralStorage]
	assert.Equal(t, "50", pods.String())
	assert.Equal(t, "60Gi", disk.String())

	_, err = manifest.Loader{}.Read("gke.yaml", strings.NewReader("apiVersion: karpenter.k8s.gcp/v1alpha1\nkind: GCENodeClass\nmetadata: {name: default}\nspec: {disks: [{boot: true, sizeGiB: 5}]}\n"))
	require.ErrorContains(t, err, `spec.disks[0].sizeGiB: "5" is less than 10`)
}
