package manifest

import (
	"math/bits"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// mostZones is the number of zones of a launch, the best first, from which the zones of a claim are
// chosen.
const mostZones = 8

// reserved reports whether an option is in a reservation or inventory, which its claim names. A commitment is not named.
func reserved(o scheduling.LaunchOption) bool { return o.ReservationID != "" && !o.Commitment }

// claimable returns those options of a launch that its claim asks for, in their order. The first
// option is included, and every combination of their types, zones and capacity types is one of
// them. Of all such choices it is one that meets the launch's minValues of the three, if there is
// one, and then the one with the most options; of equal ones that of the better zones. Offerings of
// reservations and inventories are asked for alone, and by their ids, as Karpenter does for reserved ones.
func claimable(l *scheduling.Launch) []scheduling.LaunchOption {
	first := l.Options[0]
	if reserved(first) || first.CapacityType == offerings.Reserved {
		return lo.Filter(l.Options, func(o scheduling.LaunchOption, _ int) bool {
			return o.CapacityType == first.CapacityType && o.InstanceType == first.InstanceType && o.Zone == first.Zone && reserved(o) == reserved(first)
		})
	}
	open := lo.Reject(l.Options, func(o scheduling.LaunchOption, _ int) bool {
		return reserved(o) || o.CapacityType == offerings.Reserved
	})
	zones := lo.Uniq(lo.Map(open, func(o scheduling.LaunchOption, _ int) string { return o.Zone }))
	zones = zones[:min(len(zones), mostZones)]
	ways := lo.Uniq(lo.Map(open, func(o scheduling.LaunchOption, _ int) offerings.CapacityType { return o.CapacityType }))
	place := func(o scheduling.LaunchOption) uint {
		if z := slices.Index(zones, o.Zone); z >= 0 {
			return 1 << (z*len(ways) + slices.Index(ways, o.CapacityType))
		}
		return 0
	}
	sold := map[string]uint{} // by type, a bit for each zone and capacity type
	for _, o := range open {
		sold[o.InstanceType] |= place(o)
	}
	floors := floorsOf(l)
	var best uint
	most := 0
	for z := uint(1); z < 1<<len(zones); z += 2 { // bit 0 is the zone of the first option
		for w := uint(1); w < 1<<len(ways); w += 2 {
			all := uint(0)
			for i := range zones {
				all |= (z >> i & 1) * w << (i * len(ways))
			}
			if sold[first.InstanceType]&all != all {
				continue
			}
			types := lo.CountBy(lo.Values(sold), func(s uint) bool { return s&all == all })
			score := types * bits.OnesCount(all)
			if types >= floors[corev1.LabelInstanceTypeStable] && bits.OnesCount(z) >= floors[corev1.LabelTopologyZone] && bits.OnesCount(w) >= floors[offerings.CapacityTypeLabel] {
				score += len(l.Options)
			}
			if score > most {
				best, most = all, score
			}
		}
	}
	return lo.Filter(open, func(o scheduling.LaunchOption, _ int) bool {
		return sold[o.InstanceType]&best == best && place(o)&best != 0
	})
}
