package karpenter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// The catalog of the KWOK provider is read as its file would be.
func TestKWOK(t *testing.T) {
	r, err := KWOK()
	require.NoError(t, err)
	c, err := instancetypes.ReadKWOK(r)
	require.NoError(t, err)
	assert.Equal(t, 144, c.Len(), "three families of twelve sizes, two architectures, two systems")
	it, ok := c.Get("m-4x-arm64-linux")
	require.True(t, ok)
	assert.Equal(t, "4 32Gi", it.Capacity.Cpu().String()+" "+it.Capacity.Memory().String())
	assert.Equal(t, "arm64", it.Labels["kubernetes.io/arch"])
	assert.Equal(t, "linux", it.Labels["kubernetes.io/os"])
	sold := map[offerings.CapacityType]map[string]offerings.Price{offerings.Spot: {}, offerings.OnDemand: {}}
	for _, o := range it.Offerings {
		sold[o.CapacityType][o.Zone] = o.Price
	}
	assert.Len(t, sold[offerings.Spot], 4)
	assert.Len(t, sold[offerings.OnDemand], 4)
	for zone, price := range sold[offerings.Spot] {
		assert.Less(t, price, sold[offerings.OnDemand][zone])
	}
}
