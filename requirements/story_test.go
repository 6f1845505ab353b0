package requirements_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// What a launch goes through: a pod joins a pool, a type is left over, one of
// its offerings is bought. R32–R36, R38, R41.
func TestPodPoolTypeOffering(t *testing.T) {
	const (
		poolText = "karpenter.sh/nodepool In [default], karpenter.sh/capacity-type In [spot on-demand reserved], " +
			"karpenter.k8s.aws/instance-cpu >3 <33, example.com/team Exists"
		typeText = "node.kubernetes.io/instance-type In [m7g.xlarge], kubernetes.io/arch In [arm64], kubernetes.io/os In [linux], " +
			"karpenter.k8s.aws/instance-cpu In [4], karpenter.k8s.aws/instance-gpu-count DoesNotExist"
		spotText = "topology.kubernetes.io/zone In [a], karpenter.sh/capacity-type In [spot], " +
			"karpenter.k8s.aws/capacity-reservation-id DoesNotExist"
		reservedText = "topology.kubernetes.io/zone In [b], karpenter.sh/capacity-type In [reserved], " +
			"karpenter.k8s.aws/capacity-reservation-id In [cr-1]"
	)
	for _, tt := range []struct {
		name, pod                      string
		pool, shape, onSpot, onReserve bool
	}{
		{"anything", "", true, true, true, true},
		{"arch of the type", "kubernetes.io/arch In [arm64]", true, true, true, true},
		{"arch under its beta key", "beta.kubernetes.io/arch In [arm64]", true, true, true, true},
		{"other arch", "kubernetes.io/arch In [amd64]", true, false, true, true},
		{"more cores than the type has", "karpenter.k8s.aws/instance-cpu >4", true, false, true, true},
		{"more cores than the pool buys", "karpenter.k8s.aws/instance-cpu >32", false, false, true, true},
		{"no GPU", "karpenter.k8s.aws/instance-gpu-count DoesNotExist", true, true, true, true},
		{"GPU", "karpenter.k8s.aws/instance-gpu-count >0", true, false, true, true},
		{"zone of one offering", "topology.kubernetes.io/zone In [a]", true, true, true, false},
		{"zone of a volume", "topology.ebs.csi.aws.com/zone In [b]", true, true, false, true},
		{"no spot", "karpenter.sh/capacity-type NotIn [spot]", true, true, false, true},
		{"a reservation", "karpenter.k8s.aws/capacity-reservation-id In [cr-1]", true, true, false, true},
		{"no reservation", "karpenter.k8s.aws/capacity-reservation-id DoesNotExist", true, true, true, false},
		{"own label, chosen by the pod", "example.com/team In [web]", true, true, true, true},
		{"own label that the pool lacks", "example.com/tier In [gold]", false, true, true, true},
		{"own label to avoid", "example.com/tier NotIn [gold]", true, true, true, true},
		{"own label that must not be", "example.com/team DoesNotExist", false, true, true, true},
		{"other pool", "karpenter.sh/nodepool In [gpu]", false, true, true, true},
		{"host name", "kubernetes.io/hostname In [node-7]", false, true, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod, pool := set(t, tt.pod), set(t, poolText)
			err := pool.Compatible(pod, requirements.WellKnown())
			assert.Equal(t, tt.pool, err == nil, "pool: %v", err)

			claim := pool.Intersect(pod)
			assert.Equal(t, tt.shape, set(t, typeText).Overlaps(claim) == nil, "type")
			assert.Equal(t, tt.onSpot, claim.Compatible(set(t, spotText), requirements.WellKnown()) == nil, "spot")
			assert.Equal(t, tt.onReserve, claim.Compatible(set(t, reservedText), requirements.WellKnown()) == nil, "reserved")
			assert.True(t, pool.Equal(set(t, poolText)), "the pool stays as it is")
		})
	}
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

// Nothing depends on the order in which maps and arguments come.
func TestSameBytesInAnyOrder(t *testing.T) {
	labels := map[string]string{}
	for i := range 40 {
		labels[fmt.Sprintf("example.com/label-%02d", i)] = fmt.Sprint(i)
	}
	labels["beta.kubernetes.io/os"], labels["kubernetes.io/os"] = "linux", "windows"
	first := requirements.FromLabels(labels)
	ask := set(t, "kubernetes.io/os In [linux], zone Exists, example.com/label-07 >8, example.com/label-03 DoesNotExist, tier Exists")
	text, conflict := first.String(), first.Compatible(ask).Error()

	r := rand.New(rand.NewPCG(8, 51))
	reqs := slices.Collect(first.All())
	for range 50 {
		again := requirements.FromLabels(labels)
		require.Equal(t, text, again.String())
		require.Equal(t, conflict, again.Compatible(ask).Error())
		r.Shuffle(len(reqs), func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
		require.Equal(t, text, requirements.NewSet(reqs...).String())
	}
}

// The exported errors are found inside other errors.
func TestErrorsUnwrap(t *testing.T) {
	_, err := requirements.New("k", requirements.In)
	var fault *requirements.FieldError
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
