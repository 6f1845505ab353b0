package azure_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Rows that were compared by hand with Azure's price list and size descriptions.
func TestKnownSizes(t *testing.T) {
	catalog := azure.MustCatalog("eastus")
	for _, tt := range []struct {
		name           string
		vcpu, memory   int64
		arch           string
		gpu            string
		onDemand, spot string // spot empty if not sold
	}{
		{"Standard_B2s", 2, 4096, "amd64", "", "0.0416", ""},
		{"Standard_D2s_v3", 2, 8192, "amd64", "", "0.096", "0.014813"},
		{"Standard_D4s_v5", 4, 16384, "amd64", "", "0.192", "0.03744"},
		{"Standard_D8as_v5", 8, 32768, "amd64", "", "0.344", "0.051497"},
		{"Standard_D8ps_v5", 8, 32768, "arm64", "", "0.308", "0.04312"},
		{"Standard_D4pls_v6", 4, 8192, "arm64", "", "0.124", "0.01736"},
		{"Standard_E16s_v5", 16, 131072, "amd64", "", "1.008", "0.188294"},
		{"Standard_F8s_v2", 8, 16384, "amd64", "", "0.338", "0.057257"},
		{"Standard_NC6s_v3", 6, 114688, "amd64", "nvidia.com/gpu 1 V100", "3.06", "0.4284"},
		{"Standard_NC4as_T4_v3", 4, 28672, "amd64", "nvidia.com/gpu 1 T4", "0.526", "0.119981"},
		{"Standard_NC24ads_A100_v4", 24, 225280, "amd64", "nvidia.com/gpu 1 A100", "3.673", "0.860584"},
		{"Standard_ND96isr_H100_v5", 96, 1945600, "amd64", "nvidia.com/gpu 8 H100", "98.32", "62.9248"},
		{"Standard_NV36ads_A10_v5", 36, 450560, "amd64", "nvidia.com/gpu 1 A10", "3.2", "0.4704"},
		{"Standard_NV24ads_V710_v5", 24, 131072, "amd64", "amd.com/gpu 1 V710", "2", "0.476"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, ok := catalog.Get(tt.name)
			require.True(t, ok)
			cpu := it.Capacity[corev1.ResourceCPU]
			assert.Equal(t, tt.vcpu, cpu.Value())
			assert.Equal(t, strconv.FormatInt(tt.memory, 10), it.Labels["karpenter.azure.com/sku-memory"])
			assert.Equal(t, tt.arch, it.Labels[corev1.LabelArchStable])
			gpu := ""
			for _, name := range []corev1.ResourceName{"nvidia.com/gpu", "amd.com/gpu"} {
				if q, ok := it.Capacity[name]; ok {
					gpu = string(name) + " " + q.String() + " " + it.Labels["karpenter.azure.com/sku-gpu-name"]
				}
			}
			assert.Equal(t, tt.gpu, gpu)
			for _, zone := range []string{"eastus-1", "eastus-2", "eastus-3"} {
				o, ok := catalog.Lookup(offerings.Key{InstanceType: tt.name, Zone: zone, CapacityType: offerings.OnDemand})
				require.True(t, ok)
				assert.Equal(t, tt.onDemand, o.Price.String())
				assert.Equal(t, []string{"unavailable"}, o.Estimated)
				o, ok = catalog.Lookup(offerings.Key{InstanceType: tt.name, Zone: zone, CapacityType: offerings.Spot})
				require.Equal(t, tt.spot != "", ok)
				if ok {
					assert.Equal(t, tt.spot, o.Price.String())
				}
			}
		})
	}
}

func TestEverySize(t *testing.T) {
	catalog := azure.MustCatalog("eastus")
	require.Greater(t, catalog.Len(), 750)
	for it := range catalog.All() {
		require.NoError(t, it.Validate())
		label := func(name string) string { return it.Labels["karpenter.azure.com/sku-"+name] }
		require.Equal(t, it.Name, label("name"))
		require.True(t, strings.HasPrefix(it.Name, "Standard_"+label("family")) && label("family") != "", it.Name)
		require.Regexp(t, `^\d+$`, label("version"), it.Name)
		require.NotEmpty(t, label("series"), it.Name)
		require.Equal(t, label("cpu"), it.Labels["kubernetes.azure.com/sku-cpu"])
		require.Equal(t, label("memory"), it.Labels["kubernetes.azure.com/sku-memory"])
		require.Equal(t, "eastus", it.Labels[corev1.LabelTopologyRegion])
		require.Equal(t, label("gpu-count") != "0", label("gpu-name") != "", it.Name)

		cpu, memory := it.Capacity[corev1.ResourceCPU], it.Capacity[corev1.ResourceMemory]
		require.Equal(t, label("cpu"), cpu.String(), it.Name)
		advertised, err := strconv.ParseFloat(label("memory"), 64)
		require.NoError(t, err)
		require.InDelta(t, advertised*0.925, float64(memory.Value()>>20), 1.01, it.Name)
		for name, q := range it.Allocatable() {
			require.Positive(t, q.MilliValue(), "%s %s", it.Name, name)
		}
		onDemand := offerings.Price(0)
		for _, o := range it.Offerings {
			require.Positive(t, o.Price, it.Name)
			if o.CapacityType == offerings.OnDemand {
				onDemand = o.Price
			} else {
				require.LessOrEqual(t, o.Price, onDemand, it.Name)
			}
			require.Zero(t, o.InterruptionRate)
		}
	}
}

