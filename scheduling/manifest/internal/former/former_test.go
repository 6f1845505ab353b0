package former_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/former"
)

// decoded fills an object from JSON.
func decoded[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	require.NoError(t, json.Unmarshal([]byte(text), out))
	return out
}

// The lifetime of nodes moves to the template, the policy has its new name, and the group of a node
// class is that of its API version.
func TestNodePoolOfV1beta1(t *testing.T) {
	pool := decoded[former.NodePool](t, `{"metadata":{"name":"web"},"spec":{
		"disruption":{"consolidationPolicy":"WhenUnderutilized","expireAfter":"720h"},
		"template":{"spec":{"kubelet":{"maxPods":20},"nodeClassRef":{"apiVersion":"karpenter.k8s.aws/v1beta1","kind":"EC2NodeClass","name":"a"}}}}}`).Converted()
	assert.Equal(t, "karpenter.sh/v1", pool.APIVersion)
	assert.Equal(t, scheduling.WhenEmptyOrUnderutilized, pool.Spec.Disruption.ConsolidationPolicy)
	assert.Equal(t, "720h", pool.Spec.Template.Spec.ExpireAfter.String())
	assert.Equal(t, &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "a"}, pool.Spec.Template.Spec.NodeClassRef)
	assert.Equal(t, `{"maxPods":20}`, pool.Annotations[scheduling.KubeletAnnotation])

	pool = decoded[former.NodePool](t, `{"spec":{"template":{"spec":{"kubelet":null,"nodeClassRef":{"apiVersion":"v1","name":"a"}}}}}`).Converted()
	assert.Empty(t, pool.Spec.Template.Spec.NodeClassRef.Group)
	assert.Empty(t, pool.Annotations)
}

// A Provisioner with settings of its own is a node class and a NodePool that refers to it.
func TestProvisionerWithProvider(t *testing.T) {
	conversion := decoded[former.Provisioner](t, `{"metadata":{"name":"web"},"spec":{"provider":{"subnetSelector":{"aws-ids":"subnet-1, subnet-2"}}}}`).Converted()
	require.Len(t, conversion.Results, 2)
	class, pool := conversion.Results[0], conversion.Results[1]
	assert.Equal(t, "EC2NodeClass", class.Kind)
	assert.Equal(t, "NodePool", pool.Kind)
	text, err := json.Marshal(class.Fields["spec"])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"subnetSelectorTerms":[{"id":"subnet-1"},{"id":"subnet-2"}]`)
	assert.Contains(t, string(text), `"amiFamily":"AL2"`)
	text, err = json.Marshal(pool.Fields["spec"])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"nodeClassRef":{"apiVersion":"karpenter.k8s.aws/v1beta1","kind":"EC2NodeClass","name":"web"}`)
	assert.Contains(t, string(text), `"consolidationPolicy":"WhenEmpty"`)
	assert.Contains(t, conversion.Message, "karpenter.k8s.aws/instance-category In c m r")
}
