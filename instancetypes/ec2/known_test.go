package ec2_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Rows that were compared by hand with EC2's price list, with its descriptions of
// instance types and with the published table of pods per node. Spot prices and
// rates are those of us-east-1.
func TestKnownTypes(t *testing.T) {
	virginia, frankfurt := ec2.MustCatalog("us-east-1"), ec2.MustCatalog("eu-central-1")
	for _, tt := range []struct {
		name               string
		vcpu, memory, pods int64
		arch               string
		accelerators       map[corev1.ResourceName]int64
		virginia           string // on demand
		frankfurt          string // on demand; empty if not sold
		spot               string // in any zone of us-east-1; empty if not sold
		rate               float64
	}{
		{"t3.medium", 2, 4096, 17, "amd64", nil, "0.0416", "0.048", "0.0183", 0.025},
		{"t3.large", 2, 8192, 35, "amd64", nil, "0.0832", "0.096", "0.0315", 0.075},
		{"t3a.xlarge", 4, 16384, 58, "amd64", nil, "0.1504", "0.1728", "0.0494", 0.25},
		{"t4g.small", 2, 2048, 11, "arm64", nil, "0.0168", "0.0192", "0.0066", 0.025},
		{"m4.large", 2, 8192, 20, "amd64", nil, "0.1", "0.12", "0.042", 0.025},
		{"m5.large", 2, 8192, 29, "amd64", nil, "0.096", "0.115", "0.0324", 0.125},
		{"m5.2xlarge", 8, 32768, 58, "amd64", nil, "0.384", "0.46", "0.154", 0.25},
		{"m5.metal", 96, 393216, 737, "amd64", nil, "4.608", "5.52", "1.2664", 0.25},
		{"m6i.large", 2, 8192, 29, "amd64", nil, "0.096", "0.115", "0.0341", 0.175},
		{"m6i.32xlarge", 128, 524288, 737, "amd64", nil, "6.144", "7.36", "1.847", 0.25},
		{"m7i-flex.large", 2, 8192, 29, "amd64", nil, "0.09576", "0.11471", "0.03", 0.175},
		{"m7g.large", 2, 8192, 29, "arm64", nil, "0.0816", "0.0978", "0.0282", 0.075},
		{"m7a.4xlarge", 16, 65536, 234, "amd64", nil, "0.92736", "1.11088", "0.3567", 0.25},
		{"m8g.xlarge", 4, 16384, 58, "arm64", nil, "0.17952", "0.21508", "0.0398", 0.25},
		{"c5.xlarge", 4, 8192, 58, "amd64", nil, "0.17", "0.194", "0.0782", 0.025},
		{"c5n.18xlarge", 72, 196608, 737, "amd64", nil, "3.888", "4.428", "1.5243", 0.025},
		{"c6i.4xlarge", 16, 32768, 234, "amd64", nil, "0.68", "0.776", "0.2861", 0.125},
		{"c7g.2xlarge", 8, 16384, 58, "arm64", nil, "0.29", "0.3298", "0.104", 0.025},
		{"c7i.metal-24xl", 96, 196608, 737, "amd64", nil, "4.284", "4.8888", "1.2634", 0.075},
		{"r5.large", 2, 16384, 29, "amd64", nil, "0.126", "0.152", "0.0509", 0.025},
		{"r6g.xlarge", 4, 32768, 58, "arm64", nil, "0.2016", "0.2432", "0.0614", 0.25},
		{"r7i.48xlarge", 192, 1572864, 737, "amd64", nil, "12.7008", "15.3216", "6.1177", 0.25},
		{"i3.large", 2, 15616, 29, "amd64", nil, "0.156", "0.186", "0.0389", 0.25},
		{"i4i.2xlarge", 8, 65536, 58, "amd64", nil, "0.686", "0.818", "0.2778", 0.075},
		{"d3.xlarge", 4, 32768, 10, "amd64", nil, "0.499", "0.658", "0.1349", 0.025},
		{"g4dn.xlarge", 4, 16384, 29, "amd64", gpus("nvidia.com/gpu", 1), "0.526", "0.658", "0.1769", 0.075},
		{"g4ad.16xlarge", 64, 262144, 234, "amd64", gpus("amd.com/gpu", 4), "3.468", "4.336", "2.1014", 0.025},
		{"g5.xlarge", 4, 16384, 58, "amd64", gpus("nvidia.com/gpu", 1), "1.006", "1.258", "0.3797", 0.25},
		{"g5.48xlarge", 192, 786432, 345, "amd64", gpus("nvidia.com/gpu", 8), "16.288", "20.3681", "2.3905", 0.125},
		{"g6.12xlarge", 48, 196608, 234, "amd64", gpus("nvidia.com/gpu", 4), "4.6016", "5.75429", "2.0932", 0.175},
		{"p3.2xlarge", 8, 62464, 58, "amd64", gpus("nvidia.com/gpu", 1), "3.06", "3.823", "0.3941", 0.25},
		// AWS cut the prices of its large GPU machines in 2025; only us-east-1 has them.
		{"p4d.24xlarge", 96, 1179648, 737, "amd64", gpus("nvidia.com/gpu", 8), "21.957642", "40.94475", "9.8156", 0.25},
		{"p5.48xlarge", 192, 2097152, 100, "amd64", gpus("nvidia.com/gpu", 8), "55.04", "", "27.7107", 0.075},
		{"inf1.6xlarge", 24, 49152, 234, "amd64", neurons(4, 16), "1.18", "1.475", "0.3438", 0.25},
		{"inf2.48xlarge", 192, 786432, 737, "amd64", neurons(12, 24), "12.98127", "19.4719", "", 0.025},
		{"trn1.32xlarge", 128, 524288, 247, "amd64", neurons(16, 32), "21.5", "", "", 0.125},
		{"dl1.24xlarge", 96, 786432, 737, "amd64", gpus("habana.ai/gaudi", 8), "13.10904", "", "", 0.025},
		// Newer than the spot prices, and described by their names alone.
		{"m8i.large", 2, 8192, 59, "amd64", nil, "0.10584", "", "", 0},
		{"c9g.large", 2, 4096, 59, "arm64", nil, "0.08694", "", "", 0},
		{"x8i.large", 2, 32768, 59, "amd64", nil, "0.21883", "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, ok := virginia.Get(tt.name)
			require.True(t, ok)
			assert.Equal(t, tt.vcpu, amount(it.Capacity, corev1.ResourceCPU))
			assert.Equal(t, strconv.FormatInt(tt.memory, 10), it.Labels["karpenter.k8s.aws/instance-memory"])
			assert.Equal(t, tt.pods, amount(it.Capacity, corev1.ResourcePods))
			assert.Equal(t, tt.arch, it.Labels[corev1.LabelArchStable])
			assert.Equal(t, tt.accelerators, accelerators(it))

			assert.Equal(t, tt.virginia, onDemand(virginia, tt.name))
			assert.Equal(t, tt.frankfurt, onDemand(frankfurt, tt.name))
			spot, _ := virginia.Lookup(offerings.Key{InstanceType: tt.name, Zone: "us-east-1a", CapacityType: offerings.Spot})
			if tt.spot == "" {
				assert.Zero(t, spot.Price)
			} else {
				assert.Equal(t, tt.spot, spot.Price.String())
			}
			for _, o := range it.Offerings {
				if o.CapacityType == offerings.Spot {
					assert.InDelta(t, tt.rate, o.InterruptionRate, 1e-12, o.Zone)
				}
			}
		})
	}
}

