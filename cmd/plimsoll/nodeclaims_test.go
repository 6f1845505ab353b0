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
	args := []string{"plan", "-f", temp(t, "pool.yaml", ownedPool), "-f", services + "/20-services.yaml", "--effort", "fast"}
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
	r := run(t, "plan", "-f", temp(t, "pool.yaml", pool), "-f", services+"/20-services.yaml", "--effort", "fast", "-o", "nodeclaims")
	require.Contains(t, r.stderr, "warning: NodePool/general: has no nodeClassRef with group, kind and name, without which its NodeClaims are refused\n")
}

// A claim has the operators of its NodePool, for CRDs before Karpenter 1.9 know no Gte and Lte.
func TestNodeClaimsHaveTheOperatorsOfTheNodePool(t *testing.T) {
	t.Parallel()
	pool := strings.Replace(ownedPool, "      requirements:\n", `      requirements:
      - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["4"]}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ["2"]}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["33"]}
`, 1)
	r := run(t, "plan", "-f", temp(t, "pool.yaml", pool), "-f", services+"/20-services.yaml", "--effort", "fast", "-o", "nodeclaims")
	require.Equal(t, exitOK, r.code, r.stderr)
	var claim manifest.NodeClaim
	require.NoError(t, yaml.UnmarshalStrict([]byte(strings.Split(r.stdout, "---\n")[0]), &claim))
	var bounds []string
	for _, s := range claim.Spec.Requirements {
		if strings.HasPrefix(string(s.Operator), "G") || strings.HasPrefix(string(s.Operator), "L") {
			bounds = append(bounds, s.Key+" "+string(s.Operator)+" "+s.Values[0])
		}
	}
	require.Equal(t, []string{"karpenter.k8s.aws/instance-cpu Gte 2", "karpenter.k8s.aws/instance-cpu Lt 33", "karpenter.k8s.aws/instance-generation Gt 4"}, bounds)
}

// Without Karpenter nobody launches a NodeClaim.
func TestNodeClaimsNeedKarpenter(t *testing.T) {
	t.Parallel()
	const want = "-o nodeclaims: the input has no NodePool of Karpenter that NodeClaims could belong to; add the output of kubectl get nodepools -o json\n"
	for name, input := range map[string]string{
		"workloads alone": deployed("web", "replicas: 3, "),
		"node groups":     eksCluster() + groupPod("more-0", "", "7", "4Gi", ""),
	} {
		r := run(t, "plan", "-f", temp(t, "input.yaml", input), "--effort", "fast", "-o", "nodeclaims")
		require.Equal(t, exitBadInput, r.code, name)
		require.Contains(t, r.stderr, want, name)
		require.Empty(t, r.stdout, name)
	}
	class := "apiVersion: cloud.google.com/v1\nkind: ComputeClass\nmetadata: {name: batch}\nspec: {priorities: [{machineFamily: n2}]}\n---\n" +
		deployed("web", "replicas: 3, ")
	class = strings.Replace(class, "containers:", "nodeSelector: {cloud.google.com/compute-class: batch}, containers:", 1)
	r := run(t, "plan", "-f", temp(t, "class.yaml", class), "--catalog", "gcp/europe-west4", "--effort", "fast", "-o", "nodeclaims")
	require.Equal(t, exitBadInput, r.code, r.stdout+r.stderr)
	require.Contains(t, r.stderr, "-o nodeclaims: NodePool/batch-1 stands for ComputeClass/batch, whose nodes are launched by GKE, not by Karpenter\n")
}
