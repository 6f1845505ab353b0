package gcp

import (
	"embed"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Regions returns the names of the regions that [Catalog] knows, sorted. The caller
// owns the slice.
func Regions() []string { return cloud().Regions() }

// Catalog returns the catalog of a Google Cloud region, e.g. "europe-west4": the package comment
// says which figures are known and which are estimated. The catalog is made again on every call,
// from embedded tables, in a few milliseconds; it is not cached. The error for a region that is not
// embedded proposes the names that come close.
func Catalog(region string) (*instancetypes.Catalog, error) { return cloud().Catalog(region) }

// MustCatalog is [Catalog] for regions written in source code. It panics on an error.
func MustCatalog(region string) *instancetypes.Catalog { return cloud().MustCatalog(region) }

// Committed returns the prices of nodes under a commitment of a number of years, 1 or 3, in
// place of prices on demand, for [instancetypes.Catalog.WithPrices]. Types without a price under
// commitment are missing. The caller must know whether a commitment is large enough for a plan.
func Committed(region string, years int) (instancetypes.Prices, error) {
	return cloud().Committed(region, years)
}

// cloud says how nodes of GKE follow from the facts.
func cloud() facts.Cloud {
	return facts.Cloud{Name: "gcp", Files: files, Shapes: shapes, Labels: labels, Capacity: capacity, Overhead: overhead, Place: place, Provenance: provenance}
}

// place names a zone.
func place(region string, z facts.Zone, ct offerings.CapacityType) (zone string, labels map[string]string) {
	zone = region + "-" + string(z.Letter)
	labels = map[string]string{labelZoneID: zone, labelProvisioning: "standard"}
	if ct == offerings.Spot {
		labels[labelProvisioning], labels[labelSpot] = "spot", "true"
	}
	return zone, labels
}

// provenance says where the figures of a region come from, and which of them are estimates.
func provenance(shapes facts.Shapes, region facts.Region) []instancetypes.Provenance {
	src := shapes.Sources
	spot, assumed := 0, 0
	for _, row := range region.Rows {
		if row.Spot > 0 {
			spot++
		}
		if row.Assumed {
			assumed++
		}
	}
	zones := instancetypes.Provenance{Source: src.Zones.Module, Date: src.Zones.Date, License: "Apache-2.0", Covers: fmt.Sprintf("zones of %d types", len(region.Rows)-assumed)}
	if assumed > 0 {
		zones.Estimated = []string{fmt.Sprintf("offerings.zone of %d types that the list does not have in this region: they are assumed to be sold in all its zones; their offerings name \"unavailable\" as estimated", assumed)}
	}
	return []instancetypes.Provenance{
		{
			Source: src.Prices.Module, Date: src.Prices.Date, License: "Apache-2.0",
			Covers: fmt.Sprintf("cores, memory, local disks, GPUs, which types the region sells, on-demand prices, spot prices of %d types of %d", spot, len(region.Rows)),
			Prices: []offerings.CapacityType{offerings.OnDemand, offerings.Spot},
		},
		zones,
		{Source: src.Disks.Module, Date: src.Disks.Date, License: "Apache-2.0", Covers: "which disks machine families take"},
		{
			Source: "Plimsoll",
			Covers: "what nodes report and keep from pods, by the formulas of GKE and of Karpenter's provider for Google Cloud: memory less 7 %, " +
				"reserved cores, memory and storage, an eviction threshold of 100 MiB, a boot disk of 100 GiB or local disks, 110 pods",
			Estimated: []string{"capacity.memory", "capacity.pods", "capacity.ephemeral-storage", "overhead"},
		},
	}
}

// files holds the tables of regions that the command in instancetypes/gen writes, shapes the
// one of machine types.
//
//go:embed data/region-*.gz
var files embed.FS

//go:embed data/shapes.gz
var shapes embed.FS
