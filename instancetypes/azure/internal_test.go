package azure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// The figures of AKS's documentation of what it reserves before Kubernetes 1.29.
func TestReservedByAKS(t *testing.T) {
	for cores, want := range map[int64]int64{0: 0, 1: 60, 2: 100, 4: 140, 8: 180, 16: 260, 32: 420, 64: 740} {
		assert.Equal(t, want, reservedCPU(cores*1000), "%d cores", cores)
	}
	for gib, want := range map[int64]int64{0: 0, 4: 1024, 7: 1638, 8: 1843, 16: 2662, 32: 3645, 64: 5611, 128: 9543, 256: 12165} {
		assert.Equal(t, want, reservedMemory(gib<<10), "%d GiB", gib)
	}
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]nameParts{
		"Standard_D8as_v5":          {"D", "Das_v5", "5"},
		"Standard_B2s":              {"B", "Bs", "1"},
		"Standard_NC80adis_H100_v5": {"N", "NCadis_v5", "5"},
		"Standard_M832ids_16_v3":    {"M", "Mids_v3", "3"},
		"Standard_FX96mds_v2":       {"F", "FXmds_v2", "2"},
		"Standard_D8as_v12":         {"D", "Das_v12", "12"},
		"Basic_A1":                  {},
		"Standard_":                 {},
		"D8as_v5":                   {},
		"Standard_E16-4ads_v5":      {},
	} {
		assert.Equal(t, want, parseName(name), name)
	}
}

func TestRegionsWithoutZones(t *testing.T) {
	size := &azurefacts.Size{Name: "Standard_D2s_v5", OnDemand: 9, Spot: 4}
	got := offered(size, azurefacts.Region{Name: "westus"})
	assert.Equal(t, []offerings.Offering{
		{Zone: "0", CapacityType: offerings.OnDemand, Price: 9, Estimated: []string{"unavailable"}},
		{Zone: "0", CapacityType: offerings.Spot, Price: 4, Estimated: []string{"unavailable"}},
	}, got)
	size.Spot = 0
	assert.Len(t, offered(size, azurefacts.Region{Name: "eastus", Zones: 3}), 3)
}

func TestFaultyRegionsAreRefused(t *testing.T) {
	_, err := build(azurefacts.Region{Name: "mars", Zones: 1, Sizes: []azurefacts.Size{{Name: "not a label!", VCPU: 0, OnDemand: 1}}})
	require.ErrorContains(t, err, "azure region mars: ")
	require.ErrorContains(t, err, "not a label!")
	require.ErrorContains(t, err, "capacity.cpu")
}
