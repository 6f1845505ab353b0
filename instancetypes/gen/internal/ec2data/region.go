package ec2data

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// regionName matches regions and neither local zones nor wavelength zones, which
// the source lists beside them ("us-east-1-bos-1").
var regionName = regexp.MustCompile(`^[a-z]{2}(-gov)?-[a-z]+-\d$`)

func (b *builder) regionNames() []string {
	names := map[string]bool{}
	for _, i := range b.Instances {
		for name := range i.Pricing {
			if regionName.MatchString(name) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// region makes the table of a region's prices.
func (b *builder) region(name string) (facts.Region, error) {
	zones, err := b.zonesOf(name)
	if err != nil {
		return facts.Region{}, err
	}
	g := facts.Region{Name: name, Zones: zones.list, SpotEstimated: true, FreshDate: b.Fresh.Dates[name]}
	for _, typeName := range slices.Sorted(maps.Keys(b.shapes)) {
		row, ok, err := b.row(zones, typeName)
		if err != nil {
			return facts.Region{}, fmt.Errorf("region %s: %s: %w", name, typeName, err)
		}
		if ok {
			g.Rows = append(g.Rows, row)
		}
	}
	return g, nil
}

// row says how a region sells a type; false if it does not.
func (b *builder) row(zones regionZones, typeName string) (facts.Row, bool, error) {
	var older source.LinuxPrices
	if p := b.known[typeName].Pricing[zones.region].Linux; p != nil {
		older = *p
	}
	row := facts.Row{Type: typeName}
	ok, err := b.onDemand(&row, zones.region, older)
	if err != nil || !ok {
		return row, false, err
	}
	row.Zones, row.Assumed = zones.of(b.known[typeName])
	if row.Zones == "" {
		return row, false, nil
	}
	err = addSpot(&row, older)
	return row, true, err
}

// onDemand sets the price of a machine on demand. The fresher list stands, but for
// bare metal, which it prices at dedicated tenancy: there the older list stands
// where it has the type.
func (b *builder) onDemand(row *facts.Row, region string, older source.LinuxPrices) (bool, error) {
	fresh, isFresh := b.Fresh.ByRegion[region][row.Type]
	metal := facts.IsMetal(row.Type)
	switch {
	case isFresh && !metal:
		row.OnDemand, row.List = fresh, facts.FresherList
	case older.OnDemand != "":
		price, err := offerings.ParsePrice(older.OnDemand)
		if err != nil {
			return false, err
		}
		row.OnDemand = price
	case isFresh && !b.isWholeHost(region, row.Type, fresh):
		row.OnDemand, row.List = fresh, facts.DedicatedList
	}
	return row.OnDemand > 0, nil
}

// isWholeHost reports whether a dedicated price is that of a host which holds more
// than the one machine: it is above half as much again as the virtual machine of the
// same size. The price of the machine is then unknown.
func (b *builder) isWholeHost(region, name string, dedicated offerings.Price) bool {
	family, size, _ := strings.Cut(name, ".metal-")
	twin, ok := b.Fresh.ByRegion[region][family+"."+strings.TrimSuffix(size, "xl")+"xlarge"]
	return ok && dedicated/3 > twin/2
}

// addSpot sets the spot price and the interruption band. The source lists the prices of a type in the zones of a region, in
// ascending order and without the zones, so that all zones get their median, the lower one of two: the order says
// nothing of a zone, e.g. that the first one is the cheapest.
func addSpot(row *facts.Row, prices source.LinuxPrices) error {
	var listed []offerings.Price
	for _, text := range prices.Spot {
		price, err := offerings.ParsePrice(text)
		if err != nil {
			return err
		}
		if price > 0 {
			listed = append(listed, price)
		}
	}
	if len(listed) == 0 {
		return nil
	}
	slices.Sort(listed)
	row.Spot = listed[(len(listed)-1)/2]
	if prices.Band == "" {
		return nil
	}
	band, err := facts.ParseBand(prices.Band)
	row.Band = band
	return err
}
