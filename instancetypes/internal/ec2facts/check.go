package ec2facts

import (
	"errors"
	"fmt"
	"slices"
)

// validate reports what is wrong with a region, whether it is to be written or was
// read: prices that are not above 0, zones that the region does not have, more spot
// prices than zones, spot prices in zones that are guesses.
func (g Region) validate() error {
	var errs []error
	fault := func(format string, args ...any) {
		if len(errs) < 20 {
			errs = append(errs, fmt.Errorf("region %s: "+format, append([]any{g.Name}, args...)...))
		}
	}
	if g.Name == "" {
		fault("the name is empty")
	}
	known := map[byte]bool{}
	for i, z := range g.Zones {
		known[z.Letter] = true
		if z.Letter < 'a' || z.Letter > 'z' || i > 0 && g.Zones[i-1].Letter >= z.Letter {
			fault("zone %q: want letters from a to z that ascend", z.Letter)
		}
	}
	if err := ascending(len(g.Rows), func(i int) string { return g.Rows[i].Type }); err != nil {
		fault("%w", err)
	}
	for _, row := range g.Rows {
		if row.OnDemand <= 0 {
			fault("%s: on-demand price %v: want more than 0", row.Type, row.OnDemand)
		}
		if !slices.Contains([]PriceList{OlderList, FresherList, DedicatedList}, row.List) {
			fault("%s: price list %q is not known", row.Type, row.List)
		}
		if row.Zones == "" {
			fault("%s: is sold in no zone", row.Type)
		}
		for i := range len(row.Zones) {
			if !known[row.Zones[i]] || i > 0 && row.Zones[i-1] >= row.Zones[i] {
				fault("%s: zones %q: want ascending letters of the region's zones", row.Type, row.Zones)
				break
			}
		}
		if row.Band < 0 || row.Band > BandTop || row.Band != 0 && len(row.Spot) == 0 {
			fault("%s: interruption band %d: want 0 to %d, and 0 without a spot price", row.Type, row.Band, BandTop)
		}
		for i, p := range row.Spot {
			if p <= 0 || i > 0 && p < row.Spot[i-1] {
				fault("%s: spot prices %v: want prices above 0 that ascend", row.Type, row.Spot)
				break
			}
		}
		if len(row.Spot) > len(row.Zones) || len(row.Spot) > 0 && row.Assumed {
			fault("%s: %d spot prices: want at most one for each zone, and none where zones are a guess", row.Type, len(row.Spot))
		}
	}
	return errors.Join(errs...)
}
