package clouds

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// ReadPrices reads the file of a name or, for committed:1y and committed:3y, the embedded prices of the commitment. These
// are prices of one catalog, which is given by name.
func ReadPrices(catalog, name string) (instancetypes.Prices, error) {
	if term, ok := strings.CutPrefix(name, "committed:"); ok {
		return Committed(catalog, term)
	}
	in, err := os.Open(name)
	if err != nil {
		return instancetypes.Prices{}, errors.Unwrap(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	prices, err := instancetypes.ReadPrices(in)
	prices.Source = name
	return prices, err
}

// WithPrices lays prices over a catalog. The warnings name the prices that were left out, e.g. because the catalog has no
// offering for them; it is an error if it has none for any of them.
func WithPrices(c *instancetypes.Catalog, prices instancetypes.Prices) (changed *instancetypes.Catalog, warnings []string, err error) {
	changed, unused, err := c.WithPrices(prices)
	if err != nil {
		return nil, nil, err
	}
	switch len(unused) {
	case 0:
		return changed, prices.Warnings, nil
	case len(prices.Changes):
		return nil, nil, fmt.Errorf("no price matches an offering of catalog %s: the first one is of %s, and the catalog's zones are %s",
			c.Name(), selected(unused[0]), strings.Join(Zones(c), ", "))
	}
	return changed, append(prices.Warnings, fmt.Sprintf("%d of %d prices match no offering of catalog %s, such as %s",
		len(unused), len(prices.Changes), c.Name(), selected(unused[0]))), nil
}

// selected describes the offerings that a change of prices selects.
func selected(x instancetypes.PriceChange) string {
	parts := []string{cmp.Or(x.InstanceType, "all instance types")}
	if x.CapacityType != "" {
		parts = append(parts, string(x.CapacityType))
	}
	if zone := cmp.Or(x.Zone, x.ZoneID); zone != "" {
		parts = append(parts, "in "+zone)
	}
	return strings.Join(parts, " ")
}

// Zones are the zones of a catalog's offerings, sorted.
func Zones(c *instancetypes.Catalog) []string {
	seen := map[string]bool{}
	for t := range c.All() {
		for _, o := range t.Offerings {
			seen[o.Zone] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
