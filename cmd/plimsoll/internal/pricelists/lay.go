package pricelists

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/regions"
	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// Lay replaces prices of a catalog by those of a file, or by the embedded prices of a commitment (committed:1y). The
// warnings name the prices that the catalog has no offering for.
func Lay(c *instancetypes.Catalog, file string) (changed *instancetypes.Catalog, warnings []string, err error) {
	prices, err := read(c.Name(), file)
	if err != nil {
		return nil, nil, err
	}
	changed, unused, err := c.WithPrices(prices)
	if err != nil {
		return nil, nil, err
	}
	if len(unused) == len(prices.Changes) {
		return nil, nil, fmt.Errorf("none of %s matches an offering of catalog %s; the first is of %s, and the catalog's zones are %s",
			figures.Count(len(unused), "price"), c.Name(), about(unused[0]), figures.Names(regions.Zones(c), 6))
	}
	if len(unused) > 0 {
		prices.Warnings = append(prices.Warnings, fmt.Sprintf("%d of %s match no offering of catalog %s, such as %s",
			len(unused), figures.Count(len(prices.Changes), "price"), c.Name(), about(unused[0])))
	}
	return changed, prices.Warnings, nil
}

// read reads a file of prices, or those of commitments that are embedded with the catalog.
func read(catalog, file string) (instancetypes.Prices, error) {
	if term, ok := strings.CutPrefix(file, "committed:"); ok {
		return clouds.Committed(catalog, term)
	}
	in, err := os.Open(file)
	if err != nil {
		return instancetypes.Prices{}, errors.Unwrap(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	prices, err := instancetypes.ReadPrices(in)
	prices.Source = file
	return prices, err
}

// about names the offerings of a change of prices.
func about(x instancetypes.PriceChange) string {
	parts := []string{cmp.Or(x.InstanceType, "all instance types")}
	if x.CapacityType != "" {
		parts = append(parts, string(x.CapacityType))
	}
	if zone := cmp.Or(x.Zone, x.ZoneID); zone != "" {
		parts = append(parts, "in "+zone)
	}
	return strings.Join(parts, " ")
}
