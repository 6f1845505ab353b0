package azure

import (
	"embed"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Regions returns the names of the regions that [Catalog] knows, sorted. The caller
// owns the slice.
func Regions() []string { return embedded.Regions(files) }

// Catalog returns what Azure sells in a region, such as "eastus": see the package
// comment for what is known of it and what is estimated. The catalog is made anew on
// every call, from an embedded table, in some milliseconds; nothing is kept. The
// error for a region that is not embedded names those that are.
func Catalog(region string) (*instancetypes.Catalog, error) {
	var facts azurefacts.Region
	if err := embedded.Region(files, "azure", region, &facts); err != nil {
		return nil, err
	}
	return build(facts)
}

// MustCatalog is [Catalog] for regions written in source code. It panics on an error.
func MustCatalog(region string) *instancetypes.Catalog {
	c, err := Catalog(region)
	if err != nil {
		panic(err)
	}
	return c
}

func build(region azurefacts.Region) (*instancetypes.Catalog, error) {
	types := make([]*instancetypes.InstanceType, 0, len(region.Sizes))
	for i := range region.Sizes {
		size := &region.Sizes[i]
		types = append(types, &instancetypes.InstanceType{
			Name:      size.Name,
			Labels:    labels(size, region.Name),
			Capacity:  capacity(size),
			Overhead:  overhead(size),
			Offerings: offered(size, region),
		})
	}
	c, err := instancetypes.NewCatalog(types...)
	if err != nil {
		return nil, fmt.Errorf("azure region %s: %w", region.Name, err)
	}
	return c.Named("azure/" + region.Name).WithProvenance(provenance(region)...), nil
}

// offered lists how a size is sold: at the same price in every zone. Zones are those
// that AKS writes on nodes; a region without zones has the one named "0".
func offered(s *azurefacts.Size, region azurefacts.Region) []offerings.Offering {
	estimated := []string{"unavailable"}
	zones := []string{"0"}
	if region.Zones > 0 {
		zones = zones[:0]
		for n := range region.Zones {
			zones = append(zones, fmt.Sprintf("%s-%d", region.Name, n+1))
		}
	}
	list := make([]offerings.Offering, 0, 2*len(zones))
	for _, zone := range zones {
		list = append(list, offerings.Offering{Zone: zone, CapacityType: offerings.OnDemand, Price: s.OnDemand, Estimated: estimated})
		if s.Spot > 0 {
			list = append(list, offerings.Offering{Zone: zone, CapacityType: offerings.Spot, Price: s.Spot, Estimated: estimated})
		}
	}
	return list
}

// provenance says where the figures of a region come from, and which of them are
// estimates.
func provenance(region azurefacts.Region) []instancetypes.Provenance {
	return []instancetypes.Provenance{
		{
			Source: region.Module, Date: region.Date, License: "MIT",
			Covers: "names, cores, memory, GPUs, on-demand and spot prices",
			Prices: []offerings.CapacityType{offerings.OnDemand, offerings.Spot},
			Estimated: []string{
				"offerings.zone: the source does not list zones, so every size is assumed to be sold in all zones of the region; offerings name \"unavailable\" as estimated",
				"labels: architecture and premium disks of sizes that the source does not describe are read off the name",
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

// files holds the tables that the command in instancetypes/gen writes: one
// region-NAME.gz for each region.
//
//go:embed data/*.gz
var files embed.FS
