package gcp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
)

// settled is n2-standard-4 as nodes of a class have it.
func settled(t *testing.T, spec gcp.NodeClassSpec) *instancetypes.InstanceType {
	t.Helper()
	s, err := (&gcp.NodeClass{Spec: spec}).Settings(nil)
	require.NoError(t, err)
	catalog, err := gcp.MustCatalog("us-central1").WithNodeSettings(s)
	require.NoError(t, err)
	it, ok := catalog.Get("n2-standard-4")
	require.True(t, ok)
	return it
}

func TestNodeClass(t *testing.T) {
	fifty := intstr.FromInt32(50)
	for name, tt := range map[string]struct {
		spec gcp.NodeClassSpec
		want map[string]string // amounts of n2-standard-4
	}{
		"none": {gcp.NodeClassSpec{}, map[string]string{"pods": "110", "disk": "100Gi", "reserved disk": "41Gi", "system cpu": "100m"}},
		"the provider's example": {
			gcp.NodeClassSpec{Kubelet: instancetypes.Kubelet{MaxPods: &fifty}, Disks: []gcp.Disk{{SizeGiB: 60, Category: "pd-balanced", Boot: true}}},
			map[string]string{"pods": "50", "disk": "60Gi", "reserved disk": "27Gi", "evicted disk": "6Gi"},
		},
		"local disks": {
			gcp.NodeClassSpec{Disks: []gcp.Disk{{SizeGiB: 60, Boot: true}, {SizeGiB: 375, Category: "local-ssd"}}},
			map[string]string{"disk": "375Gi", "reserved disk": "50Gi"},
		},
		"reservations": {
			gcp.NodeClassSpec{Kubelet: instancetypes.Kubelet{PodsPerCore: 5, SystemReserved: map[string]string{"cpu": "200m", "memory": "1Gi"}, KubeReserved: map[string]string{"cpu": "1"}}},
			map[string]string{"pods": "20", "system cpu": "300m", "system memory": "1Gi", "cpu": "1"},
		},
	} {
		it := settled(t, tt.spec)
		for amount, want := range tt.want {
			got := map[string]resource.Quantity{
				"pods": it.Capacity[corev1.ResourcePods], "disk": it.Capacity[corev1.ResourceEphemeralStorage],
				"reserved disk": it.Overhead.KubeReserved[corev1.ResourceEphemeralStorage], "evicted disk": it.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage],
				"system cpu": it.Overhead.SystemReserved[corev1.ResourceCPU], "system memory": it.Overhead.SystemReserved[corev1.ResourceMemory],
				"cpu": it.Overhead.KubeReserved[corev1.ResourceCPU],
			}[amount]
			assert.Zero(t, got.Cmp(resource.MustParse(want)), "%s: %s: want %s, got %s", name, amount, want, got.String())
		}
	}
	ubuntu := settled(t, gcp.NodeClassSpec{ImageSelectorTerms: []gcp.ImageSelectorTerm{{Family: "Ubuntu2404"}}})
	assert.Equal(t, "ubuntu", ubuntu.Labels["cloud.google.com/gke-os-distribution"])
	assert.Equal(t, "cos", settled(t, gcp.NodeClassSpec{}).Labels["cloud.google.com/gke-os-distribution"])
}

func TestNodeClassFaults(t *testing.T) {
	class := gcp.NodeClass{Spec: gcp.NodeClassSpec{
		ImageSelectorTerms: []gcp.ImageSelectorTerm{{Alias: "Windows@latest"}},
		Disks:              []gcp.Disk{{SizeGiB: 5, Boot: true}},
		Kubelet:            instancetypes.Kubelet{PodsPerCore: -1},
		AutoGPUTaint:       true, ConfidentialInstanceType: "SEV",
	}}
	_, err := class.Settings(nil)
	for _, want := range []string{"spec.imageSelectorTerms[0].alias", `"Windows"`, "spec.disks[0].sizeGiB", "spec.kubeletConfiguration.podsPerCore"} {
		require.ErrorContains(t, err, want)
	}
	assert.Equal(t, []string{"spec.autoGPUTaint", "spec.confidentialInstanceType"}, class.Unread())
	assert.Empty(t, (&gcp.NodeClass{}).Unread())
}
