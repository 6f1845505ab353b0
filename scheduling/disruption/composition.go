package disruption

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodeKind counts the nodes of a NodePool with the same instance type, zone and capacity type.
type NodeKind struct {
	// NodePool, InstanceType, Zone and CapacityType are the same for all of them.
	NodePool     string                 `json:"nodePool"`
	InstanceType string                 `json:"instanceType"`
	Zone         string                 `json:"zone"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	// Nodes is their number, Existing the number of them that are nodes of the cluster today.
	Nodes    int `json:"nodes"`
	Existing int `json:"existing,omitempty"`
	// PricePerHour and ExpectedPerHour are of all of them together, as in Rebuilt.
	PricePerHour    offerings.Price `json:"pricePerHour"`
	ExpectedPerHour offerings.Price `json:"expectedPerHour,omitempty"`
}

// compositionOf are kinds of nodes, the most expensive first: the nodes of pools with a known price for which a
// predicate holds, and launches.
func compositionOf(f *state, keeps func(*candidate) bool, launches []scheduling.Launch) []NodeKind {
	kinds := map[NodeKind]*NodeKind{}
	add := func(pool string, as offerings.Key, existing int, paid, expected offerings.Price) {
		key := NodeKind{NodePool: pool, InstanceType: as.InstanceType, Zone: as.Zone, CapacityType: as.CapacityType}
		if kinds[key] == nil {
			copied := key
			kinds[key] = &copied
		}
		k := kinds[key]
		k.Nodes, k.Existing = k.Nodes+1, k.Existing+existing
		k.PricePerHour, k.ExpectedPerHour = offerings.Sum(k.PricePerHour, paid), offerings.Sum(k.ExpectedPerHour, expected)
	}
	for _, s := range f.nodes {
		if s.pool == nil || !s.priced || !keeps(s) {
			continue
		}
		existing := 1
		if s.launched {
			existing = 0
		}
		add(s.poolName(), instancetypes.OfferingOf(s.node), existing, s.machinePrice, s.price)
	}
	for i := range launches {
		l := &launches[i]
		add(l.NodePool, l.Options[0].Key(), 0, l.Price, f.prices().Launch(l))
	}
	out := make([]NodeKind, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, *k)
	}
	slices.SortFunc(out, func(a, b NodeKind) int {
		return cmp.Or(cmp.Compare(b.ExpectedPerHour, a.ExpectedPerHour), cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.CapacityType, b.CapacityType))
	})
	return out
}
