package instancetypes_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestNewCatalogSorts(t *testing.T) {
	c := catalog(t,
		machine("m7i.large", "cpu=2 memory=8Gi", "spot@b=0.4 on-demand@b=0.1 reserved@a/cr-2=0x1 spot@a=0.3 reserved@a/cr-1=0x1"),
		machine("c7i.large", "cpu=2 memory=4Gi", ""),
		machine("m7i.2xlarge", "cpu=8 memory=32Gi", "on-demand@a=0.4"),
	)
	assert.Equal(t, []string{
		"c7i.large:",
		"m7i.2xlarge: on-demand@a=0.4",
		"m7i.large: reserved@a/cr-1=0x1 reserved@a/cr-2=0x1 spot@a=0.3 on-demand@b=0.1 spot@b=0.4",
	}, listing(c))
	assert.Equal(t, 3, c.Len())
	assert.Equal(t, []string{"c7i.large", "m7i.2xlarge", "m7i.large"}, c.Names())
}

func TestNewCatalogFillsInLabels(t *testing.T) {
	bare := machine("m", "cpu=1 memory=1Gi", "spot@a=0.1")
	arm := machine("n", "cpu=1 memory=1Gi", "")
	arm.Labels = map[string]string{
		"beta.kubernetes.io/arch": "arm64", corev1.LabelOSStable: "windows",
		corev1.LabelFailureDomainBetaRegion: "here", corev1.LabelInstanceTypeStable: "n",
	}
	c := catalog(t, bare, arm)
	m, ok := c.Get("m")
	require.True(t, ok)
	assert.Equal(t, map[string]string{
		corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelInstanceTypeStable: "m",
	}, m.Labels)
	n, ok := c.Get("n")
	require.True(t, ok)
	assert.Equal(t, map[string]string{ // R38: aliases become the stable keys
		corev1.LabelArchStable: "arm64", corev1.LabelOSStable: "windows", corev1.LabelInstanceTypeStable: "n",
		corev1.LabelTopologyRegion: "here",
	}, n.Labels)
	assert.Nil(t, bare.Labels, "the input stays as it is")
	assert.Len(t, arm.Labels, 4)
}

func TestNewCatalogNormalisesOfferingLabels(t *testing.T) {
	it := machine("m", "cpu=1 memory=1Gi", "spot@a=0.1")
	it.Offerings[0].Labels = map[string]string{corev1.LabelFailureDomainBetaRegion: "here", "topology.ebs.csi.aws.com/zone": "a"}
	c := catalog(t, it)
	m, _ := c.Get("m")
	assert.Equal(t, "here", m.Offerings[0].Labels[corev1.LabelTopologyRegion])
	assert.NotContains(t, m.Offerings[0].Labels, corev1.LabelFailureDomainBetaRegion)
	assert.Contains(t, it.Offerings[0].Labels, corev1.LabelFailureDomainBetaRegion, "the input stays as it is")
}

func TestNewCatalogReportsEveryFault(t *testing.T) {
	_, err := instancetypes.NewCatalog(
		machine("m", "cpu=1 memory=1Gi", "spot@a=0.1"),
		nil,
		machine("n", "memory=1Gi", "spot@a=0.1"),
		machine("m", "cpu=1 memory=1Gi", ""),
		machine("", "cpu=1 memory=1Gi", ""),
		machine("o", "cpu=1 memory=1Gi", "spot@=0.1 CHEAP@a=0.1"),
	)
	got := lines(err)
	require.Len(t, got, 6, "%q", got)
	for i, want := range []string{
		"types[1]: is nil",
		"instance type n: capacity.cpu: is missing",
		`instance type m: name: "m": is the name of two types`,
		"name: must not be empty",
		"instance type o: offerings[0].zone: must not be empty",
		"instance type o: offerings[1].capacityType: capacity type \"CHEAP\": want reserved, spot, on-demand or a lower-case label value",
	} {
		assert.Contains(t, got[i], want)
	}
	var fault *instancetypes.CatalogFault
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, "types[1]", fault.Field)
}

func TestNewCatalogBoundsItsMessage(t *testing.T) {
	types := make([]*instancetypes.InstanceType, 500)
	_, err := instancetypes.NewCatalog(types...)
	require.Error(t, err)
	assert.Len(t, faultsOf(err), 100)
	assert.Contains(t, err.Error(), "and 400 more faults")
}

