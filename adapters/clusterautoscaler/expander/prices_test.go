package expander_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// labelled is a template node with the labels that the autoscaler's providers set, and others.
func labelled(instanceType, region, zone string, others ...string) *corev1.Node {
	n := &corev1.Node{}
	n.Labels = map[string]string{corev1.LabelInstanceTypeStable: instanceType, corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: zone}
	for i := 0; i < len(others); i += 2 {
		n.Labels[others[i]] = others[i+1]
	}
	return n
}

func listed(t *testing.T, c *instancetypes.Catalog, instanceType, zone string, capacityType offerings.CapacityType) offerings.Price {
	t.Helper()
	o, ok := c.Lookup(offerings.Key{InstanceType: instanceType, Zone: zone, CapacityType: capacityType})
	require.True(t, ok)
	return o.Price
}

func TestPricesOfTheEmbeddedCatalogs(t *testing.T) {
	var p expander.Prices
	west, east, central := ec2.MustCatalog("eu-west-1"), azure.MustCatalog("eastus"), gcp.MustCatalog("us-central1")
	for _, tc := range []struct {
		node *corev1.Node
		want offerings.Price
	}{
		{labelled("m5.large", "eu-west-1", "eu-west-1a"), listed(t, west, "m5.large", "eu-west-1a", offerings.OnDemand)},
		{labelled("m5.large", "eu-west-1", "eu-west-1a", "eks.amazonaws.com/capacityType", "SPOT"), listed(t, west, "m5.large", "eu-west-1a", offerings.Spot)},
		{labelled("Standard_D4s_v5", "eastus", "eastus-1"), listed(t, east, "Standard_D4s_v5", "eastus-1", offerings.OnDemand)},
		{labelled("Standard_D4s_v5", "eastus", "0"), listed(t, east, "Standard_D4s_v5", "eastus-1", offerings.OnDemand)},
		{labelled("n2-standard-4", "us-central1", "us-central1-a", "cloud.google.com/gke-spot", "true"), listed(t, central, "n2-standard-4", "us-central1-a", offerings.Spot)},
	} {
		assert.Equal(t, tc.want, p.PriceOf(tc.node), tc.node.Labels)
		assert.Equal(t, tc.want, p.PriceOf(tc.node), "remembered")
	}
}

func TestNodesWithoutAListedPrice(t *testing.T) {
	var log bytes.Buffer
	p, err := expander.NewPrices(nil, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	n := labelled("rack-1", "cellar", "")
	n.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), "vpc.amazonaws.com/pod-eni": resource.MustParse("9"),
	}
	assert.Equal(t, "0.204", p.PriceOf(n).String())
	n.Status.Capacity["nvidia.com/gpu"] = resource.MustParse("1")
	assert.Equal(t, "0.904", p.PriceOf(n).String())
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), "an instance type is logged once")
	assert.Contains(t, log.String(), `level=WARN msg="no price in the catalog: the node is priced by its CPU and memory" instanceType=rack-1`)
	n.Labels["node.kubernetes.io/lifecycle"] = "spot"
	assert.Equal(t, "0.3164", p.PriceOf(n).String())
	assert.Zero(t, p.PriceOf(nil))
}

func TestPricesOfAFile(t *testing.T) {
	catalog, err := instancetypes.ReadCSV(strings.NewReader("name,cpu,memory,pods,zone,capacityType,price\nrack-1,4,16Gi,110,cellar,on-demand,0.5\n"))
	require.NoError(t, err)
	changes, err := instancetypes.ReadPrices(strings.NewReader("instanceType,zone,capacityType,price\nrack-1,*,on-demand,0.4\n"))
	require.NoError(t, err)
	p, err := expander.NewPrices(catalog, nil, changes)
	require.NoError(t, err)
	assert.Equal(t, "0.4", p.PriceOf(labelled("rack-1", "", "cellar")).String())
	assert.Equal(t, "0.4", p.PriceOf(labelled("rack-1", "", "attic")).String(), "the price of other zones")
	assert.Zero(t, p.PriceOf(labelled("m5.large", "eu-west-1", "eu-west-1a")), "an explicit catalog is the only one")

	changes.Changes[0].CapacityType = "by the hour"
	_, err = expander.NewPrices(nil, nil, changes)
	assert.ErrorContains(t, err, "by the hour")
}
