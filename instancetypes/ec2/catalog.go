package ec2

import (
	"embed"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Regions returns the names of the regions that [Catalog] knows, sorted. The caller
// owns the slice.
func Regions() []string { return cloud().Regions() }

// Catalog returns the catalog of an EC2 region: the package comment says which figures are known
// and which are estimated. The catalog is made again on every call, from embedded tables, in a few
// milliseconds; it is not cached. The error for a region that is not embedded proposes the names
// that come close.
func Catalog(region string) (*instancetypes.Catalog, error) { return cloud().Catalog(region) }

// MustCatalog is [Catalog] for regions written in source code. It panics on an error.
func MustCatalog(region string) *instancetypes.Catalog { return cloud().MustCatalog(region) }

// cloud says how nodes of EC2 follow from the facts.
func cloud() facts.Cloud {
	return facts.Cloud{Name: "ec2", Files: files, Shapes: shapes, Labels: labels, Capacity: capacity, Overhead: overhead, Place: place, Provenance: provenance}
}

// place names a zone.
func place(region string, z facts.Zone, _ offerings.CapacityType) (zone string, labels map[string]string) {
	if z.ID != "" {
		labels = map[string]string{labelZoneID: z.ID}
	}
	return region + string(z.Letter), labels
}

// files holds the tables of regions that the command in instancetypes/gen writes, shapes the
// one of shapes, apart so that node classes do not bring prices into a program.
//
//go:embed data/region-*.gz
var files embed.FS

//go:embed data/shapes.gz
var shapes embed.FS