func TestCatalogDoesNotShareWithItsInput(t *testing.T) {
	it := machine("m", "cpu=1 memory=1Gi", "spot@a=0.1")
	c := catalog(t, it)
	it.Name = "changed"
	it.Capacity["cpu"] = quantity(64)
	it.Offerings[0].Price = 0
	m, ok := c.Get("m")
	require.True(t, ok)
	assert.Equal(t, "cpu=1 memory=1Gi", amounts(m.Capacity))
	assert.Equal(t, []string{"m: spot@a=0.1"}, listing(c))
}

func TestEmptyCatalogs(t *testing.T) {
	empty, err := instancetypes.NewCatalog()
	require.NoError(t, err)
	for name, c := range map[string]*instancetypes.Catalog{"nil": nil, "zero": {}, "new": empty} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, 0, c.Len())
			assert.Empty(t, c.Names())
			assert.Empty(t, slices.Collect(c.All()))
			assert.Empty(t, c.Provenance())
			_, ok := c.Get("m")
			assert.False(t, ok)
			_, ok = c.Lookup(offerings.Key{InstanceType: "m", Zone: "a", CapacityType: offerings.Spot})
			assert.False(t, ok)
			assert.Equal(t, 0, c.Filter(instancetypes.ByName("*")).Len())
			types, err := c.InstanceTypes(context.Background(), "")
			require.NoError(t, err)
			assert.Empty(t, types)
			over, err := c.WithOverlays()
			require.NoError(t, err)
			assert.Equal(t, 0, over.Len())
			assert.Len(t, c.WithProvenance(instancetypes.Provenance{Source: "s"}).Provenance(), 1)
		})
	}
}

func TestCatalogOffering(t *testing.T) {
	c := catalog(t, machine("m", "cpu=1 memory=1Gi", "spot@b=0.4 on-demand@b=0.1 reserved@a/cr-2=0.2x1 spot@a=0.3 reserved@a/cr-1=0.1x1"))
	for _, tc := range []struct {
		typ, zone string
		kind      offerings.CapacityType
		want      string
	}{
		{"m", "b", offerings.Spot, "0.4"},
		{"m", "b", offerings.OnDemand, "0.1"},
		{"m", "a", offerings.Spot, "0.3"},
		{"m", "a", offerings.Reserved, "0.1"}, // the first id
		{"m", "a", offerings.OnDemand, ""},
		{"m", "b", offerings.Reserved, ""},
		{"m", "c", offerings.Spot, ""},
		{"m", "", offerings.Spot, ""},
		{"n", "a", offerings.Spot, ""},
	} {
		o, ok := c.Lookup(offerings.Key{InstanceType: tc.typ, Zone: tc.zone, CapacityType: tc.kind})
		assert.Equal(t, tc.want != "", ok, tc)
		if ok {
			assert.Equal(t, tc.want, o.Price.String(), tc)
			assert.Equal(t, tc.zone, o.Zone)
			assert.Equal(t, tc.kind, o.CapacityType)
		}
	}
}

func TestProvenance(t *testing.T) {
	statement := instancetypes.Provenance{
		Source: "price list", Date: "2026-10-01", License: "MIT", Covers: "prices", Estimated: []string{"overhead"},
	}
	c := catalog(t, machine("a", "cpu=1 memory=1Gi", "spot@a=1"))
	assert.Empty(t, c.Provenance())
	d := c.WithProvenance(statement)
	assert.Empty(t, c.Provenance(), "the receiver stays as it is")
	assert.Equal(t, []instancetypes.Provenance{statement}, d.Provenance())

	d.Provenance()[0].Estimated[0] = "changed"
	statement.Estimated[0] = "changed too"
	assert.Equal(t, []string{"overhead"}, d.Provenance()[0].Estimated)

	assert.Len(t, d.Filter().Provenance(), 1, "narrower catalogs keep it")
	over, err := d.WithOverlays()
	require.NoError(t, err)
	assert.Len(t, over.Provenance(), 1)
	assert.Empty(t, d.WithProvenance().Provenance())
}
