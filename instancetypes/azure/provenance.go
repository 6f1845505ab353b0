package azure

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/azurefacts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

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
