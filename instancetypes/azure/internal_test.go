package azure

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// The figures are those of AKS's documentation of reserved resources before Kubernetes 1.29.
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

func TestPlaces(t *testing.T) {
	zone, labels := place("eastus", facts.Zone{Letter: '2'}, offerings.OnDemand)
	assert.Equal(t, "eastus-2", zone)
	assert.Equal(t, map[string]string{"karpenter.azure.com/placement-scope": "zonal", "kubernetes.azure.com/scalesetpriority": "regular"}, labels)
	zone, labels = place("westus", facts.Zone{Letter: '0'}, offerings.Spot)
	assert.Equal(t, "0", zone)
	assert.Equal(t, map[string]string{"karpenter.azure.com/placement-scope": "regional", "kubernetes.azure.com/scalesetpriority": "spot"}, labels)
}
