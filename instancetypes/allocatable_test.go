package instancetypes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestAllocatable(t *testing.T) {
	for _, tc := range []struct {
		name                   string
		capacity               string
		kube, system, eviction string
		override, overhead     string // of the offering
		want                   string
	}{
		{
			name:     "P51 all three parts are taken off",
			capacity: "cpu=4 memory=16Gi pods=58 ephemeral-storage=20Gi",
			kube:     "cpu=80m memory=893Mi ephemeral-storage=1Gi", system: "cpu=20m memory=7Mi", eviction: "memory=100Mi ephemeral-storage=2Gi",
			want: "cpu=3900m ephemeral-storage=17Gi memory=15384Mi pods=58",
		},
		{
			name:     "P51 huge pages are taken out of the memory",
			capacity: "cpu=4 memory=16Gi hugepages-2Mi=1Gi hugepages-1Gi=2Gi", eviction: "memory=1Gi",
			want: "cpu=4 hugepages-1Gi=2Gi hugepages-2Mi=1Gi memory=12Gi",
		},
		{
			name:     "P51 nothing goes below zero",
			capacity: "cpu=50m memory=64Mi hugepages-2Mi=1Gi", kube: "cpu=100m",
			want: "cpu=0 hugepages-2Mi=1Gi memory=0",
		},
		{
			name:     "P51 overhead of a resource that the machine lacks",
			capacity: "cpu=4 memory=16Gi", kube: "ephemeral-storage=1Gi",
			want: "cpu=4 memory=16Gi",
		},
		{
			name:     "P52 an offering replaces capacity by key, and adds to it",
			capacity: "cpu=4 memory=16Gi pods=58", kube: "cpu=100m memory=1Gi", override: "memory=32Gi nvidia.com/gpu=1",
			want: "cpu=3900m memory=31Gi nvidia.com/gpu=1 pods=58",
		},
		{
			name:     "P52 an offering replaces the sum of the overhead by key",
			capacity: "cpu=4 memory=16Gi", kube: "cpu=100m memory=1Gi", eviction: "memory=1Gi", overhead: "memory=4Gi",
			want: "cpu=3900m memory=12Gi",
		},
		{
			name:     "P52 an overhead of zero removes it",
			capacity: "cpu=4 memory=16Gi", kube: "cpu=100m memory=1Gi", overhead: "memory=0",
			want: "cpu=3900m memory=16Gi",
		},
		{
			name:     "P52 huge pages that only the offering has",
			capacity: "cpu=4 memory=16Gi", override: "hugepages-2Mi=4Gi",
			want: "cpu=4 hugepages-2Mi=4Gi memory=12Gi",
		},
		{name: "nothing", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			it := &instancetypes.InstanceType{
				Capacity: resources(tc.capacity),
				Overhead: instancetypes.Overhead{
					KubeReserved: resources(tc.kube), SystemReserved: resources(tc.system), EvictionThreshold: resources(tc.eviction),
				},
			}
			o := offerings.Offering{Capacity: resources(tc.override), Overhead: resources(tc.overhead)}
			assert.Equal(t, tc.want, amounts(it.AllocatableOf(o)))
			if tc.override == "" && tc.overhead == "" {
				assert.Equal(t, tc.want, amounts(it.Allocatable()), "P53 the base is what an offering without overrides has")
			}
		})
	}
}

func TestCapacityOf(t *testing.T) {
	it := machine("m", "cpu=4 memory=16Gi", "")
	got := it.CapacityOf(offerings.Offering{Capacity: resources("memory=8Gi nvidia.com/gpu=1")})
	assert.Equal(t, "cpu=4 memory=8Gi nvidia.com/gpu=1", amounts(got))
	got["cpu"] = quantity(9)
	assert.Equal(t, "cpu=4 memory=16Gi", amounts(it.Capacity), "the caller owns the result")
	assert.Empty(t, (&instancetypes.InstanceType{}).CapacityOf(offerings.Offering{}))
	assert.NotNil(t, (&instancetypes.InstanceType{}).CapacityOf(offerings.Offering{}))
}
