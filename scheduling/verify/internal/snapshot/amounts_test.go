package snapshot

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestBaseUnits(t *testing.T) {
	for _, tc := range []struct {
		name     corev1.ResourceName
		quantity string
		down, up string
	}{
		{"cpu", "0", "0", "0"},
		{"cpu", "1", "1000", "1000"},
		{"cpu", "1500m", "1500", "1500"},
		{"cpu", "0.1", "100", "100"},
		{"cpu", "1n", "0", "1"},
		{"cpu", "1000001u", "1000", "1001"},
		{"cpu", "-1500u", "-2", "-1"},
		{"memory", "1Ki", "1024", "1024"},
		{"memory", "1.5Gi", "1610612736", "1610612736"},
		{"memory", "1m", "0", "1"},
		{"memory", "1E", "1000000000000000000", "1000000000000000000"},
		{"memory", "9223372036854775807", "9223372036854775807", "9223372036854775807"},
		{"memory", "1e30", "1000000000000000000000000000000", "1000000000000000000000000000000"},
		{"pods", "110", "110", "110"},
		{"nvidia.com/gpu", "500m", "0", "1"},
	} {
		q := resource.MustParse(tc.quantity)
		assert.Equal(t, tc.down, baseUnits(tc.name, q, false).String(), "%s %s", tc.name, tc.quantity)
		assert.Equal(t, tc.up, baseUnits(tc.name, q, true).String(), "%s %s", tc.name, tc.quantity)
		assert.Equal(t, resource.MustParse(tc.quantity), q, "the quantity is changed")
	}
}

// Within the range of int64 the units are those that kube-scheduler computes.
func TestBaseUnitsAgreeWithKubernetes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	suffixes := []string{"", "m", "u", "n", "k", "M", "Ki", "Mi", "Gi"}
	for range 5000 {
		q := resource.MustParse(big.NewInt(rng.Int64N(1e6)).String() + suffixes[rng.IntN(len(suffixes))])
		assert.Equal(t, q.MilliValue(), baseUnits(corev1.ResourceCPU, q, true).Int64(), "%s cores", q.String())
		assert.Equal(t, q.Value(), baseUnits(corev1.ResourceMemory, q, true).Int64(), "%s bytes", q.String())
	}
}

// P27, P50: what is not asked for cannot be short, even where a node has less than nothing.
func TestExceedingIgnoresWhatIsNotAskedFor(t *testing.T) {
	need := RoundedUp(list("cpu", "0", "memory", "1", "example.com/x", "0"))
	have := Amounts{"cpu": big.NewInt(-5), "memory": big.NewInt(1)}
	assert.Empty(t, Exceeding(need, have))
	have["memory"].SetInt64(-1)
	assert.Equal(t, []corev1.ResourceName{"memory"}, Exceeding(need, have))
}
