package requirements_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/requirements"
)

func set(t *testing.T, text string) requirements.Set {
	t.Helper()
	s, err := requirements.ParseSet(text)
	require.NoError(t, err)
	return s
}

// A running node is strict where a future one is not (R32), and the two ways to
// ask it agree.
func TestRunningNodeIsStrict(t *testing.T) {
	labels := map[string]string{"kubernetes.io/os": "linux", "karpenter.k8s.aws/instance-cpu": "8"}
	node := requirements.FromLabels(labels)
	for text, want := range map[string]bool{
		"kubernetes.io/os In [linux]":              true,
		"topology.kubernetes.io/zone In [a]":       false,
		"topology.kubernetes.io/zone NotIn [a]":    true,
		"karpenter.k8s.aws/instance-cpu >7":        true,
		"karpenter.k8s.aws/instance-cpu >8":        false,
		"karpenter.k8s.aws/instance-gpu-count <99": false,
	} {
		pod := set(t, text)
		assert.Equal(t, want, pod.Matches(labels), text)
		assert.Equal(t, want, node.Compatible(pod) == nil, text)
	}
	future := requirements.Set{}
	require.NoError(t, future.Compatible(set(t, "topology.kubernetes.io/zone In [a]"), requirements.WellKnown()))
}

// The exported errors are found inside other errors.
func TestErrorsUnwrap(t *testing.T) {
	_, err := requirements.New("k", requirements.In)
	var fault *requirements.SelectorError
	require.ErrorAs(t, fmt.Errorf("pod shop/web-0: %w", err), &fault)
	assert.Equal(t, "k", fault.Key)

	_, err = requirements.FromSelectors([]requirements.Selector{{}, {Key: "k", Operator: "Is"}})
	require.ErrorAs(t, fmt.Errorf("nodepool default: %w", err), &fault)
	assert.Equal(t, "[0].key", fault.Path)

	err = requirements.Set{}.Compatible(set(t, "a Exists, b Exists"))
	var conflict *requirements.Conflict
	require.ErrorAs(t, fmt.Errorf("pool default: %w", err), &conflict)
	assert.Equal(t, "a", conflict.Key)
}
