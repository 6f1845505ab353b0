package offerings

import (
	"fmt"
	"strings"
)

// CapacityType says how a machine is paid for. Its values are those of the node
// label karpenter.sh/capacity-type.
type CapacityType string

// The capacity types.
const (
	// Reserved machines come out of a reservation that is paid for anyway.
	Reserved CapacityType = "reserved"
	// Spot machines are cheap and may be taken away at short notice.
	Spot CapacityType = "spot"
	// OnDemand machines cost the list price and stay.
	OnDemand CapacityType = "on-demand"
)

// CapacityTypes returns the capacity types in the order in which they are preferred
// unless a [Ranking] says otherwise: reserved, spot, on-demand.
func CapacityTypes() []CapacityType { return []CapacityType{Reserved, Spot, OnDemand} }

// ParseCapacityType reads the name of a capacity type, spelled exactly.
func ParseCapacityType(s string) (CapacityType, error) {
	switch c := CapacityType(s); c {
	case Reserved, Spot, OnDemand:
		return c, nil
	}
	hint := ""
	switch squeezed := squeeze(s); squeezed {
	case "reserved", "spot":
		hint = fmt.Sprintf("; did you mean %s?", squeezed)
	case "ondemand":
		hint = fmt.Sprintf("; did you mean %s?", OnDemand)
	}
	return "", fmt.Errorf("capacity type %s: want reserved, spot or on-demand%s", quoteShort(s), hint)
}

// squeeze removes what people vary when they spell a name.
func squeeze(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
}
