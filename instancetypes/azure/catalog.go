package azure

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

// Catalog returns the catalog of an Azure region, e.g. "eastus": the package comment says which
// figures are known and which are estimated. The catalog is made again on every call, from an
// embedded table, in a few milliseconds; it is not cached. The error for a region that is not
// embedded proposes the names that come close.
func Catalog(region string) (*instancetypes.Catalog, error) { return cloud().Catalog(region) }

// MustCatalog is [Catalog] for regions written in source code. It panics on an error.
func MustCatalog(region string) *instancetypes.Catalog { return cloud().MustCatalog(region) }

// cloud says how nodes of AKS follow from the facts.
func cloud() facts.Cloud {
	return facts.Cloud{Name: "azure", Files: files, Shapes: shapes, Labels: labels, Capacity: capacity, Overhead: overhead, Place: place, Provenance: provenance}
}

// place names a zone as AKS writes it on nodes: those of a region without zones have "0".
func place(region string, z facts.Zone, ct offerings.CapacityType) (zone string, labels map[string]string) {
	labels = map[string]string{labelPlacement: "zonal", labelAKSPriority: "regular"}
	if ct == offerings.Spot {
		labels[labelAKSPriority] = "spot"
	}
	if z.Letter == '0' {
		labels[labelPlacement] = "regional"
		return "0", labels
	}
	return region + "-" + string(z.Letter), labels
}

// provenance says where the figures of a region come from, and which of them are
// estimates.
func provenance(shapes facts.Shapes, region facts.Region) []instancetypes.Provenance {
	src := shapes.Sources
	spot, former := 0, 0
	for _, row := range region.Rows {
		if row.Spot > 0 {
			spot++
		}
		if row.List == facts.FormerList {
			former++
		}
	}
	older := instancetypes.Provenance{
		Source: src.Instances.Module, Date: src.Instances.Date, License: "MIT",
		Covers: fmt.Sprintf("spot prices of %d sizes of %d, the others are not sold as spot here; on-demand prices of %d sizes of which the newer list has that of Windows; "+
			"models of GPUs, premium disks and accelerated networking", spot, len(region.Rows), former),
	}
	if former > 0 {
		older.Prices = append(older.Prices, offerings.OnDemand)
	}
	if spot > 0 {
		older.Prices = append(older.Prices, offerings.Spot)
	}
	return []instancetypes.Provenance{
		{Source: src.Prices.Module, Date: src.Prices.Date, License: "Apache-2.0", Covers: "on-demand prices", Prices: []offerings.CapacityType{offerings.OnDemand}},
		older,
		{Source: src.Shapes.Module, Date: src.Shapes.Date, License: "Apache-2.0", Covers: "cores, memory, architecture, number of GPUs"},
		{
			Source: src.Zones.Module, Date: src.Zones.Date, License: "Apache-2.0", Covers: "how many zones the region has, which GPUs Kubernetes on Azure supports",
			Estimated: []string{
				"offerings.zone: the source does not list which sizes a zone has, so every size is assumed to be sold in all zones of the region; offerings name \"unavailable\" as estimated",
				"labels: premium disks of sizes that no source describes are read off the name",
			},
		},
		{
			Source: "Plimsoll",
			Covers: "what nodes report and keep from pods, by the formulas of Karpenter's Azure provider: memory less 7.5 %, " +
				"reserved cores and memory of AKS, an eviction threshold of 750 MiB, a system disk of 128 GB, 110 pods",
			Estimated: []string{"capacity.memory", "capacity.pods", "capacity.ephemeral-storage", "overhead"},
		},
	}
}

// files holds the tables of regions that the command in instancetypes/gen writes, shapes the
// one of sizes.
//
//go:embed data/region-*.gz
var files embed.FS

//go:embed data/shapes.gz
var shapes embed.FS
