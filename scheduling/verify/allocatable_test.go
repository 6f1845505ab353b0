package verify

import (
	"math/rand/v2"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// P51, P52.
func TestAllocatable(t *testing.T) {
	kind := &instancetypes.InstanceType{
		Capacity: list("cpu", "4", "memory", "16Gi", "pods", "58", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "2Gi"),
		Overhead: instancetypes.Overhead{
			KubeReserved:      list("cpu", "80m", "memory", "1Gi"),
			SystemReserved:    list("cpu", "20m", "pods", "100"),
			EvictionThreshold: list("memory", "100Mi", "ephemeral-storage", "1Gi"),
		},
	}
	assert.Equal(t, map[string]string{
		"cpu": "3900", "memory": plainMiB(16*1024 - 1024 - 100 - 3*1024), "pods": "0",
		"hugepages-2Mi": plainMiB(1024), "hugepages-1Gi": plainMiB(2048),
	}, plain(allocatableOf(kind, offerings.Offering{})))
	assert.Equal(t, map[string]string{
		"cpu": "7900", "memory": plainMiB(16*1024 - 3*1024 - 1), "pods": "0", "nvidia.com/gpu": "2",
		"hugepages-2Mi": plainMiB(1024), "hugepages-1Gi": plainMiB(2048),
	}, plain(allocatableOf(kind, offerings.Offering{
		Capacity: list("cpu", "8", "nvidia.com/gpu", "2"), Overhead: list("memory", "1Mi"),
	})))
}

func plainMiB(n int64) string { return strconv.FormatInt(n<<20, 10) }

// Two implementations of one rule, which know nothing of each other.
func TestAllocatableAgreesWithTheCatalog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	resources := []corev1.ResourceName{"cpu", "memory", "pods", "hugepages-2Mi", "hugepages-1Gi", "ephemeral-storage", "nvidia.com/gpu"}
	random := func(most int64) corev1.ResourceList {
		out := corev1.ResourceList{}
		for _, name := range resources {
			if rng.IntN(2) == 0 {
				out[name] = *resource.NewMilliQuantity(rng.Int64N(most)*1000, resource.DecimalSI)
			}
		}
		return out
	}
	for range 2000 {
		kind := &instancetypes.InstanceType{Capacity: random(1000), Overhead: instancetypes.Overhead{
			KubeReserved: random(300), SystemReserved: random(300), EvictionThreshold: random(300),
		}}
		o := offerings.Offering{Capacity: random(1000), Overhead: random(300)}
		require.Equal(t, plain(roundedDown(kind.AllocatableOf(o))), plain(allocatableOf(kind, o)))
		require.Equal(t, plain(roundedDown(kind.CapacityOf(o))), plain(roundedDown(capacityOf(kind, o))))
	}
}