// Each region is decoded once for all rules that hold in every region.
func TestEveryRegion(t *testing.T) {
	for _, region := range azure.Regions() {
		catalog, err := azure.Catalog(region)
		require.NoError(t, err, "the catalog is validated when it is made")
		require.Greater(t, catalog.Len(), 400, region)
		for it := range catalog.All() {
			require.Equal(t, region, it.Labels[corev1.LabelTopologyRegion])
			require.Contains(t, []int{1, 2, 3, 6}, len(it.Offerings), "in no zone or in three, on demand and as spot")
			onDemand := it.Offerings[0]
			require.Equal(t, offerings.OnDemand, onDemand.CapacityType)
			for _, o := range it.Offerings {
				require.LessOrEqual(t, o.Price, onDemand.Price, it.Name)
				require.Equal(t, o.Zone == "0", o.Labels["karpenter.azure.com/placement-scope"] == "regional")
				require.True(t, o.Zone == "0" || strings.HasPrefix(o.Zone, region+"-"), o.Zone)
			}
		}
	}
}

func TestNamesAreRead(t *testing.T) {
	catalog := azure.MustCatalog("eastus")
	for name, want := range map[string][3]string{ // family, series, version
		"Standard_D8as_v5":         {"D", "Das_v5", "5"},
		"Standard_D2":              {"D", "D", "1"},
		"Standard_DS3_v2":          {"D", "DS_v2", "2"},
		"Standard_NC24ads_A100_v4": {"N", "NCads_v4", "4"},
		"Standard_ND96asr_v4":      {"N", "NDasr_v4", "4"},
		"Standard_M96ds_1_v3":      {"M", "Mds_v3", "3"},
		"Standard_M416s_8_v2":      {"M", "Ms_v2", "2"},
		"Standard_HB120rs_v3":      {"H", "HBrs_v3", "3"},
		"Standard_E96bds_v5":       {"E", "Ebds_v5", "5"},
	} {
		it, ok := catalog.Get(name)
		require.True(t, ok, name)
		got := [3]string{}
		for i, key := range []string{"family", "series", "version"} {
			got[i] = it.Labels["karpenter.azure.com/sku-"+key]
		}
		assert.Equal(t, want, got, name)
	}
}

func TestOverhead(t *testing.T) {
	it, ok := azure.MustCatalog("eastus").Get("Standard_D8as_v5")
	require.True(t, ok)
	for _, tt := range []struct {
		got  resource.Quantity
		want string
	}{
		{it.Capacity[corev1.ResourceMemory], "30310Mi"},             // 32768 − ⌈2457.6⌉
		{it.Overhead.KubeReserved[corev1.ResourceMemory], "3645Mi"}, // 1024 + 819.2 + 819.2 + 983.04
		{it.Overhead.KubeReserved[corev1.ResourceCPU], "180m"},      // 60 + 40 + 40 + 40
		{it.Overhead.EvictionThreshold[corev1.ResourceMemory], "750Mi"},
		{it.Capacity[corev1.ResourcePods], "110"},
		{it.Capacity[corev1.ResourceEphemeralStorage], "128G"},
	} {
		want := resource.MustParse(tt.want)
		assert.Zero(t, want.Cmp(tt.got), "want %s, got %s", tt.want, tt.got.String())
	}
}

func TestSizesThatAreLeftOut(t *testing.T) {
	catalog := azure.MustCatalog("eastus")
	for _, name := range []string{
		"Standard_B1s", "Basic_A1", // too small
		"Standard_DC8ads_v5",                                // confidential
		"Standard_E16-4ads_v5",                              // constrained cores
		"Standard_NV6ads_A10_v5", "Standard_NV4ads_V710_v5", // shares of a GPU
		"Standard_NC6", "Standard_D2s", // withdrawn; never was
		"Standard_E96nds_v4", "Standard_NV28ads_v710_v5", // misspelled in the price list
	} {
		_, ok := catalog.Get(name)
		assert.False(t, ok, name)
	}
}

func TestRegions(t *testing.T) {
	assert.Len(t, azure.Regions(), 57)
	_, err := azure.Catalog("westus9")
	require.EqualError(t, err, `azure region "westus9": no such catalog; close names are westus, westus2, westus3`)
	assert.Panics(t, func() { azure.MustCatalog("") })
}

func TestProvenance(t *testing.T) {
	list := azure.MustCatalog("eastus").Provenance()
	require.Len(t, list, 5)
	assert.Equal(t, "github.com/Azure/karpenter-provider-azure@352646f59929", list[0].Source)
	assert.Equal(t, "2026-06-18", list[0].Date)
	assert.Equal(t, []offerings.CapacityType{offerings.OnDemand}, list[0].Prices)
	assert.Equal(t, "github.com/cristim/ec2-instances-info@v0.0.0-20250528091325-32acf84f42eb", list[1].Source)
	assert.Equal(t, "2025-05-28", list[1].Date)
	assert.Contains(t, list[1].Covers, "spot prices of 713 sizes of")
	assert.Contains(t, list[1].Covers, "on-demand prices of 28 sizes of which the newer list has that of Windows")
	assert.Contains(t, list[4].Covers, "110 pods")
	list = azure.MustCatalog("polandcentral").Provenance()
	assert.Contains(t, list[1].Covers, "spot prices of 0 sizes of")
	assert.Empty(t, list[1].Prices)
}
