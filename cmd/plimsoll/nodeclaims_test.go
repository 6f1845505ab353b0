package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

const ownedPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
  uid: 7d1c7a8e-50a2-4d43-8f5c-1b1b7d2b7c11
  annotations: {karpenter.sh/nodepool-hash: "8842157412350411562", karpenter.sh/nodepool-hash-version: v3}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: Exists, minValues: 5}
`

// A NodeClaim is what Karpenter would have written, and lets it buy what the plan lists.
func TestNodeClaimsAreThoseOfKarpenter(t *testing.T) {
	args := []string{"plan", "-f", temp(t, "pool.yaml", ownedPool), "-f", "../../examples/quickstart/30-services.yaml", "--effort", "fast"}
	plan := decodePlan(t, run(t, append(args, "-o", "json")...).stdout)
	r := run(t, append(args, "-o", "nodeclaims")...)
	docs := strings.Split(r.stdout, "---\n")
	require.Len(t, docs, len(plan.Launches))
	require.NotContains(t, r.stderr, "nodeClassRef")
	for i, doc := range docs {
		var claim manifest.NodeClaim
		require.NoError(t, yaml.UnmarshalStrict([]byte(doc), &claim))
		require.Equal(t, "general-", claim.GenerateName)
		require.Empty(t, claim.Name)
		require.Equal(t, map[string]string{"karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default"}, claim.Labels)
		require.Equal(t, map[string]string{
			"karpenter.sh/nodepool-hash": "8842157412350411562", "karpenter.sh/nodepool-hash-version": "v3", "karpenter.sh/nodeclaim-min-values-relaxed": "false",
		}, claim.Annotations)
		require.Equal(t, &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}, claim.Spec.NodeClassRef)
		require.Equal(t, "7d1c7a8e-50a2-4d43-8f5c-1b1b7d2b7c11", string(claim.OwnerReferences[0].UID))
		asked := map[string][]string{}
		for _, s := range claim.Spec.Requirements {
			asked[s.Key] = s.Values
		}
		require.GreaterOrEqual(t, len(asked[corev1.LabelInstanceTypeStable]), 5)
		listed := map[string]bool{}
		for _, o := range plan.Launches[i].Options {
			listed[o.InstanceType+" "+o.Zone+" "+string(o.CapacityType)] = true
		}
		for _, it := range asked[corev1.LabelInstanceTypeStable] {
			for _, zone := range asked[corev1.LabelTopologyZone] {
				for _, pay := range asked["karpenter.sh/capacity-type"] {
					require.True(t, listed[it+" "+zone+" "+pay], "%s %s %s", it, zone, pay)
				}
			}
		}
	}
}

func TestNodeClaimsNeedANodeClass(t *testing.T) {
	t.Parallel()
	pool := strings.Replace(ownedPool, "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}", "{name: default}", 1)
	r := run(t, "plan", "-f", temp(t, "pool.yaml", pool), "-f", "../../examples/quickstart/30-services.yaml", "--effort", "fast", "-o", "nodeclaims")
	require.Contains(t, r.stderr, "warning: NodePool/general: has no nodeClassRef with group, kind and name, and its NodeClaims are refused without\n")
}
