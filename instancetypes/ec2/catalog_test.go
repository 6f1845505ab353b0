package ec2_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestRegions(t *testing.T) {
	regions := ec2.Regions()
	assert.Len(t, regions, 34)
	assert.True(t, slices.IsSorted(regions))
	for _, want := range []string{"us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-northeast-1", "us-gov-west-1"} {
		assert.Contains(t, regions, want)
	}
	regions[0] = "changed"
	assert.NotEqual(t, "changed", ec2.Regions()[0])
}

func TestUnknownRegion(t *testing.T) {
	_, err := ec2.Catalog("us-east1")
	require.EqualError(t, err, `ec2 region "us-east1": no such catalog; close names are us-east-1, us-east-2, ap-east-1`)
	_, err = ec2.Catalog("")
	require.ErrorContains(t, err, "no such catalog among 34")
	assert.Panics(t, func() { ec2.MustCatalog("nowhere") })
}

// Zone ids are the same for every account; names follow the number in the id.
func TestZonesFollowTheirIDs(t *testing.T) {
	for region, want := range map[string]map[string]string{
		"us-east-1":      {"us-east-1a": "use1-az1", "us-east-1b": "use1-az2", "us-east-1d": "use1-az4", "us-east-1e": "use1-az5", "us-east-1f": "use1-az6"},
		"us-west-1":      {"us-west-1a": "usw1-az1", "us-west-1c": "usw1-az3"},
		"ap-northeast-1": {"ap-northeast-1a": "apne1-az1", "ap-northeast-1b": "apne1-az2", "ap-northeast-1d": "apne1-az4"},
	} {
		it, ok := ec2.MustCatalog(region).Get("m5.large")
		require.True(t, ok)
		got := map[string]string{}
		for _, o := range it.Offerings {
			got[o.Zone] = o.Labels["topology.k8s.aws/zone-id"]
		}
		assert.Equal(t, want, got, region)
	}
}

// A type whose zones no source lists is offered where most new types are, on demand
// only, and says that this is a guess.
func TestAssumedZones(t *testing.T) {
	it, ok := ec2.MustCatalog("us-east-1").Get("m8i.large")
	require.True(t, ok)
	var zones []string
	for _, o := range it.Offerings {
		assert.Equal(t, offerings.OnDemand, o.CapacityType)
		assert.Equal(t, []string{"unavailable"}, o.Estimated)
		assert.False(t, o.Unavailable)
		zones = append(zones, o.Zone)
	}
	assert.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1d", "us-east-1f"}, zones)

	it, ok = ec2.MustCatalog("af-south-1").Get("m5.large")
	require.True(t, ok)
	assert.Len(t, it.Offerings, 3)
	assert.Empty(t, it.Offerings[0].Labels["topology.k8s.aws/zone-id"])
}

// Bare metal has its price at shared tenancy where a list has that. The newer list has only the price at dedicated
// tenancy, a tenth higher: where no other list has the type, the price is marked as estimated.
func TestBareMetalPrices(t *testing.T) {
	catalog := ec2.MustCatalog("us-east-1")
	for _, name := range []string{"c7i.metal-24xl", "r5b.metal", "x2gd.metal", "m7i.metal-24xl"} {
		it, ok := catalog.Get(name)
		require.True(t, ok)
		for _, o := range it.Offerings {
			assert.Equal(t, o.CapacityType == offerings.Spot, slices.Contains(o.Estimated, "price"), name)
		}
	}
	assert.Equal(t, "4.284", onDemand(catalog, "c7i.metal-24xl"))
	assert.Equal(t, "7.152", onDemand(catalog, "r5b.metal"))
	it, ok := catalog.Get("m8i.metal-48xl")
	require.True(t, ok)
	assert.Equal(t, []string{"price", "unavailable"}, it.Offerings[0].Estimated)
}

func TestProvenance(t *testing.T) {
	text := func(region string) (string, []instancetypes.Provenance) {
		list := ec2.MustCatalog(region).Provenance()
		var b strings.Builder
		for _, p := range list {
			b.WriteString(p.Source + " " + p.Date + " " + p.License + "\n" + p.Covers + "\n" + strings.Join(p.Estimated, "\n") + "\n")
		}
		return b.String(), list
	}
	virginia, list := text("us-east-1")
	require.Len(t, list, 5)
	for _, want := range []string{
		"github.com/cristim/ec2-instances-info@v0.0.0-20250528091325-32acf84f42eb 2025-05-28 MIT",
		"github.com/aws/amazon-vpc-resource-controller-k8s@v1.8.2 2026-09-02 Apache-2.0",
		"github.com/aws/karpenter-provider-aws@v1.14.1 2026-07-06 Apache-2.0",
		"all zones have their median",
		"the middle of the published band",
		"of 437 types that no other source describes",
		"offerings.zone of 438 types",
		"offerings.price of 61 bare-metal types",
		"a root volume of 20 GiB",
	} {
		assert.Contains(t, virginia, want)
	}
	frankfurt, list := text("eu-central-1")
	require.Len(t, list, 4)
	assert.NotContains(t, frankfurt, "read off the name")
	assert.Contains(t, frankfurt, "spot prices of 784 types")

	cape, _ := text("af-south-1")
	assert.Contains(t, cape, "nothing is sold as spot here")
	assert.Contains(t, cape, "three zones a, b and c")
	assert.NotContains(t, cape, "the middle of the published band")

	gov, _ := text("us-gov-west-1")
	assert.Contains(t, gov, "2026-06-15 Apache-2.0")
}
