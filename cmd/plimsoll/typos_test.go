package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names that nothing has are most often typos, and the plan says what was meant. A name
// of its own is no typo: others may provide it.
func TestTypos(t *testing.T) {
	pod := func(name, spec, resources string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + spec + "containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {" + resources + "}}}]}\n"
	}
	text := pod("gpu", "", "nvidia.com/gpus: 1") + pod("key", "nodeSelector: {karpenter.sh/capacity-types: spot}, ", "") +
		pod("type", "nodeSelector: {node.kubernetes.io/instance-type: m5.xxlarge}, ", "") +
		pod("fine", "nodeSelector: {kubernetes.io/arch: amd64, karpenter.sh/nodepool: x}, ", "nvidia.com/gpu: 1") +
		pod("own", "nodeSelector: {example.com/team: a}, ", "example.com/licence: 1")
	r := run(t, "plan", "-f", temp(t, "typos.yaml", text))
	require.Equal(t, exitUnschedulable, r.code)
	require.Contains(t, r.stdout, "default/gpu: asks for the resource nvidia.com/gpus, which no object has; did you mean nvidia.com/gpu?\n")
	require.Contains(t, r.stdout, "default/key: selects nodes by the label karpenter.sh/capacity-types, which no object has; did you mean karpenter.sh/capacity-type?\n")
	require.Contains(t, r.stdout, "default/type: selects nodes of the instance type m5.xxlarge, which no object has; did you mean m5.2xlarge?\n")
	require.NotContains(t, r.stdout, "default/fine: ")
	require.NotContains(t, r.stdout, "default/own: ")
}

// Required node affinity is read as selectors are, and what a NodePool requires does not
// make a typo right. Labels that some machine may bring are none.
func TestTyposOfAffinityAndPools(t *testing.T) {
	text := `apiVersion: v1
kind: Pod
metadata: {name: zone}
spec:
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [
    {key: topology.kubernetes.io/zones, operator: In, values: [us-east-1a]},
    {key: node.kubernetes.io/instance-type, operator: In, values: [m5.xxlarge]},
    {key: karpenter.k8s.aws/instance-gpu-manufacturer, operator: DoesNotExist}]}]}}}
  containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {metadata: {labels: {team: a}}, spec: {requirements: [{key: kubernetes.io/aarch, operator: In, values: [amd64]}, {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}]}}}
`
	r := run(t, "plan", "-f", temp(t, "typos.yaml", text), "--filter", "category=m")
	require.Equal(t, exitUnschedulable, r.code, r.stderr)
	_, warnings, _ := strings.Cut(r.stdout, "WARNINGS\n")
	require.Equal(t, `  DaemonSets: the input has none, so new nodes are planned without DaemonSet pods; add the output of kubectl get ds -A -o json
  NodePool/general: requires or sets the label kubernetes.io/aarch, which no object has; did you mean kubernetes.io/arch?
  default/zone: selects nodes by the label topology.kubernetes.io/zones, which no object has; did you mean topology.kubernetes.io/zone?
  default/zone: selects nodes of the instance type m5.xxlarge, which no object has; did you mean m5.2xlarge?
`, warnings)
}
