package ec2_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
)

// Figures that Karpenter's AWS provider computes for types and node classes, worked out
// by hand from NewInstanceType in pkg/providers/instancetype/types.go: capacity less
// kube-reserved, system-reserved and eviction threshold.
func TestNodeClassFigures(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for name, tt := range map[string]struct {
		typ, spec                  string
		pods                       int64
		cpu, memory, disk, reserve string // reserve is the memory in kube-reserved
	}{
		// 2 cores: 60 + 10; 8192 − ⌈614.4⌉ = 7577 MiB; 3 × 9 + 2 = 29 pods, 29 × 11 + 255
		// = 574 MiB; 7577 − 574 − 100 = 6903. Disk: 20 − 1 − 2.
		"m5.large, Amazon Linux 2023": {"m5.large", "{amiFamily: AL2023}", 29, "1930m", "6903Mi", "17Gi", "574Mi"},
		// Bottlerocket reserves for the pods that it admits: 110 × 11 + 255 = 1465; 7577 −
		// 1465 − 100 = 6012. Disk: 80 − 1 − 8.
		"m5.large, Bottlerocket, maxPods": {"m5.large", "{amiFamily: Bottlerocket, kubelet: {maxPods: 110}, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 4Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 80Gi}}]}",
			110, "1930m", "6012Mi", "71Gi", "1465Mi"},
		// arm64: 8192 − 64 = 8128, less ⌈609.6⌉ = 7518 MiB. 4 cores: 60 + 10 + 10. 4 × 14 +
		// 2 = 58 pods admit 893 MiB, whatever podsPerCore makes of them: 4 × 8 = 32. 7518 −
		// 893 − 1024 MiB − ⌈5 % of 7518 MiB⌉ = 394159719 bytes.
		"c6g.xlarge, Amazon Linux 2, podsPerCore, system-reserved, percentage": {"c6g.xlarge",
			`{amiFamily: AL2, kubelet: {podsPerCore: 8, systemReserved: {cpu: 100m, memory: 1Gi}, evictionHard: {memory.available: "5%"}}}`,
			32, "3820m", "5478914457", "17Gi", "893Mi"},
		// 16 cores: 60 + 10 + 10 + 30; 65536 − ⌈4915.2⌉ = 60620 MiB; 8 × 29 + 2 = 234 pods
		// admit 2829 MiB. Two disks of 300 GB: 600 GB less 60 GB and 1 GiB.
		"m5d.4xlarge, RAID0": {"m5d.4xlarge", "{amiFamily: AL2023, instanceStorePolicy: RAID0}", 234, "15890m", "57691Mi", "538926258176", "2829Mi"},
		// Windows admits 110 pods and reserves for them. Disk: 50 − 1 − 5.
		"m5.large, Windows": {"m5.large", "{amiSelectorTerms: [{alias: windows2022@latest}]}", 110, "1930m", "6012Mi", "44Gi", "1465Mi"},
		// The last volume counts: 200 − 1 − ⌈15 % of 200⌉ = 169. 4 cores and 16384 −
		// ⌈1228.8⌉ = 15155 MiB; kubeReserved takes the place of 80m and of 58 × 11 + 255.
		"m5.xlarge, Custom, kube-reserved": {"m5.xlarge",
			`{amiFamily: Custom, kubelet: {kubeReserved: {cpu: 250m, memory: 2Gi, pid: "1000"}, evictionHard: {nodefs.available: 15%, memory.available: 200Mi}}, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi}}, {deviceName: /dev/xvdz, ebs: {volumeSize: 200Gi}}]}`,
			58, "3750m", "12907Mi", "169Gi", "2Gi"},
		// A t3.large has 3 × 11 + 2 = 35 pods: 640 MiB; Bottlerocket with ten reserves 365.
		"t3.large, Bottlerocket, ten pods": {"t3.large", "{amiFamily: Bottlerocket, kubelet: {maxPods: 10, podsPerCore: 1}}", 10, "1930m", "7112Mi", "17Gi", "365Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			var class ec2.NodeClass
			require.NoError(t, yaml.Unmarshal([]byte("spec: "+tt.spec), &class))
			settings, err := class.Settings(nil)
			require.NoError(t, err)
			own, err := catalog.WithNodeSettings(settings)
			require.NoError(t, err)
			it, ok := own.Get(tt.typ)
			require.True(t, ok)
			holds := it.Allocatable()
			for resourceName, want := range map[corev1.ResourceName]string{
				corev1.ResourceCPU: tt.cpu, corev1.ResourceMemory: tt.memory, corev1.ResourceEphemeralStorage: tt.disk,
			} {
				got := holds[resourceName]
				assert.Zero(t, got.Cmp(resource.MustParse(want)), "%s is %s, not %s", resourceName, got.String(), want)
			}
			assert.Equal(t, tt.pods, holds.Pods().Value())
			reserved := it.Overhead.KubeReserved[corev1.ResourceMemory]
			assert.Zero(t, reserved.Cmp(resource.MustParse(tt.reserve)), reserved.String())
			assert.NoError(t, it.Validate())
			before, _ := catalog.Get(tt.typ)
			assert.Equal(t, before.Offerings[0].Price, it.Offerings[0].Price)
		})
	}
}

// Pods, capacity and overhead that an offering states itself are replaced where a setting is about them, and stay
// otherwise.
func TestNodeSettingsOverOfferings(t *testing.T) {
	catalog := parsed(t, `{"version": 1, "instanceTypes": [{"name": "a", "capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "offerings": [
		{"zone": "z", "capacityType": "on-demand", "price": 1, "capacity": {"pods": "30", "memory": "7Gi"}, "overhead": {"cpu": "1", "memory": "1Gi"}}]}]}`)
	own, err := catalog.WithNodeSettings(instancetypes.NodeSettings{Kubelet: instancetypes.Kubelet{PodsPerCore: 2, SystemReserved: map[string]string{"cpu": "2"}}})
	require.NoError(t, err)
	it, _ := own.Get("a")
	holds := it.AllocatableOf(it.Offerings[0])
	assert.Equal(t, int64(8), holds.Pods().Value())
	assert.Equal(t, int64(2), holds.Cpu().Value())
	assert.Equal(t, int64(6<<30), holds.Memory().Value())
	old, _ := catalog.Get("a")
	before := old.CapacityOf(old.Offerings[0])
	assert.Equal(t, int64(30), before.Pods().Value(), "the catalog stays as it was")

	_, err = catalog.WithNodeSettings(instancetypes.NodeSettings{Kubelet: instancetypes.Kubelet{PodsPerCore: -1}})
	assert.EqualError(t, err, `podsPerCore: "-1": is negative`)
}

func parsed(t *testing.T, text string) *instancetypes.Catalog {
	t.Helper()
	c, err := instancetypes.ReadJSON(strings.NewReader(text))
	require.NoError(t, err)
	return c
}
