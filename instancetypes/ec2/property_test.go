package ec2_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

const group = "karpenter.k8s.aws/instance-"

// Each region is decoded once for all rules that hold in every region.
func TestEveryRegion(t *testing.T) {
	for _, region := range ec2.Regions() {
		t.Run(region, func(t *testing.T) {
			catalog, err := ec2.Catalog(region)
			require.NoError(t, err, "the catalog is validated when it is made")
			require.Greater(t, catalog.Len(), 150)
			for it := range catalog.All() {
				checkRoom(t, it)
				checkOfferings(t, region, it)
				checkLabels(t, region, it)
				checkAcceleratorLabels(t, it)
			}
		})
	}
}

// checkRoom: there is room for pods, and no more than the machine has.
func checkRoom(t *testing.T, it *instancetypes.InstanceType) {
	t.Helper()
	allocatable := it.Allocatable()
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods} {
		q := allocatable[name]
		require.Positive(t, q.MilliValue(), "%s %s", it.Name, name)
		capacity := it.Capacity[name]
		require.LessOrEqual(t, q.Cmp(capacity), 0, "%s %s", it.Name, name)
	}
}

// checkOfferings: a type is sold, each offering in a zone of the region, at prices
// that make sense together.
func checkOfferings(t *testing.T, region string, it *instancetypes.InstanceType) {
	t.Helper()
	require.NotEmpty(t, it.Offerings, it.Name)
	prices := map[string]offerings.Price{}
	spot := offerings.Price(0)
	for _, o := range it.Offerings {
		require.Positive(t, o.Price, "%s %s", it.Name, o.Zone)
		letter := strings.TrimPrefix(o.Zone, region)
		require.True(t, len(letter) == 1 && letter >= "a" && letter <= "f", "%s %s", it.Name, o.Zone)
		if id, ok := o.Labels["topology.k8s.aws/zone-id"]; ok {
			require.True(t, strings.HasSuffix(id, "-az"+strconv.Itoa(int(letter[0]-'a'+1))), "%s: zone %s has id %s", it.Name, o.Zone, id)
		} else {
			require.Contains(t, o.Estimated, "unavailable", "%s: only assumed zones have no id", it.Name)
		}
		switch o.CapacityType {
		case offerings.OnDemand:
			prices[o.Zone] = o.Price
		case offerings.Spot:
			require.Contains(t, prices, o.Zone, "%s: spot without on-demand, or before it", it.Name)
			// In some zones spot costs as much as on demand.
			require.LessOrEqual(t, o.Price, prices[o.Zone]+prices[o.Zone]/2, "%s %s", it.Name, o.Zone)
			require.Contains(t, []float64{0.025, 0.075, 0.125, 0.175, 0.25}, o.InterruptionRate, it.Name)
			require.Contains(t, []offerings.Price{0, o.Price}, spot, "%s: no source has spot prices by zone", it.Name)
			require.Contains(t, o.Estimated, "price", it.Name)
			spot = o.Price
		default:
			t.Fatalf("%s is sold as %s", it.Name, o.CapacityType)
		}
	}
}

