package scheduling_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestNodePoolAllow(t *testing.T) {
	const arch, generation = "kubernetes.io/arch", "karpenter.k8s.aws/instance-generation"
	pool := &scheduling.NodePool{}
	pool.Spec.Template.Spec.Requirements = []requirements.Selector{
		{Key: "beta.kubernetes.io/arch", Operator: requirements.In, Values: []string{"amd64"}},
		{Key: arch, Operator: requirements.NotIn, Values: []string{"arm64"}},
		{Key: generation, Operator: requirements.Gt, Values: []string{"5"}},
		{Key: generation, Operator: requirements.Exists},
	}
	before := pool.DeepCopy()
	for _, label := range [][2]string{{arch, "amd64"}, {generation, "6"}, {"example.com/team", "shop"}} {
		changed, err := pool.Allow(label[0], label[1])
		require.NoError(t, err)
		assert.False(t, changed, "nothing rules out %s=%s", label[0], label[1])
	}
	assert.Equal(t, before, pool)

	for _, label := range [][2]string{{arch, "arm64"}, {generation, "4"}} {
		changed, err := pool.Allow(label[0], label[1])
		require.NoError(t, err)
		assert.True(t, changed)
	}
	assert.Equal(t, []requirements.Selector{
		{Key: "beta.kubernetes.io/arch", Operator: requirements.In, Values: []string{"amd64", "arm64"}},
		{Key: generation, Operator: requirements.Exists},
	}, pool.Spec.Template.Spec.Requirements)
	assert.Equal(t, []string{"amd64"}, before.Spec.Template.Spec.Requirements[0].Values, "lists are not shared")

	_, err := pool.Allow("a/b/c", "d")
	require.Error(t, err)
}
