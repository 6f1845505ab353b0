package clouds_test

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Ten prices of each cloud that were drawn at random from the sources, with where they stand
// there.
func TestPricesAreThoseOfTheSources(t *testing.T) {
	file, err := os.Open("testdata/prices.csv")
	require.NoError(t, err)
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, file.Close())
	require.NoError(t, err)
	drawn := map[string]int{}
	for _, row := range rows[1:] {
		catalog, instanceType, capacityType, price, source := row[0], row[1], row[2], offerings.MustPrice(row[3]), row[4]
		c, ok, err := clouds.Open(catalog)
		require.NoError(t, err)
		require.True(t, ok)
		it, ok := c.Get(instanceType)
		require.True(t, ok, "%s %s of %s", catalog, instanceType, source)
		found := 0
		for _, o := range it.Offerings {
			if string(o.CapacityType) == capacityType {
				assert.Equal(t, price, o.Price, "%s %s in %s of %s", catalog, instanceType, o.Zone, source)
				found++
			}
		}
		assert.Positive(t, found, "%s %s of %s", catalog, instanceType, source)
		cloud, _, _ := strings.Cut(catalog, "/")
		drawn[cloud]++
	}
	assert.Equal(t, map[string]int{"ec2": 10, "azure": 10, "gcp": 10}, drawn)
}

func TestNames(t *testing.T) {
	assert.Len(t, clouds.Names(), 34+57+43)
	for place, want := range map[string]string{
		"eu-west-1": "ec2/eu-west-1", "us-west-2-lax-1a": "ec2/us-west-2", "eastus-1": "azure/eastus", "eastus2": "azure/eastus2",
		"us-east1-b": "gcp/us-east1", "europe-west12-a": "gcp/europe-west12", "europe-west1": "gcp/europe-west1", "0": "", "": "", "rack-1": "",
	} {
		catalog, region := clouds.Region(place)
		assert.Equal(t, want, catalog, place)
		assert.True(t, strings.HasSuffix(catalog, region))
	}
	assert.Equal(t, []string{"gcp/us-east1"}, clouds.Near("google/us-east1"))
	regions := map[string]string{}
	for _, name := range clouds.Names() {
		_, region, _ := strings.Cut(name, "/")
		assert.Empty(t, regions[region], name)
		regions[region] = name
	}
	for region, name := range map[string]string{"eu-west-1": "ec2/eu-west-1", "westeurope": "azure/westeurope", "europe-west4": "gcp/europe-west4"} {
		c, err := clouds.OfRegion(region)
		require.NoError(t, err)
		assert.Equal(t, name, c.Name())
	}
	_, err := clouds.OfRegion("moon-1")
	require.EqualError(t, err, `no catalog of region "moon-1" is embedded`)
	_, ok, _ := clouds.Open("prices.csv")
	assert.False(t, ok)
	_, ok, err = clouds.Open("gcp/us-east9")
	assert.True(t, ok)
	require.ErrorContains(t, err, "close names are us-east1")
}

func TestCommitments(t *testing.T) {
	of := func(term string) *instancetypes.Catalog {
		prices, err := clouds.Committed("gcp/us-central1", term)
		require.NoError(t, err)
		c, _, err := clouds.Open("gcp/us-central1")
		require.NoError(t, err)
		c, unused, err := c.WithPrices(prices)
		require.NoError(t, err)
		require.Empty(t, unused)
		return c
	}
	price := func(c *instancetypes.Catalog) string {
		it, ok := c.Get("c3-standard-4")
		require.True(t, ok)
		return it.Offerings[0].Price.String()
	}
	// 92.72168 and 66.22852 USD for 730 hours.
	assert.Equal(t, "0.127016", price(of("1y")))
	assert.Equal(t, "0.090724", price(of("3y")))
	list := of("3y").Provenance()
	assert.Contains(t, list[len(list)-1].Source, "committed use of three years (github.com/")
	assert.Equal(t, "2026-07-30", list[len(list)-1].Date)
	for _, tt := range [][3]string{
		{"gcp/us-central1", "2y", "want 1 or 3"}, {"gcp/us-central1", "1", "want 1y or 3y"},
		{"ec2/us-east-1", "1y", "catalog ec2/us-east-1 has no committed-use prices"}, {"mine.csv", "1y", "has no committed-use prices"},
		{"", "1y", "none is named"},
	} {
		_, err := clouds.Committed(tt[0], tt[1])
		require.ErrorContains(t, err, tt[2])
	}
}