// The sources give trn2 one accelerator and no network interfaces.
func TestTrn2IsMended(t *testing.T) {
	it, ok := ec2.MustCatalog("us-east-2").Get("trn2.48xlarge")
	require.True(t, ok)
	assert.Equal(t, neurons(16, 128), accelerators(it))
	assert.Equal(t, int64(100), amount(it.Capacity, corev1.ResourcePods))
	assert.Equal(t, "7600", it.Labels["karpenter.k8s.aws/instance-local-nvme"])
	assert.Equal(t, "trainium2", it.Labels["karpenter.k8s.aws/instance-accelerator-name"])
}

// Types whose shape or price no source states are not in the catalog.
func TestTypesThatAreLeftOut(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for _, name := range []string{
		"g6f.large", "g6f.xlarge", "g6f.2xlarge", "g6f.4xlarge", "gr6f.4xlarge", "g7e.2xlarge", "g7e.48xlarge",
		"p5.4xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge", // GPUs that no source describes
		"g2.2xlarge", "p2.xlarge", "cr1.8xlarge", // retired, and still in price lists
		"mac2.metal",                         // not for Linux nodes
		"m8gb.metal-24xl", "r8gb.metal-24xl", // the only price is that of a host of two
	} {
		_, ok := catalog.Get(name)
		assert.False(t, ok, name)
	}
}

func gpus(resource corev1.ResourceName, n int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{resource: n}
}

func neurons(devices, cores int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{"aws.amazon.com/neuron": devices, "aws.amazon.com/neuroncore": cores}
}

// accelerators returns the extended resources of a type, without network interfaces.
func accelerators(it *instancetypes.InstanceType) map[corev1.ResourceName]int64 {
	var found map[corev1.ResourceName]int64
	for name, q := range it.Capacity {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage, "vpc.amazonaws.com/pod-eni":
			continue
		}
		if found == nil {
			found = map[corev1.ResourceName]int64{}
		}
		found[name] = q.Value()
	}
	return found
}

func amount(list corev1.ResourceList, name corev1.ResourceName) int64 {
	q := list[name]
	return q.Value()
}

// onDemand returns the price of a type on demand, which is one in all zones of a
// region; empty if it is not sold.
func onDemand(c *instancetypes.Catalog, name string) string {
	it, ok := c.Get(name)
	if !ok {
		return ""
	}
	prices := map[string]bool{}
	last := ""
	for _, o := range it.Offerings {
		if o.CapacityType == offerings.OnDemand {
			last = o.Price.String()
			prices[last] = true
		}
	}
	if len(prices) != 1 {
		return "several prices"
	}
	return last
}
