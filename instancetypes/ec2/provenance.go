package ec2

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// provenance says where the figures of a region come from, and which of them are
// estimates.
func provenance(shapes facts.Shapes, region facts.Region) []instancetypes.Provenance {
	n := count(shapes, region)
	src := shapes.Sources
	list := []instancetypes.Provenance{
		older(src.Instances, n),
		{
			Source: src.Limits.Module, Date: src.Limits.Date, License: "Apache-2.0",
			Covers: "network interfaces and addresses, from which the number of pods follows; interfaces for single pods; hypervisor",
		},
		{
			Source: src.Bandwidth.Module, Date: src.Bandwidth.Date, License: "Apache-2.0",
			Covers: "baseline network bandwidth",
		},
	}
	if region.FreshDate != "" {
		list = append(list, fresher(src.Bandwidth.Module, region.FreshDate, n))
	}
	return append(list, instancetypes.Provenance{
		Source: "Plimsoll",
		Covers: "what nodes report and keep from pods, by the formulas of the EKS bootstrap and of Karpenter's AWS provider: " +
			"memory less 7.5 % (and 64 MiB on arm64), kube-reserved by cores and pods, eviction thresholds, a root volume of 20 GiB; " +
			"corrections of the sources where EC2's own description differs",
		Estimated: []string{"capacity.memory", "capacity.ephemeral-storage", "overhead"},
	})
}

func older(src facts.Source, n counts) instancetypes.Provenance {
	p := instancetypes.Provenance{
		Source: src.Module, Date: src.Date, License: "MIT",
		Covers: fmt.Sprintf("cores, memory, architecture, processor, accelerators, local disks and bandwidth to network disks of %d types; "+
			"on-demand prices of %d types", n.types-n.derived, n.olderPrices),
	}
	if n.olderPrices > 0 {
		p.Prices = append(p.Prices, offerings.OnDemand)
	}
	if n.spot == 0 {
		p.Covers += "; the source has no spot prices of this region, so nothing is sold as spot here"
	} else {
		p.Covers += fmt.Sprintf("; zones, spot prices of %d types and interruption bands of spot machines", n.spot)
		p.Prices = append(p.Prices, offerings.Spot)
		p.PricesEstimated = []offerings.CapacityType{offerings.Spot}
		p.Estimated = append(p.Estimated,
			"offerings.price of spot machines: the source lists the prices of a type in a region in ascending order without naming zones; all zones have their median; the offerings name \"price\" as estimated",
			"offerings.interruptionRate: the middle of the published band, a quarter for the open band above 20 %")
	}
	p.Estimated = append(p.Estimated,
		"offerings.zone: names of zones differ between accounts; the zone whose id ends in azN has the Nth letter")
	if n.assumed > 0 {
		p.Estimated = append(p.Estimated, fmt.Sprintf(
			"offerings.zone of %d types: no source lists their zones, so they are assumed to be sold in %s; their offerings name \"unavailable\" as estimated",
			n.assumed, assumedZones(n)))
	}
	return p
}

func assumedZones(n counts) string {
	if n.zonesKnown {
		return "the zones that sell nine tenths of the newest generation"
	}
	return "three zones a, b and c"
}

func fresher(module, date string, n counts) instancetypes.Provenance {
	p := instancetypes.Provenance{
		Source: module, Date: date, License: "Apache-2.0",
		Covers: fmt.Sprintf("on-demand prices of %d types", n.fresherPrices+n.dedicatedPrices),
		Prices: []offerings.CapacityType{offerings.OnDemand},
	}
	if n.derived > 0 {
		p.Estimated = append(p.Estimated, fmt.Sprintf(
			"labels and capacity of %d types that no other source describes: cores, memory, architecture and maker are read off the name; local disks and bandwidth to network disks are not known",
			n.derived))
	}
	if n.dedicatedPrices > 0 {
		p.Estimated = append(p.Estimated, fmt.Sprintf(
			"offerings.price of %d bare-metal types that only this list prices: it asks for dedicated tenancy, which is up to a tenth above shared tenancy; their offerings name \"price\" as estimated",
			n.dedicatedPrices))
	}
	return p
}

// counts sums up a region.
type counts struct {
	types, derived, assumed, spot               int
	olderPrices, fresherPrices, dedicatedPrices int
	zonesKnown                                  bool
}

func count(shapes facts.Shapes, region facts.Region) counts {
	derived := map[string]bool{}
	for _, s := range shapes.List {
		if s.Derived {
			derived[s.Name] = true
		}
	}
	n := counts{types: len(region.Rows)}
	for _, z := range region.Zones {
		n.zonesKnown = n.zonesKnown || z.ID != ""
	}
	for _, row := range region.Rows {
		if row.Spot > 0 {
			n.spot++
		}
		if derived[row.Type] {
			n.derived++
		}
		if row.Assumed {
			n.assumed++
		}
		switch row.List {
		case facts.FresherList:
			n.fresherPrices++
		case facts.DedicatedList:
			n.dedicatedPrices++
		case facts.OlderList:
			n.olderPrices++
		}
	}
	return n
}
