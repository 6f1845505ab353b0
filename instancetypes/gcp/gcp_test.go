package gcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func get(t *testing.T, region, name string) *instancetypes.InstanceType {
	t.Helper()
	it, ok := gcp.MustCatalog(region).Get(name)
	require.True(t, ok, name)
	return it
}

func TestRegions(t *testing.T) {
	assert.Len(t, gcp.Regions(), 43)
	_, err := gcp.Catalog("us-east-1")
	require.EqualError(t, err, `gcp region "us-east-1": no such catalog; close names are us-east1, us-east4, us-east5`)
	assert.Panics(t, func() { gcp.MustCatalog("") })
}

// Each region is decoded once for all rules that hold in every region.
func TestEveryRegion(t *testing.T) {
	for _, region := range gcp.Regions() {
		catalog, err := gcp.Catalog(region)
		require.NoError(t, err, "the catalog is validated when it is made")
		require.Greater(t, catalog.Len(), 90, region)
		for it := range catalog.All() {
			require.Equal(t, region, it.Labels[corev1.LabelTopologyRegion])
			family, _, _ := strings.Cut(it.Name, "-")
			require.Equal(t, family, it.Labels["cloud.google.com/machine-family"])
			require.Equal(t, family, it.Labels["karpenter.k8s.gcp/instance-family"])
			require.Regexp(t, `^\d$`, it.Labels["karpenter.k8s.gcp/instance-generation"], it.Name)
			require.NotEmpty(t, it.Labels["karpenter.k8s.gcp/instance-size"], it.Name)
			gpus, cpu := it.Capacity["nvidia.com/gpu"], it.Capacity[corev1.ResourceCPU]
			require.Equal(t, cpu.String(), it.Labels["karpenter.k8s.gcp/instance-cpu"])
			require.Equal(t, gpus.IsZero(), it.Labels["cloud.google.com/gke-accelerator"] == "", it.Name)
			for name, q := range it.Allocatable() {
				require.Positive(t, q.MilliValue(), "%s %s", it.Name, name)
			}
			onDemand := offerings.Price(0)
			for _, o := range it.Offerings {
				require.Positive(t, o.Price)
				require.Equal(t, region, o.Zone[:len(o.Zone)-2])
				require.Equal(t, o.CapacityType == offerings.Spot, o.Labels["cloud.google.com/gke-spot"] == "true")
				if o.CapacityType == offerings.OnDemand {
					onDemand = o.Price
				} else {
					require.LessOrEqual(t, o.Price, onDemand, it.Name)
				}
			}
		}
	}
}

// The labels that Karpenter's provider for Google Cloud computes.
func TestLabels(t *testing.T) {
	for name, want := range map[string][5]string{ // family, shape, generation, size, arch
		"n2d-standard-8":       {"n2d", "standard", "2", "8", "amd64"},
		"e2-medium":            {"e2", "medium", "2", "medium", "amd64"},
		"c4a-standard-16-lssd": {"c4a", "standard", "4", "16", "arm64"},
		"g2-standard-12":       {"g2", "standard", "2", "12", "amd64"},
	} {
		it := get(t, "us-central1", name)
		got := [5]string{4: it.Labels[corev1.LabelArchStable]}
		for i, key := range []string{"family", "shape", "generation", "size"} {
			got[i] = it.Labels["karpenter.k8s.gcp/instance-"+key]
		}
		assert.Equal(t, want, got, name)
	}
	g2 := get(t, "us-central1", "g2-standard-24")
	assert.Equal(t, "nvidia-l4", g2.Labels["cloud.google.com/gke-accelerator"])
	assert.Equal(t, "2", g2.Labels["karpenter.k8s.gcp/instance-gpu-count"])
	n2 := get(t, "us-central1", "n2-standard-4")
	assert.Equal(t, "true", n2.Labels["disk-type.gke.io/pd-balanced"])
	assert.NotContains(t, n2.Labels, "disk-type.gke.io/hyperdisk-ml")
}

// The figures are those of GKE's documentation of reserved resources, as Karpenter's provider for Google Cloud computes
// them.
func TestOverhead(t *testing.T) {
	it := get(t, "us-central1", "n2-standard-4")
	micro := get(t, "us-central1", "e2-medium")
	local := get(t, "us-central1", "c3-standard-8-lssd")
	for _, tt := range []struct {
		got  resource.Quantity
		want string
	}{
		{it.Capacity[corev1.ResourceMemory], "15977278342"},         // less 7 %, rounded up
		{it.Overhead.KubeReserved[corev1.ResourceCPU], "80m"},       // 60 + 10 + 5 + 5
		{it.Overhead.SystemReserved[corev1.ResourceCPU], "100m"},    // kube-proxy
		{it.Overhead.KubeReserved[corev1.ResourceMemory], "2662Mi"}, // 1024 + 819 + 819
		{it.Overhead.EvictionThreshold[corev1.ResourceMemory], "100Mi"},
		{it.Capacity[corev1.ResourceEphemeralStorage], "100Gi"},
		{it.Overhead.KubeReserved[corev1.ResourceEphemeralStorage], "41Gi"}, // 35 % and 6 GiB
		{it.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage], "10Gi"},
		{it.Capacity[corev1.ResourcePods], "110"},
		{micro.Overhead.KubeReserved[corev1.ResourceCPU], "1060m"},
		{local.Capacity[corev1.ResourceEphemeralStorage], "750Gi"},
		{local.Overhead.KubeReserved[corev1.ResourceEphemeralStorage], "75Gi"}, // two disks
	} {
		want := resource.MustParse(tt.want)
		assert.Zero(t, want.Cmp(tt.got), "want %s, got %s", tt.want, tt.got.String())
	}
}

func TestZonesAndWhatIsLeftOut(t *testing.T) {
	zones := func(region, name string) (zones []string, estimated bool) {
		for _, o := range get(t, region, name).Offerings {
			if o.CapacityType == offerings.OnDemand {
				zones, estimated = append(zones, o.Zone), len(o.Estimated) > 0
			}
		}
		return zones, estimated
	}
	got, estimated := zones("us-central1", "a2-ultragpu-1g")
	assert.Equal(t, []string{"us-central1-a", "us-central1-c"}, got)
	assert.False(t, estimated)
	got, estimated = zones("us-east1", "n4-standard-2")
	assert.Equal(t, []string{"us-east1-b", "us-east1-c", "us-east1-d"}, got)
	assert.True(t, estimated, "its zones are assumed")
	got, estimated = zones("africa-south1", "e2-standard-2")
	assert.Len(t, got, 3)
	assert.True(t, estimated)
	for _, name := range []string{"f1-micro", "g1-small", "g4-standard-6", "custom-1-7680-ext", "n1-standard-4-t4"} {
		_, ok := gcp.MustCatalog("us-central1").Get(name)
		assert.False(t, ok, name)
	}
	_, ok := gcp.MustCatalog("africa-south1").Get("a2-highgpu-1g")
	assert.False(t, ok, "has a price there, and is not sold")
}

func TestProvenance(t *testing.T) {
	list := gcp.MustCatalog("europe-west1").Provenance()
	require.Len(t, list, 4)
	assert.Equal(t, "github.com/Cyclenerd/google-cloud-pricing-cost-calculator@fd66b26ff84f", list[0].Source)
	assert.Equal(t, "2026-07-30", list[0].Date)
	assert.Equal(t, "2023-05-02", list[1].Date)
	assert.Contains(t, list[1].Estimated[0], "offerings.zone of 315 types")
}
