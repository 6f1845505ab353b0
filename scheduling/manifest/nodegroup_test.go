package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Labels name the group of a node and how it is paid for.
func TestNodeGroupOf(t *testing.T) {
	for labels, want := range map[string]struct {
		pool         string
		capacityType offerings.CapacityType
	}{
		"eks.amazonaws.com/nodegroup: a, eks.amazonaws.com/capacityType: SPOT":           {"a", offerings.Spot},
		"eks.amazonaws.com/nodegroup: a, eks.amazonaws.com/capacityType: CAPACITY_BLOCK": {"a", offerings.Reserved},
		"alpha.eksctl.io/nodegroup-name: b, node-lifecycle: spot":                        {"b", offerings.Spot},
		"cloud.google.com/gke-nodepool: c, cloud.google.com/gke-preemptible: 'true'":     {"c", offerings.Spot},
		"cloud.google.com/gke-nodepool: c, cloud.google.com/gke-provisioning: standard":  {"c", offerings.OnDemand},
		"agentpool: d, kubernetes.azure.com/scalesetpriority: spot":                      {"d", offerings.Spot},
		"kops.k8s.io/instancegroup: e, node-role.kubernetes.io/spot-worker: ''":          {"e", offerings.Spot},
		"karpenter.sh/nodepool: f, karpenter.sh/capacity-type: spot, agentpool: d":       {"f", offerings.Spot},
		"team: a": {"self-managed-m5.large", offerings.OnDemand},
		"node-role.kubernetes.io/master: '', kops.k8s.io/instancegroup: masters": {"", ""},
	} {
		s := read(t, "apiVersion: v1\nkind: Node\nmetadata: {name: node, labels: {node.kubernetes.io/instance-type: m5.large, "+labels+"}}\n")
		if !s.AssumeNodePools() {
			require.Empty(t, want.pool, labels)
			continue
		}
		require.Equal(t, want.pool, s.Problem.NodePools[0].Name, labels)
		require.Equal(t, want.pool, s.Problem.Nodes[0].Labels["karpenter.sh/nodepool"], labels)
		require.Equal(t, string(want.capacityType), s.Problem.Nodes[0].Labels["karpenter.sh/capacity-type"], labels)
	}
}

// A group keeps the lasting properties that all its nodes have, and groups of the same name get two names.
func TestAssumeNodePools(t *testing.T) {
	const nodes = `
apiVersion: v1
kind: Node
metadata: {name: a, labels: {eks.amazonaws.com/nodegroup: web, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: z1, kubernetes.io/hostname: a, team: web, shard: "1"}}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}, {key: dedicated, value: web, effect: NoSchedule}, {key: mine, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: b, annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: "true"},
  labels: {eks.amazonaws.com/nodegroup: web, beta.kubernetes.io/instance-type: m5.xlarge, topology.kubernetes.io/zone: z2, kubernetes.io/hostname: b, team: web, shard: "2"}}
spec: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}, {key: dedicated, value: web, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: c, labels: {kops.k8s.io/instancegroup: web, node.kubernetes.io/instance-type: c5.large, kubernetes.io/hostname: c}}
---
apiVersion: v1
kind: Node
metadata: {name: d, labels: {eks.amazonaws.com/compute-type: fargate}}
`
	s := read(t, nodes)
	require.True(t, s.AssumeNodePools())
	require.False(t, s.AssumeNodePools(), "there are NodePools now")
	require.Len(t, s.Problem.NodePools, 2)
	web := s.Problem.NodePools[0].Spec.Template
	require.Equal(t, map[string]string{"eks.amazonaws.com/nodegroup": "web", "team": "web"}, web.Metadata.Labels)
	require.Equal(t, []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}}, web.Spec.Taints)
	require.Equal(t, []requirements.Selector{
		{Key: "node.kubernetes.io/instance-type", Operator: requirements.In, Values: []string{"m5.large", "m5.xlarge"}},
		{Key: "topology.kubernetes.io/zone", Operator: requirements.In, Values: []string{"z1", "z2"}},
		{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"on-demand"}},
	}, web.Spec.Requirements)
	require.Equal(t, "web-2", s.Problem.NodePools[1].Name)
	require.Empty(t, s.Problem.Nodes[0].Annotations)
	require.Equal(t, "true", s.Problem.Nodes[1].Annotations["karpenter.sh/do-not-disrupt"])
	require.NotContains(t, s.Problem.Nodes[3].Labels, "karpenter.sh/nodepool", "no label says what it is")
	require.NoError(t, provisioning.Validate(&s.Problem))
}
