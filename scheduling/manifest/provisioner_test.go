package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// A Provisioner becomes the NodePool that Karpenter's guide to v1beta1 makes of it.
func TestProvisioner(t *testing.T) {
	s := read(t, `
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  labels: {team: a}
  annotations: {note: b}
  taints: [{key: dedicated, value: a, effect: NoSchedule}]
  startupTaints: [{key: starting, effect: NoExecute}]
  requirements:
  - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
  - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["3"]}
  limits: {resources: {cpu: 1000, memory: 1000Gi}}
  weight: 50
  providerRef: {name: default}
  consolidation: {enabled: true}
  ttlSecondsUntilExpired: 2592000
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec: {subnetSelector: {karpenter.sh/discovery: shop}, securityGroupSelector: {aws-ids: "sg-1, sg-2"}}
---
apiVersion: v1
kind: Node
metadata: {name: node, labels: {karpenter.sh/provisioner-name: default}}
`)
	require.Len(t, s.Problem.NodePools, 1)
	pool := s.Problem.NodePools[0]
	require.Equal(t, "default", pool.Name)
	require.Equal(t, map[string]string{"team": "a"}, pool.Spec.Template.Metadata.Labels)
	require.Equal(t, map[string]string{"note": "b"}, pool.Spec.Template.Metadata.Annotations)
	require.Equal(t, []corev1.Taint{{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}}, pool.Spec.Template.Spec.Taints)
	require.Equal(t, []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoExecute}}, pool.Spec.Template.Spec.StartupTaints)
	require.Equal(t, []requirements.Selector{
		{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"spot", "on-demand"}},
		{Key: "karpenter.k8s.aws/instance-generation", Operator: requirements.Gt, Values: []string{"3"}},
		{Key: "kubernetes.io/arch", Operator: requirements.In, Values: []string{"amd64"}},
		{Key: "kubernetes.io/os", Operator: requirements.In, Values: []string{"linux"}},
	}, pool.Spec.Template.Spec.Requirements)
	require.Equal(t, "1k", pool.Spec.Limits.Cpu().String())
	require.Equal(t, "1000Gi", pool.Spec.Limits.Memory().String())
	require.EqualValues(t, 50, *pool.Spec.Weight)
	require.Equal(t, &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}, pool.Spec.Template.Spec.NodeClassRef)
	require.Equal(t, scheduling.WhenEmptyOrUnderutilized, pool.Spec.Disruption.ConsolidationPolicy)
	require.Nil(t, pool.Spec.Disruption.ConsolidateAfter)
	require.Equal(t, "720h", pool.Spec.Template.Spec.ExpireAfter.String())
	require.Equal(t, "default", s.Problem.Nodes[0].Labels[scheduling.NodePoolLabel])
	require.Subset(t, s.Warnings, []scheduling.Warning{
		{Object: "AWSNodeTemplate/default", Message: "was read as EC2NodeClass default", Note: true},
		{Object: "Provisioner/default", Message: "was read as NodePool default: consolidation.enabled as consolidationPolicy WhenEmptyOrUnderutilized; " +
			"ttlSecondsUntilExpired as expireAfter 2592000s; as Karpenter 0.31 did, it requires kubernetes.io/arch In amd64, kubernetes.io/os In linux; " +
			"pods select its nodes by karpenter.sh/nodepool", Note: true},
	})
}

// Fields that a Provisioner leaves out have the defaults of Karpenter 0.31.
func TestProvisionerDefaults(t *testing.T) {
	s := read(t, "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {provider: {amiFamily: Bottlerocket}}\n---\n"+
		"apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: b}\nspec: {ttlSecondsAfterEmpty: 30, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}\n")
	require.Len(t, s.Problem.NodePools, 2)
	a, b := s.Problem.NodePools[0].Spec, s.Problem.NodePools[1].Spec
	require.Equal(t, []requirements.Selector{
		{Key: "kubernetes.io/arch", Operator: requirements.In, Values: []string{"amd64"}},
		{Key: "kubernetes.io/os", Operator: requirements.In, Values: []string{"linux"}},
		{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"on-demand"}},
		{Key: "karpenter.k8s.aws/instance-category", Operator: requirements.In, Values: []string{"c", "m", "r"}},
		{Key: "karpenter.k8s.aws/instance-generation", Operator: requirements.Gt, Values: []string{"2"}},
	}, a.Template.Spec.Requirements)
	require.Equal(t, scheduling.WhenEmpty, a.Disruption.ConsolidationPolicy)
	require.Equal(t, "Never", a.Disruption.ConsolidateAfter.String())
	require.Equal(t, "Never", a.Template.Spec.ExpireAfter.String())
	require.Equal(t, "a", a.Template.Spec.NodeClassRef.Name)
	require.Len(t, b.Template.Spec.Requirements, 4)
	require.Equal(t, scheduling.WhenEmpty, b.Disruption.ConsolidationPolicy)
	require.Equal(t, "30s", b.Disruption.ConsolidateAfter.String())
	require.Nil(t, b.Template.Spec.NodeClassRef)
}

func TestBadProvisioners(t *testing.T) {
	head := "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: "
	for text, want := range map[string]string{
		head + "{ttlSecondsAfterEmpty: soon}\n":                                                        `Provisioner a: spec.ttlSecondsAfterEmpty: "soon" is not a whole number of 64 bits`,
		head + "{limits: {resources: {cpu: many}}}\n":                                                  `NodePool a: spec.limits.cpu: "many" is not a quantity`,
		head + "{}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {}\n": "NodePool a: metadata.name: \"a\" is a duplicate of the one in",
	} {
		_, err := manifest.Loader{}.Read("x.yaml", strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	s := read(t, head+"{requirments: []}\n")
	require.Contains(t, s.Warnings[1].Message+s.Warnings[0].Message, "did you mean requirements?")
}
