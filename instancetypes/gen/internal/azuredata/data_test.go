package azuredata

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func price(onDemand, spot source.Decimal) source.AzureRegionalPrice {
	return source.AzureRegionalPrice{Linux: &struct {
		OnDemand source.Decimal `json:"ondemand"`
		Spot     source.Decimal `json:"spot_min"`
	}{onDemand, spot}}
}

func shape(cores int64) source.AzureShape {
	return source.AzureShape{VCPU: cores, MemoryMb: 4096 * cores, Architecture: "amd64"}
}

func input() source.Azure {
	return source.Azure{
		Prices: map[string]map[string]json.Number{
			"eastus": {"Standard_D2as_v5": "0.178", "Standard_D4as_v5": "0.172", "Standard_D8s_v5": "0.384", "Standard_D4-2s_v5": "0.1", "Standard_D64s_v5": "0"},
			"westus": {"Standard_D2as_v5": "0.19", "Standard_D4as_v5": "0.196", "Standard_D8s_v5": "0.448"},
		},
		Shapes: map[string]source.AzureShape{
			"Standard_D2as_v5": shape(2), "Standard_D4as_v5": shape(4), "Standard_D8s_v5": shape(8), "Standard_D64s_v5": shape(64),
			"Standard_D4-2s_v5": shape(2), "Standard_B1s": shape(1), "Standard_DC4as_v5": shape(4), "Basic_A2": shape(2),
			"Standard_NC6s_v3": {VCPU: 6, MemoryMb: 114688, GPU: 1, Architecture: "amd64"}, "Standard_NV6ads_A10_v5": {VCPU: 6, MemoryMb: 55000, GPU: 1, Architecture: "amd64"},
			"Standard_NG8ads_V620_v1": {VCPU: 8, MemoryMb: 16384, GPU: 1, Architecture: "amd64"},
		},
		GPUMakers: map[string]string{"standard_nc6s_v3": "nvidia", "standard_nv6ads_a10_v5": "nvidia"},
		Zones:     map[string]int{"eastus": 2},
	}
}

func described() []source.Size {
	yes := true
	return []source.Size{
		{Name: "Standard D2as v5", AcceleratedNetworking: &yes, Pricing: map[string]source.AzureRegionalPrice{"us-east": price("0.086", "0.02")}},
		{Name: "D8s v5", Pricing: map[string]source.AzureRegionalPrice{"us-east": price("0.38", "0.5"), "us-west": price("0.44", "0.1")}},
		{Name: "NC6s v3", GPU: "1X V100"},
		{Name: "NV6ads A10 v5", GPU: "1/6X A10"},
	}
}

func TestBuild(t *testing.T) {
	in := input()
	in.Prices["eastus"]["Standard_NC6s_v3"] = "3.06"
	shapes, regions, leftOut, err := Build(in, described(), facts.Sources{})
	require.NoError(t, err)
	p := offerings.MustPrice
	assert.Equal(t, []facts.Region{
		{Name: "eastus", Zones: []facts.Zone{{Letter: '1'}, {Letter: '2'}}, Rows: []facts.Row{
			{Type: "Standard_D2as_v5", OnDemand: p("0.086"), List: facts.FormerList, Zones: "12", Assumed: true, Spot: p("0.02")},
			{Type: "Standard_D4as_v5", OnDemand: p("0.172"), Zones: "12", Assumed: true},
			{Type: "Standard_D8s_v5", OnDemand: p("0.384"), Zones: "12", Assumed: true}, // its spot price is above that on demand
			{Type: "Standard_NC6s_v3", OnDemand: p("3.06"), Zones: "12", Assumed: true},
		}},
		{Name: "westus", Zones: []facts.Zone{{Letter: '0'}}, Rows: []facts.Row{
			{Type: "Standard_D4as_v5", OnDemand: p("0.196"), Zones: "0", Assumed: true},
			{Type: "Standard_D8s_v5", OnDemand: p("0.448"), Zones: "0", Assumed: true, Spot: p("0.1")},
		}},
	}, regions)
	assert.Equal(t, []facts.Shape{
		{Name: "Standard_D2as_v5", VCPU: 2, MemoryMiB: 8192, Arch: "amd64", PremiumDisks: "true", AcceleratedNetworking: "true"},
		{Name: "Standard_D4as_v5", VCPU: 4, MemoryMiB: 16384, Arch: "amd64", PremiumDisks: "true"},
		{Name: "Standard_D8s_v5", VCPU: 8, MemoryMiB: 32768, Arch: "amd64", PremiumDisks: "true"},
		{Name: "Standard_NC6s_v3", VCPU: 6, MemoryMiB: 114688, Arch: "amd64", PremiumDisks: "true", Accelerator: facts.Accelerator{Resource: "nvidia.com/gpu", Name: "V100", Maker: "nvidia", Count: 1}},
	}, shapes.List)
	reasons := map[string]string{}
	for _, text := range leftOut {
		size, reason, _ := strings.Cut(text, ": ")
		reasons[size] = reason
	}
	for size, want := range map[string]string{
		"Standard_D2as_v5 in westus": "that of Windows", "Standard_D4-2s_v5": "fewer cores", "Standard_B1s": "too small", "Standard_DC4as_v5": "confidential",
		"Basic_A2": "Standard tier", "Standard_NV6ads_A10_v5": "a share of one", "Standard_NG8ads_V620_v1": "does not support", "Standard_D64s_v5": "no region has a price",
	} {
		assert.Contains(t, reasons[size], want, size)
	}
	in.Prices["eastus"]["Standard_D4as_v5"] = "-1"
	_, _, _, err = Build(in, nil, facts.Sources{})
	require.ErrorContains(t, err, "Standard_D4as_v5 in eastus: price")
}

func TestNames(t *testing.T) {
	for from, want := range map[string]string{
		"Standard D8as v5": "Standard_D8as_v5",
		"D8as v6":          "Standard_D8as_v6",
		"M96ds1 v3":        "Standard_M96ds_1_v3",
		"M416s_8_v2":       "Standard_M416s_8_v2",
		"NV12ads v710 v5":  "Standard_NV12ads_V710_v5",
		"NV28ads v710 v5":  "Standard_NV28adms_V710_v5",
		"ND96asr A100 v4":  "Standard_ND96asr_v4",
		"E96nds v4":        "Standard_E96nds_v6",
	} {
		assert.Equal(t, want, skuName(from), from)
	}
}

func TestGPUs(t *testing.T) {
	for text, want := range map[string]struct {
		count int64
		model string
		whole bool
	}{
		"": {0, "", true}, "0": {0, "", true}, "1X V100": {1, "V100", true}, "8X V100 (NVlink)": {8, "V100", true}, "1 V710": {1, "V710", true},
		"1/2X A10": {}, "1/8th MI25 (2GB VRAM)": {}, "1x ASIC VPU": {}, "0 V100": {0, "V100", false},
	} {
		count, model, whole := gpusOf(source.Size{GPU: text})
		assert.Equal(t, want.count, count, text)
		assert.Equal(t, want.model, model, text)
		assert.Equal(t, want.whole, whole, text)
	}
}
