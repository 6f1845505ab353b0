package azuredata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func size(name string, change func(*source.Size)) source.Size {
	s := source.Size{Key: name, Name: name, VCPU: 4, MemoryGiB: 16, GPU: "0"}
	s.Pricing = map[string]source.AzureRegionalPrice{"us-east": price("0.2", "0.05")}
	if change != nil {
		change(&s)
	}
	return s
}

func price(onDemand, spot source.Decimal) source.AzureRegionalPrice {
	return source.AzureRegionalPrice{Linux: &struct {
		OnDemand source.Decimal `json:"ondemand"`
		Spot     source.Decimal `json:"spot_min"`
	}{onDemand, spot}}
}

func buildAll(t *testing.T, sizes ...source.Size) (azurefacts.Region, []LeftOut) {
	t.Helper()
	g, leftOut, err := Build(Input{Sizes: sizes, Region: "eastus", PriceKey: "us-east", Zones: 3, Module: "m@v1", Date: "2025-05-28"})
	require.NoError(t, err)
	require.NoError(t, g.Validate())
	return g, leftOut
}

func TestBuild(t *testing.T) {
	yes, no := true, false
	g, leftOut := buildAll(t,
		size("Standard D4s v5", func(s *source.Size) {
			s.Arch, s.PremiumIO, s.AcceleratedNetworking = []string{"x64"}, &yes, &no
		}),
		size("D4pls v6", func(s *source.Size) {
			s.MemoryGiB = 3.5
			s.Pricing["us-east"] = price("0.124", "")
		}),
		size("Standard D4 v9", func(s *source.Size) { s.Pricing = nil }),
	)
	assert.Empty(t, leftOut)
	assert.Equal(t, azurefacts.Region{
		Name: "eastus", Zones: 3, Module: "m@v1", Date: "2025-05-28",
		Sizes: []azurefacts.Size{
			{Name: "Standard_D4pls_v6", VCPU: 4, MemoryMiB: 3584, Arch: "arm64", PremiumDisks: "true", OnDemand: offerings.MustPrice("0.124")},
			{
				Name: "Standard_D4s_v5", VCPU: 4, MemoryMiB: 16384, Arch: "amd64", PremiumDisks: "true", AcceleratedNetworking: "false",
				OnDemand: offerings.MustPrice("0.2"), Spot: offerings.MustPrice("0.05"),
			},
		},
	}, g)
}

func TestNames(t *testing.T) {
	for from, want := range map[string]string{
		"Standard D8as v5":         "Standard_D8as_v5",
		"D8as v6":                  "Standard_D8as_v6",
		"Standard B2s":             "Standard_B2s",
		"M96ds1 v3":                "Standard_M96ds_1_v3",
		"M832ids16 v3":             "Standard_M832ids_16_v3",
		"M416s_8_v2":               "Standard_M416s_8_v2",
		"M128s v2":                 "Standard_M128s_v2",
		"NV12ads v710 v5":          "Standard_NV12ads_V710_v5",
		"NV28ads v710 v5":          "Standard_NV28adms_V710_v5",
		"ND96asr A100 v4":          "Standard_ND96asr_v4",
		"ND96amsr A100 v4":         "Standard_ND96amsr_A100_v4",
		"Standard NC24ads A100 v4": "Standard_NC24ads_A100_v4",
		"E96nds v4":                "Standard_E96nds_v6",
	} {
		got, reason := skuName(source.Size{Name: from})
		assert.Equal(t, want, got, from)
		assert.Empty(t, reason, from)
	}
	for from, want := range map[string]string{
		"Basic A1": "Basic tier", "E16-4ads v5": "fewer cores", "Standard DC8ads v5": "confidential", "Standard EC8ads v5": "confidential",
		"D2s": "no longer", "Standard NC24r": "no longer", "Standard NC24rs v2": "no longer", "Standard NV12": "no longer", "H16mr": "no longer",
		"M896ixds32 v3": "no longer",
	} {
		name, reason := skuName(source.Size{Name: from})
		assert.Empty(t, name, from)
		assert.Contains(t, reason, want, from)
	}
}

func TestGPUs(t *testing.T) {
	for text, want := range map[string]azurefacts.Size{
		"0":                {},
		"1X V100":          {GPUs: 1, GPUName: "V100", GPUMaker: "nvidia"},
		"8X V100 (NVlink)": {GPUs: 8, GPUName: "V100", GPUMaker: "nvidia"},
		"8x H100":          {GPUs: 8, GPUName: "H100", GPUMaker: "nvidia"},
		"1 V710":           {GPUs: 1, GPUName: "V710", GPUMaker: "amd"},
		"8x MI300X":        {GPUs: 8, GPUName: "MI300X", GPUMaker: "amd"},
	} {
		var got azurefacts.Size
		assert.Empty(t, setGPU(&got, text))
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"1/2X A10", "1/6 V710", "1/8th MI25 (2GB VRAM)", "1x ASIC VPU", "1X K80", "1", "", "0 V100", "99999999999999999999 V100"} {
		var got azurefacts.Size
		assert.NotEmpty(t, setGPU(&got, text), text)
		assert.Equal(t, azurefacts.Size{}, got)
	}
}

func TestLeftOutAndErrors(t *testing.T) {
	_, leftOut := buildAll(t,
		size("Standard B1s", func(s *source.Size) { s.VCPU = 1 }),
		size("Standard B2ts v2", func(s *source.Size) { s.MemoryGiB = 1 }),
		size("S96", func(s *source.Size) { s.Pricing["us-east"] = price("", "") }),
		size("NV6ads A10 v5", func(s *source.Size) { s.GPU = "1/6X A10" }),
	)
	var names []string
	for _, l := range leftOut {
		names = append(names, l.Size)
	}
	assert.Equal(t, []string{"NV6ads A10 v5", "S96", "Standard B1s", "Standard B2ts v2"}, names)

	_, _, err := Build(Input{PriceKey: "us-east", Sizes: []source.Size{
		size("D4 v5", func(s *source.Size) { s.Arch = []string{"Mips"} }),
		size("D8 v5", func(s *source.Size) { s.Pricing["us-east"] = price("-1", "") }),
		size("D16 v5", func(s *source.Size) { s.Pricing["us-east"] = price("1", "-1") }),
	}})
	for _, want := range []string{"D4 v5: architecture [Mips] is not known", "D8 v5: price", "D16 v5: price"} {
		require.ErrorContains(t, err, want)
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"Standard D8as v5", "M96ds1 v3", "ND96asr A100 v4", "Basic A1", "E16-4ads v5", ""} {
		f.Add(name, "4X V100")
	}
	f.Fuzz(func(t *testing.T, name, gpu string) {
		sku, reason := skuName(source.Size{Name: name})
		assert.Equal(t, sku == "", reason != "", "a name or a reason")
		assert.NotContains(t, sku, " ")
		var s azurefacts.Size
		if setGPU(&s, gpu) != "" {
			assert.Equal(t, azurefacts.Size{}, s)
		} else {
			assert.Equal(t, s.GPUs > 0, s.GPUMaker != "")
		}
	})
}
