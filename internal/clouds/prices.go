package clouds

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/pricelist"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// ReadPrices reads the file of a name or, for committed:1y and committed:3y, the embedded prices of the commitment. These
// are prices of one catalog, which is given by name.
func ReadPrices(catalog, name string) (instancetypes.Prices, error) {
	if term, ok := strings.CutPrefix(name, "committed:"); ok {
		return Committed(catalog, term)
	}
	prices, err := ReadPriceList(name)
	prices.Source = name
	return prices, err
}

// ReadPriceList reads the file of a name: prices of one's own or the price list of a cloud.
func ReadPriceList(name string) (instancetypes.Prices, error) {
	in, err := os.Open(name)
	if err != nil {
		return instancetypes.Prices{}, errors.Unwrap(err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	return pricelist.ReadList(in)
}

// WithPrices lays prices over a catalog. The warnings name the prices that were left out, e.g. because the catalog has no
// offering for them; it is an error if it has none for any of them.
func WithPrices(c *instancetypes.Catalog, prices instancetypes.Prices) (changed *instancetypes.Catalog, warnings []string, err error) {
	changed, unused, err := c.WithPrices(prices)
	if err != nil {
		return nil, nil, err
	}
	if len(unused) > 0 && len(unused) == len(prices.Changes) {
		return nil, nil, fmt.Errorf("no price matches an offering of catalog %s: the first one is of %s, and the catalog's zones are %s",
			c.Name(), selected(unused[0]), strings.Join(Zones(c), ", "))
	}
	if w := Implausible(c, changed); w != "" {
		prices.Warnings = append(slices.Clip(prices.Warnings), w)
	}
	regions := regionsOf(c)
	unused = slices.DeleteFunc(unused, func(x instancetypes.PriceChange) bool {
		return x.Region != "" && regions != nil && !regions[x.Region] // a file may have prices of several regions
	})
	if len(unused) == 0 {
		return changed, prices.Warnings, nil
	}
	return changed, append(slices.Clip(prices.Warnings), fmt.Sprintf("%d of %d prices match no offering of catalog %s, such as %s",
		len(unused), len(prices.Changes), c.Name(), selected(unused[0]))), nil
}

// Implausible warns of prices above ten times those that they replace or below a tenth of them, because no list price has changed so
// much: a factor of 88, a price per year, or a discount of 99 %. It is "" if there are none.
func Implausible(before, after *instancetypes.Catalog) string {
	first, n := "", 0
	for t := range after.All() {
		old, _ := before.Get(t.Name)
		for i := range t.Offerings {
			o := &t.Offerings[i]
			at := slices.IndexFunc(old.Offerings, func(x offerings.Offering) bool { return x.Key("") == o.Key("") })
			if at < 0 || old.Offerings[at].Price <= 0 || o.Price/10 <= old.Offerings[at].Price && old.Offerings[at].Price/10 <= o.Price {
				continue
			}
			if n++; n == 1 {
				first = fmt.Sprintf("%s %s in %s: price %v instead of %v USD per hour", t.Name, o.CapacityType, o.Zone, o.Price, old.Offerings[at].Price)
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "a price is more than ten times the one of the catalog, or less than a tenth of it: " + first
	}
	return fmt.Sprintf("%d prices are more than ten times those of the catalog, or less than a tenth of them, such as %s", n, first)
}

// regionsOf are the regions of a catalog's instance types; nil if any type states none.
func regionsOf(c *instancetypes.Catalog) map[string]bool {
	out := map[string]bool{}
	for t := range c.All() {
		region := t.Labels[corev1.LabelTopologyRegion]
		if region == "" {
			return nil
		}
		out[region] = true
	}
	return out
}

// selected describes the offerings that a change of prices selects.
func selected(x instancetypes.PriceChange) string {
	parts := []string{cmp.Or(x.InstanceType, "all instance types")}
	if x.CapacityType != "" {
		parts = append(parts, string(x.CapacityType))
	}
	if zone := cmp.Or(x.Zone, x.ZoneID, x.Region); zone != "" {
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
