package ec2

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
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
