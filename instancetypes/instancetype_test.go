package instancetypes_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestNodeLabels(t *testing.T) {
	it := &instancetypes.InstanceType{
		Name:   "m7i.large",
		Labels: map[string]string{corev1.LabelArchStable: "amd64", "topology.kubernetes.io/region": "elsewhere"},
	}
	for _, tc := range []struct {
		name     string
		offering offerings.Offering
		want     map[string]string
	}{
		{
			name: "the zero offering adds nothing",
			want: map[string]string{corev1.LabelArchStable: "amd64", "topology.kubernetes.io/region": "elsewhere"},
		},
		{
			name:     "zone and capacity type",
			offering: offerings.Offering{Zone: "a", CapacityType: offerings.Spot},
			want: map[string]string{
				corev1.LabelArchStable: "amd64", "topology.kubernetes.io/region": "elsewhere",
				corev1.LabelTopologyZone: "a", offerings.CapacityTypeLabel: "spot",
			},
		},
		{
			name: "a reservation, and a label that the type has too",
			offering: offerings.Offering{
				Zone: "a", CapacityType: offerings.Reserved, ReservationID: "cr-1",
				Labels: map[string]string{"topology.kubernetes.io/region": "here", "x": "y"},
			},
			want: map[string]string{
				corev1.LabelArchStable: "amd64", "topology.kubernetes.io/region": "here", "x": "y",
				corev1.LabelTopologyZone: "a", offerings.CapacityTypeLabel: "reserved", offerings.ReservationIDLabel: "cr-1",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := it.NodeLabels(tc.offering)
			assert.Equal(t, tc.want, got)
			got["mine"] = "now"
			assert.NotContains(t, it.Labels, "mine")
			assert.NotContains(t, tc.offering.Labels, "mine")
		})
	}
}

func TestOverheadTotal(t *testing.T) {
	o := instancetypes.Overhead{
		KubeReserved:      resources("cpu=70m memory=640Mi ephemeral-storage=1Gi"),
		SystemReserved:    resources("cpu=30m"),
		EvictionThreshold: resources("memory=100Mi ephemeral-storage=2Gi"),
	}
	assert.Equal(t, "cpu=100m ephemeral-storage=3Gi memory=740Mi", amounts(o.Total()))
	assert.Equal(t, "cpu=70m ephemeral-storage=1Gi memory=640Mi", amounts(o.KubeReserved), "the parts stay as they are")
	assert.Empty(t, instancetypes.Overhead{}.Total())
}

func TestDeepCopySharesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		it := randomType(r, i)
		it.Labels["k"] = "v"
		it.Capacity["a.b/c"] = resource.MustParse("1")
		it.Overhead.KubeReserved["a.b/c"] = resource.MustParse("1")
		it.Offerings = append(it.Offerings, offerings.Offering{
			Zone: "z", CapacityType: offerings.Spot, Labels: map[string]string{"k": "v"},
			Capacity: resources("cpu=1"), Overhead: resources("cpu=1"), Estimated: []string{"price"},
		})
		c := it.DeepCopy()
		sameType(t, it, c)

		c.Labels["k"] = "changed"
		c.Capacity["a.b/c"] = resource.MustParse("2")
		c.Overhead.KubeReserved["a.b/c"] = resource.MustParse("2")
		last := &c.Offerings[len(c.Offerings)-1]
		last.Zone = "changed"
		last.Labels["k"] = "changed"
		last.Capacity["cpu"] = resource.MustParse("2")
		last.Overhead["cpu"] = resource.MustParse("2")
		last.Estimated[0] = "changed"

		assert.Equal(t, "v", it.Labels["k"])
		assert.Equal(t, "a.b/c=1", amounts(corev1.ResourceList{"a.b/c": it.Capacity["a.b/c"]}))
		assert.Equal(t, "a.b/c=1", amounts(corev1.ResourceList{"a.b/c": it.Overhead.KubeReserved["a.b/c"]}))
		original := it.Offerings[len(it.Offerings)-1]
		assert.Equal(t, "z", original.Zone)
		assert.Equal(t, "v", original.Labels["k"])
		assert.Equal(t, "cpu=1", amounts(original.Capacity))
		assert.Equal(t, "cpu=1", amounts(original.Overhead))
		assert.Equal(t, []string{"price"}, original.Estimated)
	}
	assert.Nil(t, (*instancetypes.InstanceType)(nil).DeepCopy())
}
