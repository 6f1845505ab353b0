package manifest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

const fullV1beta1 = `
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default
spec:
  template:
    metadata:
      labels:
        billing-team: my-team
    spec:
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: default
      taints:
        - key: example.com/special-taint
          effect: NoSchedule
      requirements:
        - key: "karpenter.k8s.aws/instance-category"
          operator: In
          values: ["c", "m", "r"]
          minValues: 2
        - key: "topology.kubernetes.io/zone"
          operator: In
          values: ["us-west-2a", "us-west-2b"]
      kubelet:
        maxPods: 20
        systemReserved: {cpu: 100m}
  disruption:
    consolidationPolicy: WhenUnderutilized
    expireAfter: 720h
    budgets:
      - nodes: 10%
      - schedule: "0 9 * * mon-fri"
        duration: 8h
        nodes: "0"
  limits:
    cpu: 1000
    memory: 1000Gi
  weight: 10
`

func TestNodePoolV1beta1(t *testing.T) {
	pool, warnings, faults := nodePool(t, fullV1beta1)
	require.Empty(t, faults)
	assert.Empty(t, warnings)
	assert.JSONEq(t, `{"maxPods": 20, "systemReserved": {"cpu": "100m"}}`, pool.Annotations[scheduling.KubeletAnnotation])

	assert.Equal(t, metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"}, pool.TypeMeta, "the form is that of v1")
	assert.Equal(t, &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}, pool.Spec.Template.Spec.NodeClassRef)
	assert.Equal(t, scheduling.WhenEmptyOrUnderutilized, pool.Spec.Disruption.ConsolidationPolicy)
	assert.Nil(t, pool.Spec.Disruption.ConsolidateAfter)
	assert.Equal(t, "720h", pool.Spec.Template.Spec.ExpireAfter.String())
	assert.Equal(t, 8*time.Hour, pool.Spec.Disruption.Budgets[1].Duration.Duration)
	cpu := pool.Spec.Limits["cpu"]
	assert.Equal(t, int64(1000), cpu.Value())
}

func TestNodePoolV1beta1Disruption(t *testing.T) {
	for name, tc := range map[string]struct {
		disruption, template string
		policy               scheduling.ConsolidationPolicy
		expireAfter          *scheduling.NillableDuration
		warnings             int
	}{
		"nothing":               {"{}", "{}", "", nil, 0},
		"when empty":            {"{consolidationPolicy: WhenEmpty, consolidateAfter: 30s}", "{}", scheduling.WhenEmpty, nil, 0},
		"never expires":         {"{expireAfter: Never}", "{}", "", &scheduling.NillableDuration{}, 0},
		"expires in seconds":    {"{expireAfter: 7200}", "{}", "", after(2 * time.Hour), 1},
		"where v1 has it":       {"{}", "{expireAfter: 5h}", "", after(5 * time.Hour), 0},
		"in both places":        {"{expireAfter: 3h}", "{expireAfter: 5h}", "", after(3 * time.Hour), 0},
		"the policy's new name": {"{consolidationPolicy: WhenEmptyOrUnderutilized}", "{}", scheduling.WhenEmptyOrUnderutilized, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pool, warnings, faults := nodePool(t, "apiVersion: karpenter.sh/v1beta1\nmetadata: {name: a}\nspec: {disruption: "+tc.disruption+", template: {spec: "+tc.template+"}}")
			require.Empty(t, faults)
			assert.Equal(t, tc.policy, pool.Spec.Disruption.ConsolidationPolicy)
			assert.Equal(t, tc.expireAfter, pool.Spec.Template.Spec.ExpireAfter)
			assert.Len(t, warnings, tc.warnings)
		})
	}
}

// In v1 the old name is kept, and refused with the new one.
func TestNodePoolOldPolicyInV1(t *testing.T) {
	_, _, faults := nodePool(t, "metadata: {name: a}\nspec: {disruption: {consolidationPolicy: WhenUnderutilized}}")
	assert.Equal(t, []string{
		`NodePool a: spec.disruption.consolidationPolicy: is called WhenEmptyOrUnderutilized since karpenter.sh/v1: "WhenUnderutilized"`,
	}, faults)
}

func TestNodePoolNodeClass(t *testing.T) {
	for in, want := range map[string]scheduling.NodeClassRef{
		"{name: a}":                             {Name: "a"},
		"{apiVersion: v1, kind: X, name: a}":    {Kind: "X", Name: "a"},
		"{apiVersion: g.io/v1, name: a}":        {Group: "g.io", Name: "a"},
		"{apiVersion: g.io/v1, group: h.io}":    {Group: "h.io"},
		"{group: h.io, kind: X, name: a}":       {Group: "h.io", Kind: "X", Name: "a"},
		"{group: karpenter.azure.com, kind: Z}": {Group: "karpenter.azure.com", Kind: "Z"},
	} {
		pool, _, faults := nodePool(t, "apiVersion: karpenter.sh/v1beta1\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: "+in+"}}}")
		require.Empty(t, faults)
		assert.Equal(t, &want, pool.Spec.Template.Spec.NodeClassRef, in)
	}
}
