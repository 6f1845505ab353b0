package ec2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
)

// A14: the labels of a node, complete, of one type of each kind.
func TestLabelsOfANode(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for _, tt := range []struct {
		name string
		want map[string]string
	}{
		{"m7i-flex.large", map[string]string{
			"category": "m", "family": "m7i-flex", "generation": "7", "size": "large", "capability-flex": "true",
			"cpu": "2", "cpu-manufacturer": "intel", "memory": "8192", "hypervisor": "nitro",
			"network-bandwidth": "390", "ebs-bandwidth": "10000",
		}},
		{"g5g.metal", map[string]string{
			"category": "g", "family": "g5g", "generation": "5", "size": "metal", "capability-flex": "false",
			"cpu": "64", "cpu-manufacturer": "aws", "memory": "131072",
			"network-bandwidth": "25000", "ebs-bandwidth": "19000",
			"gpu-name": "t4g", "gpu-manufacturer": "nvidia", "gpu-count": "2", "gpu-memory": "16384",
		}},
		{"inf1.6xlarge", map[string]string{
			"category": "inf", "family": "inf1", "generation": "1", "size": "6xlarge", "capability-flex": "false",
			"cpu": "24", "cpu-manufacturer": "intel", "memory": "49152", "hypervisor": "nitro",
			"network-bandwidth": "25000", "ebs-bandwidth": "4750",
			"accelerator-name": "inferentia", "accelerator-manufacturer": "aws", "accelerator-count": "4",
		}},
		{"g5.48xlarge", map[string]string{
			"category": "g", "family": "g5", "generation": "5", "size": "48xlarge", "capability-flex": "false",
			"cpu": "192", "cpu-manufacturer": "amd", "memory": "786432", "hypervisor": "nitro", "local-nvme": "7600",
			"network-bandwidth": "100000", "ebs-bandwidth": "19000",
			"gpu-name": "a10g", "gpu-manufacturer": "nvidia", "gpu-count": "8", "gpu-memory": "22888",
		}},
		{"dl1.24xlarge", map[string]string{
			"category": "dl", "family": "dl1", "generation": "1", "size": "24xlarge", "capability-flex": "false",
			"cpu": "96", "cpu-manufacturer": "intel", "memory": "786432", "hypervisor": "nitro", "local-nvme": "4000",
			"network-bandwidth": "400000", "ebs-bandwidth": "19000",
			"gpu-name": "gaudi-hl-205", "gpu-manufacturer": "habana", "gpu-count": "8", "gpu-memory": "32768",
		}},
		{"u-6tb1.112xlarge", map[string]string{
			"category": "u", "family": "u-6tb1", "generation": "1", "size": "112xlarge", "capability-flex": "false",
			"cpu": "448", "cpu-manufacturer": "intel", "memory": "6291456", "hypervisor": "nitro",
			"network-bandwidth": "100000", "ebs-bandwidth": "38000",
		}},
		{"u7i-12tb.224xlarge", map[string]string{
			"category": "u", "family": "u7i-12tb", "generation": "7", "size": "224xlarge", "capability-flex": "false",
			"cpu": "896", "cpu-manufacturer": "intel", "memory": "12582912", "hypervisor": "nitro",
			"network-bandwidth": "100000", "ebs-bandwidth": "100000",
		}},
		// Old: Xen, no bandwidth that EC2 puts a number on, disks that are not NVMe.
		{"m3.large", map[string]string{
			"category": "m", "family": "m3", "generation": "3", "size": "large", "capability-flex": "false",
			"cpu": "2", "cpu-manufacturer": "intel", "memory": "7680", "hypervisor": "xen",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, ok := catalog.Get(tt.name)
			require.True(t, ok)
			got := map[string]string{}
			for key, value := range it.Labels {
				if len(key) > len(group) && key[:len(group)] == group {
					got[key[len(group):]] = value
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// A16, A18, A20–A24: the resources that nodes reserve.
func TestOverheadOfANode(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for _, tt := range []struct {
		name                       string
		memory, kubeMemory, podENI string
		kubeCPU                    string
	}{
		{"t3.large", "7577Mi", "640Mi", "", "70m"},      // 8192 − ⌈614.4⌉; 11 × 35 + 255
		{"m5.large", "7577Mi", "574Mi", "9", "70m"},     // 29 pods
		{"c5.xlarge", "7577Mi", "893Mi", "18", "80m"},   // 58 pods
		{"m7g.large", "7518Mi", "574Mi", "9", "70m"},    // (8192 − 64) − ⌈609.6⌉
		{"m6idn.32xlarge", "", "4589Mi", "106", "390m"}, // 394 pods
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, ok := catalog.Get(tt.name)
			require.True(t, ok)
			if tt.memory != "" {
				assertQuantity(t, tt.memory, it.Capacity[corev1.ResourceMemory])
			}
			assertQuantity(t, tt.kubeCPU, it.Overhead.KubeReserved[corev1.ResourceCPU])
			assertQuantity(t, tt.kubeMemory, it.Overhead.KubeReserved[corev1.ResourceMemory])
			assertQuantity(t, "1Gi", it.Overhead.KubeReserved[corev1.ResourceEphemeralStorage])
			assertQuantity(t, "100Mi", it.Overhead.EvictionThreshold[corev1.ResourceMemory])
			assertQuantity(t, "2Gi", it.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage])
			assertQuantity(t, "20Gi", it.Capacity[corev1.ResourceEphemeralStorage])
			branches, ok := it.Capacity["vpc.amazonaws.com/pod-eni"]
			assert.Equal(t, tt.podENI != "", ok)
			if ok {
				assertQuantity(t, tt.podENI, branches)
			}
		})
	}
}

// A25: no more is promised than real nodes were seen to report.
func TestAllocatableStaysBelowWhatNodesReport(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for name, want := range map[string]corev1.ResourceList{
		"t4g.small":  {corev1.ResourceMemory: resource.MustParse("1408312Ki"), corev1.ResourceCPU: resource.MustParse("1930m")},
		"t4g.medium": {corev1.ResourceMemory: resource.MustParse("3377496Ki")},
		"t4g.xlarge": {corev1.ResourceMemory: resource.MustParse("15136012Ki"), corev1.ResourceCPU: resource.MustParse("3920m")},
		"m5.large":   {corev1.ResourceMemory: resource.MustParse("7220184Ki")},
	} {
		it, ok := catalog.Get(name)
		require.True(t, ok)
		for resourceName, reported := range want {
			q := it.Allocatable()[resourceName]
			assert.LessOrEqual(t, q.Cmp(reported), 0, "%s: %s of %s, a node reports %s", name, q.String(), resourceName, reported.String())
		}
	}
}

func assertQuantity(t *testing.T, want string, got resource.Quantity) {
	t.Helper()
	q := resource.MustParse(want)
	assert.Zero(t, q.Cmp(got), "want %s, got %s", want, got.String())
}

// A NodePool's requirements, in the text form of the command, find their types.
func TestFiltersFindTypes(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	filter, err := instancetypes.ParseFilter("arch=arm64,category in (c m r),generation>=8,capacity-type=spot")
	require.NoError(t, err)
	found := catalog.Filter(filter)
	assert.Greater(t, found.Len(), 60)
	_, ok := found.Get("m8g.xlarge")
	assert.True(t, ok)
	_, ok = found.Get("m9g.xlarge")
	assert.False(t, ok, "no spot price is known")
}
