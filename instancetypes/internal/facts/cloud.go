package facts

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Cloud is the rules of a cloud by which its package makes catalogs from facts.
type Cloud struct {
	// Name stands before the region in names of catalogs, as in "ec2/us-east-1".
	Name string
	// Files hold a table for each region, Shapes the one of shapes.
	Files, Shapes embedded.Files
	// Labels returns the labels of the cloud that every node of a shape has; those with an empty
	// value do not apply or are not known, and are left out. The caller owns the map.
	Labels func(*Shape) map[string]string
	// Capacity is the capacity that a node of the shape reports, and Overhead the part of it that
	// pods cannot request.
	Capacity func(*Shape) corev1.ResourceList
	Overhead func(*Shape) instancetypes.Overhead
	// Place returns the value of the zone label of nodes in a zone, and the further labels of
	// the zone's offerings of a capacity type.
	Place func(region string, z Zone, ct offerings.CapacityType) (zone string, labels map[string]string)
	// Provenance says where the figures of a region come from, and which are estimates.
	Provenance func(Shapes, Region) []instancetypes.Provenance
}

// Regions returns the names of the regions that there is a table of, sorted.
func (c Cloud) Regions() []string { return embedded.Regions(c.Files) }

// Read reads the facts of a region. The error for one that there is no table of proposes the
// names that come close.
func (c Cloud) Read(region string) (shapes Shapes, prices Region, err error) {
	if err = embedded.Region(c.Files, c.Name, region, &prices); err != nil {
		return shapes, prices, err
	}
	err = embedded.Read(c.Shapes, "shapes", &shapes)
	return shapes, prices, err
}

// Catalog returns the catalog of a region: every type that it sells.
func (c Cloud) Catalog(region string) (*instancetypes.Catalog, error) {
	shapes, prices, err := c.Read(region)
	if err != nil {
		return nil, err
	}
	catalog, err := c.Build(shapes, prices)
	if err != nil {
		return nil, fmt.Errorf("%s region %s: %w", c.Name, region, err)
	}
	return catalog, nil
}

// MustCatalog is [Cloud.Catalog] for regions written in source code. It panics on an error.
func (c Cloud) MustCatalog(region string) *instancetypes.Catalog {
	catalog, err := c.Catalog(region)
	if err != nil {
		panic(err)
	}
	return catalog
}

// Build joins shapes and prices. Both are in order of name.
func (c Cloud) Build(shapes Shapes, region Region) (*instancetypes.Catalog, error) {
	places := c.places(region)
	types := make([]*instancetypes.InstanceType, 0, len(region.Rows))
	next := 0
	for _, row := range region.Rows {
		for next < len(shapes.List) && shapes.List[next].Name < row.Type {
			next++
		}
		if next == len(shapes.List) || shapes.List[next].Name != row.Type {
			return nil, fmt.Errorf("%s: has a price and no shape", row.Type)
		}
		t := c.node(&shapes.List[next], region.Name)
		t.Offerings = places.offerings(row, region.SpotEstimated)
		types = append(types, t)
	}
	catalog, err := instancetypes.NewCatalog(types...)
	if err != nil {
		return nil, err
	}
	return catalog.Named(c.Name + "/" + region.Name).WithProvenance(c.Provenance(shapes, region)...), nil
}

// Committed returns the prices of machines under a commitment of a number of years, 1 or 3, in
// place of those on demand. Any other number is an error that names it.
func (c Cloud) Committed(region string, years int) (p instancetypes.Prices, err error) {
	shapes, prices, err := c.Read(region)
	if err != nil {
		return p, err
	}
	term, ok := map[int]string{1: "one year", 3: "three years"}[years]
	if !ok {
		return p, fmt.Errorf("commitment of %d years: want 1 or 3", years)
	}
	source := shapes.Sources.Prices
	p.Source, p.Date = "committed use of "+term+" ("+source.Module+")", source.Date
	for _, row := range prices.Rows {
		price := row.OneYear
		if years == 3 {
			price = row.ThreeYears
		}
		if price == 0 {
			continue
		}
		replaced, err := offerings.ParseAdjustment(price.String())
		if err != nil {
			return p, fmt.Errorf("%s region %s: %s: %w", c.Name, region, row.Type, err)
		}
		p.Changes = append(p.Changes, instancetypes.PriceChange{InstanceType: row.Type, CapacityType: offerings.OnDemand, Price: replaced})
	}
	if len(p.Changes) == 0 {
		return p, fmt.Errorf("%s region %s: no prices of commitments are known", c.Name, region)
	}
	return p, nil
}

// place is a zone with the labels that its offerings share. Labels are shared between
// offerings until the catalog copies them.
type place struct {
	zone           string
	onDemand, spot map[string]string
}

// places maps the letter of a zone to the zone.
type places map[byte]place

func (c Cloud) places(region Region) places {
	p := make(places, len(region.Zones))
	for _, z := range region.Zones {
		here := place{}
		here.zone, here.onDemand = c.Place(region.Name, z, offerings.OnDemand)
		_, here.spot = c.Place(region.Name, z, offerings.Spot)
		p[z.Letter] = here
	}
	return p
}

// offerings lists how a type is sold; the spot price is the same in all its zones.
func (p places) offerings(row Row, spotEstimated bool) []offerings.Offering {
	var onDemand, spot []string
	if row.List == DedicatedList {
		onDemand = append(onDemand, "price")
	}
	if spotEstimated {
		spot = append(spot, "price")
	}
	if row.Assumed {
		onDemand, spot = append(onDemand, "unavailable"), append(spot, "unavailable")
	}
	list := make([]offerings.Offering, 0, 2*len(row.Zones))
	for i := range len(row.Zones) {
		here := p[row.Zones[i]]
		list = append(list, offerings.Offering{
			Zone: here.zone, CapacityType: offerings.OnDemand, Price: row.OnDemand,
			Labels: here.onDemand, Estimated: onDemand,
		})
		if row.Spot > 0 {
			list = append(list, offerings.Offering{
				Zone: here.zone, CapacityType: offerings.Spot, Price: row.Spot,
				InterruptionRate: row.Band.Rate(), Labels: here.spot, Estimated: spot,
			})
		}
	}
	return list
}
