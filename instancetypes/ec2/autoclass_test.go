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

// auto returns the catalog of the nodes of a NodeClass of EKS Auto Mode.
func auto(t *testing.T, class string) *instancetypes.Catalog {
	t.Helper()
	var c ec2.AutoNodeClass
	require.NoError(t, yaml.Unmarshal([]byte(class), &c))
	settings, err := c.Settings(nil)
	require.NoError(t, err)
	own, err := ec2.MustCatalog("us-east-1").WithNodeSettings(settings)
	require.NoError(t, err)
	return own
}

// Nodes of EKS Auto Mode have the labels, pods and storage that the EKS User Guide says.
func TestAutoNodeClass(t *testing.T) {
	own := auto(t, "{}")
	small, ok := own.Get("c6a.large")
	require.True(t, ok)
	// As `kubectl get nodes --show-labels` prints them of a node of Auto Mode.
	for key, want := range map[string]string{
		"compute-type": "auto", "instance-category": "c", "instance-cpu": "2", "instance-cpu-manufacturer": "amd", "instance-family": "c6a", "instance-generation": "6",
		"instance-hypervisor": "nitro", "instance-memory": "4096", "instance-size": "large", "instance-capability-flex": "false",
	} {
		assert.Equal(t, want, small.Labels["eks.amazonaws.com/"+key], key)
	}
	for key := range small.Labels {
		assert.False(t, strings.HasPrefix(key, "karpenter.k8s.aws/"), key)
	}
	assert.Equal(t, int64(29), small.Capacity.Pods().Value())
	storage := func(c *instancetypes.Catalog, name string) string {
		it, ok := c.Get(name)
		require.True(t, ok)
		require.NoError(t, it.Validate())
		q := it.Capacity[corev1.ResourceEphemeralStorage]
		return q.String()
	}
	assert.Equal(t, "80Gi", storage(own, "c6a.large"))
	// 234 addresses, of which a node may use 110: 110 × 11 + 255 = 1465 MiB reserved.
	large, ok := own.Get("m5d.4xlarge")
	require.True(t, ok)
	assert.Equal(t, int64(110), large.Capacity.Pods().Value())
	reserved := large.Overhead.KubeReserved[corev1.ResourceMemory]
	assert.Zero(t, reserved.Cmp(resource.MustParse("1465Mi")), reserved.String())
	// Two disks of 300 GB hold more than 80 GiB and less than 1 TiB.
	assert.Equal(t, "585937500Ki", storage(own, "m5d.4xlarge"))
	assert.Equal(t, "1Ti", storage(auto(t, "spec: {ephemeralStorage: {size: 1Ti}}"), "m5d.4xlarge"))

	for name, want := range map[string]bool{
		"t3.medium": true, "c6g.large": true, "r5.large": true, "g5.xlarge": true,
		"t3.small": false, "t4g.small": false, "t3.nano": false, "c6g.medium": false, "a1.large": false, "m3.large": false, "p3.2xlarge": false,
	} {
		it, ok := own.Get(name)
		require.True(t, ok, name)
		assert.Equal(t, want, it.Offerings[0].Launchable(), name)
	}
	it, _ := auto(t, "status: {subnets: [{zone: us-east-1b}]}").Get("m5.large")
	for i := range it.Offerings {
		o := &it.Offerings[i]
		assert.Equal(t, o.Zone == "us-east-1b", o.Launchable(), o.Zone)
	}

	_, err := (&ec2.AutoNodeClass{Spec: ec2.AutoNodeClassSpec{EphemeralStorage: ec2.AutoStorage{Size: new(resource.Quantity)}}}).Settings(nil)
	require.EqualError(t, err, `spec.ephemeralStorage.size: "0": is not more than zero and at most 64Ti`)
}
