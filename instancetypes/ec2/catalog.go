package ec2

import (
	"embed"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Regions returns the names of the regions that [Catalog] knows, sorted. The caller
// owns the slice.
func Regions() []string { return embedded.Regions(files) }

// Catalog returns what EC2 sells in a region: see the package comment for what is
// known of it and what is estimated. The catalog is made anew on every call, from
// embedded tables, in some milliseconds; nothing is kept. The error for a region that
// is not embedded proposes the names that come close.
func Catalog(region string) (*instancetypes.Catalog, error) {
	shapes, prices, err := read(region)
	if err != nil {
		return nil, err
	}
	types, err := build(shapes, prices)
	if err != nil {
		return nil, fmt.Errorf("ec2 region %s: %w", region, err)
	}
	c, err := instancetypes.NewCatalog(types...)
	if err != nil {
		return nil, fmt.Errorf("ec2 region %s: %w", region, err)
	}
	return c.Named("ec2/" + region).WithProvenance(provenance(shapes, prices)...), nil
}

// MustCatalog is [Catalog] for regions written in source code. It panics on an error.
func MustCatalog(region string) *instancetypes.Catalog {
	c, err := Catalog(region)
	if err != nil {
		panic(err)
	}
	return c
}

// read decodes the facts of a region.
func read(region string) (shapes ec2facts.Shapes, prices ec2facts.Region, err error) {
	if err := embedded.Region(files, "ec2", region, &prices); err != nil {
		return shapes, prices, err
	}
	shapes, err = readShapes()
	return shapes, prices, err
}

func readShapes() (shapes ec2facts.Shapes, err error) {
	err = embedded.Read(files, "shapes", &shapes)
	return shapes, err
}

// build joins shapes and prices. Both are in order of name. Offerings of one zone
// share their maps of labels until the catalog copies them.
func build(shapes ec2facts.Shapes, region ec2facts.Region) ([]*instancetypes.InstanceType, error) {
	places := placesOf(region)
	types := make([]*instancetypes.InstanceType, 0, len(region.Rows))
	next := 0
	for _, row := range region.Rows {
		for next < len(shapes.List) && shapes.List[next].Name < row.Type {
			next++
		}
		if next == len(shapes.List) || shapes.List[next].Name != row.Type {
			return nil, fmt.Errorf("%s: has a price and no shape", row.Type)
		}
		shape := &shapes.List[next]
		types = append(types, &instancetypes.InstanceType{
			Name:      shape.Name,
			Labels:    labels(shape, region.Name),
			Capacity:  capacity(shape),
			Overhead:  overhead(shape),
			Offerings: places.offerings(row),
		})
	}
	return types, nil
}

// place is a zone with what its offerings have in common. Labels are shared between
// offerings until the catalog copies them.
type place struct {
	zone   string
	labels map[string]string
}

// places maps the letter of a zone to the zone.
type places map[byte]place

func placesOf(region ec2facts.Region) places {
	p := make(places, len(region.Zones))
	for _, z := range region.Zones {
		here := place{zone: region.Name + string(z.Letter)}
		if z.ID != "" {
			here.labels = map[string]string{labelZoneID: z.ID}
		}
		p[z.Letter] = here
	}
	return p
}

// offerings lists how a type is sold. The spot prices belong to its zones in order,
// as far as they go; which of several zones they belong to is assigned.
func (p places) offerings(row ec2facts.Row) []offerings.Offering {
	var estimated []string
	if row.List == ec2facts.DedicatedList {
		estimated = append(estimated, "price")
	}
	if row.Assumed {
		estimated = append(estimated, "unavailable")
	}
	list := make([]offerings.Offering, 0, len(row.Zones)+len(row.Spot))
	var assigned []string
	if len(row.Zones) > 1 {
		assigned = []string{"zone"}
	}
	for i := range len(row.Zones) {
		here := p[row.Zones[i]]
		list = append(list, offerings.Offering{
			Zone: here.zone, CapacityType: offerings.OnDemand, Price: row.OnDemand,
			Labels: here.labels, Estimated: estimated,
		})
		if i < len(row.Spot) {
			list = append(list, offerings.Offering{
				Zone: here.zone, CapacityType: offerings.Spot, Price: row.Spot[i],
				InterruptionRate: row.Band.Rate(), Labels: here.labels, Estimated: assigned,
			})
		}
	}
	return list
}

// files holds the tables that the command in instancetypes/gen writes: shapes.gz and
// one region-NAME.gz for each region.
//
//go:embed data/*.gz
var files embed.FS