// checkLabels: labels agree with the name and with the capacity.
func checkLabels(t *testing.T, region string, it *instancetypes.InstanceType) {
	t.Helper()
	label := func(name string) string { return it.Labels[group+name] }
	family, size, _ := strings.Cut(it.Name, ".")
	require.Equal(t, family, label("family"))
	require.Equal(t, size, label("size"))
	require.Equal(t, it.Name, it.Labels[corev1.LabelInstanceTypeStable])
	require.Equal(t, "linux", it.Labels[corev1.LabelOSStable])
	require.Equal(t, region, it.Labels[corev1.LabelTopologyRegion])
	require.True(t, strings.HasPrefix(family, label("category")) && label("category") != "", it.Name)
	require.Contains(t, family[len(label("category")):], label("generation"))
	generation, err := strconv.Atoi(label("generation"))
	require.NoError(t, err, it.Name)
	require.Positive(t, generation, it.Name)
	require.Contains(t, []string{"intel", "amd", "aws"}, label("cpu-manufacturer"), it.Name)
	require.Equal(t, it.Labels[corev1.LabelArchStable] == "arm64", label("cpu-manufacturer") == "aws", it.Name)
	require.Equal(t, strings.Contains(size, "metal"), label("hypervisor") == "", it.Name)
	require.Equal(t, strconv.FormatInt(amount(it.Capacity, corev1.ResourceCPU), 10), label("cpu"), it.Name)

	// Memory is that of the label less 7.5 % and, on arm64, 64 MiB (A16).
	advertised, err := strconv.ParseInt(label("memory"), 10, 64)
	require.NoError(t, err)
	seen := amount(it.Capacity, corev1.ResourceMemory) >> 20
	require.Less(t, seen, advertised)
	require.InDelta(t, float64(advertised)*0.925, float64(seen), 66, it.Name)
}

func checkAcceleratorLabels(t *testing.T, it *instancetypes.InstanceType) {
	t.Helper()
	found := accelerators(it)
	for resource, prefix := range map[corev1.ResourceName]string{
		"nvidia.com/gpu": "gpu-", "amd.com/gpu": "gpu-", "habana.ai/gaudi": "gpu-", "aws.amazon.com/neuron": "accelerator-",
	} {
		n, ok := found[resource]
		if !ok {
			continue
		}
		require.Equal(t, strconv.FormatInt(n, 10), it.Labels[group+prefix+"count"], it.Name)
		require.NotEmpty(t, it.Labels[group+prefix+"name"], it.Name)
		require.NotEmpty(t, it.Labels[group+prefix+"manufacturer"], it.Name)
		if prefix == "gpu-" {
			require.NotEmpty(t, it.Labels[group+"gpu-memory"], it.Name)
		}
	}
	if len(found) == 0 {
		for key := range it.Labels {
			require.NotContains(t, key, "instance-gpu-", it.Name)
			require.NotContains(t, key, "instance-accelerator-", it.Name)
		}
	}
}

// Within a family, larger sizes have more of everything and cost more on demand, and
// sizes of n xlarge have n times the cores and the memory of an xlarge.
func TestSizesScale(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	families := 0
	for it := range catalog.All() {
		family, size, _ := strings.Cut(it.Name, ".")
		n, err := strconv.ParseInt(strings.TrimSuffix(size, "xlarge"), 10, 64)
		small, ok := catalog.Get(family + ".xlarge")
		if err != nil || !ok || !scales(it.Labels) {
			continue
		}
		families++
		assert.Equal(t, n*amount(small.Capacity, corev1.ResourceCPU), amount(it.Capacity, corev1.ResourceCPU), it.Name)
		memory := func(it *instancetypes.InstanceType) int64 {
			m, err := strconv.ParseInt(it.Labels[group+"memory"], 10, 64)
			require.NoError(t, err)
			return m
		}
		// c5n.18xlarge has 192 GiB for 189.
		assert.InEpsilon(t, n*memory(small), memory(it), 0.02, it.Name)
		assert.Greater(t, it.Offerings[0].Price, small.Offerings[0].Price, it.Name)
	}
	assert.Greater(t, families, 400)
}

// scales reports whether a family keeps the rule. c4.8xlarge and its like do not.
func scales(labels map[string]string) bool {
	generation, err := strconv.Atoi(labels[group+"generation"])
	return err == nil && generation >= 5 && slices.Contains([]string{"c", "m", "r", "x"}, labels[group+"category"])
}

func TestEmbeddedDataStaysSmall(t *testing.T) {
	total := 0
	for _, pkg := range []string{".", "../azure", "../gcp"} {
		names, err := filepath.Glob(filepath.Join(pkg, "data", "*"))
		require.NoError(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(data), 40_000, name)
			total += len(data)
		}
	}
	assert.Positive(t, total)
	assert.LessOrEqual(t, total, 1_000_000)
}
