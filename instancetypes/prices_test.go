package instancetypes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Negotiated prices, and today's prices of spot machines, replace those of a catalog.
func ExampleCatalog_WithPrices() {
	catalog := ec2.MustCatalog("us-east-1")
	for _, file := range []string{
		"date: 2026-11-20\nprices:\n- {instanceType: m7i.large, zone: us-east-1a, capacityType: spot, price: 0.0412}\n",
		"prices:\n- {instanceType: m7i.*, capacityType: on-demand, factor: 0.72}\n",
	} {
		prices, err := instancetypes.ReadPrices(strings.NewReader(file))
		if err != nil {
			fmt.Println(err)
			return
		}
		prices.Source = "our prices"
		if catalog, _, err = catalog.WithPrices(prices); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, by := range []offerings.CapacityType{offerings.OnDemand, offerings.Spot} {
		o, _ := catalog.Lookup(offerings.Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: by})
		fmt.Println(by, o.Price)
	}
	for _, p := range catalog.Origin().Prices {
		fmt.Println(p.CapacityType, p.Date, p.Estimated)
	}
	// Output:
	// on-demand 0.072576
	// spot 0.0412
	// on-demand 2026-07-06 false
	// on-demand 2025-05-28 false
	// on-demand  false
	// spot 2026-11-20 false
	// spot 2025-05-28 true
}

func TestWithPrices(t *testing.T) {
	c := twoTypes(t)
	same, unused, err := c.WithPrices(instancetypes.Prices{})
	require.NoError(t, err)
	assert.Empty(t, unused)
	sameCatalog(t, c, same)

	spot := instancetypes.PriceChange{InstanceType: "small", Zone: "a", CapacityType: offerings.Spot, Price: adjusted(t, "0.5")}
	elsewhere, cheaper, unknown := spot, spot, spot
	elsewhere.Zone, cheaper.Price, unknown.InstanceType = "b", adjusted(t, "-10%"), "tiny"
	priced, unused, err := c.WithPrices(instancetypes.Prices{Changes: []instancetypes.PriceChange{elsewhere, cheaper, unknown, spot}})
	require.NoError(t, err)
	assert.Equal(t, []instancetypes.PriceChange{elsewhere, cheaper, unknown}, unused, "none of a zone or type that is not there, no discount on what is not sold")
	o, ok := priced.Lookup(offerings.Key{InstanceType: "small", Zone: "a", CapacityType: offerings.Spot})
	require.True(t, ok)
	assert.Equal(t, "0.5", o.Price.String())
	_, ok = c.Lookup(offerings.Key{InstanceType: "small", Zone: "a", CapacityType: offerings.Spot})
	assert.False(t, ok, "the catalog itself stays as it is")

	_, _, err = c.WithPrices(instancetypes.Prices{Changes: []instancetypes.PriceChange{{}, {InstanceType: "small", CapacityType: "OD"}}})
	require.EqualError(t, err, `instance type small: changes[1].capacityType: "OD": want reserved, spot, on-demand or a lower-case label value`)

	_, unused, err = (*instancetypes.Catalog)(nil).WithPrices(instancetypes.Prices{Changes: []instancetypes.PriceChange{spot}})
	require.NoError(t, err)
	assert.Len(t, unused, 1)
}

// A factor of prices leaves their age as it was, whatever day its file states.
func TestFactorsMakeNoPriceNewer(t *testing.T) {
	c := twoTypes(t).WithProvenance(instancetypes.Provenance{Source: "list", Date: "2025-05-28", Prices: []offerings.CapacityType{offerings.OnDemand}})
	for text, newest := range map[string]string{"-12%": "2025-05-28", "0.5": "2026-11-29"} {
		priced, _, err := c.WithPrices(instancetypes.Prices{Source: "ours", Date: "2026-11-29", Changes: []instancetypes.PriceChange{{CapacityType: offerings.OnDemand, Price: adjusted(t, text)}}})
		require.NoError(t, err)
		require.NotEmpty(t, priced.Origin().Prices)
		assert.Equal(t, newest, priced.Origin().Prices[0].Date, text)
	}
}

func adjusted(t *testing.T, text string) offerings.Adjustment {
	t.Helper()
	a, err := offerings.ParseAdjustment(text)
	require.NoError(t, err)
	return a
}

func FuzzReadPrices(f *testing.F) {
	f.Add("prices:\n- {instanceType: small, capacityType: spot, zone: a, price: 0.1}\n")
	f.Add("instanceType,factor\nsmall,0.5\n")
	f.Add(`{"SpotPriceHistory": [{"AvailabilityZone": "a", "InstanceType": "small", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.1", "Timestamp": "2026-11-20T06:16:23Z"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		prices, err := instancetypes.ReadPrices(strings.NewReader(text))
		if err != nil {
			return
		}
		require.NotEmpty(t, prices.Changes)
		_, _, err = twoTypes(t).WithPrices(prices)
		require.NoError(t, err, "what is read can be applied")
	})
}
