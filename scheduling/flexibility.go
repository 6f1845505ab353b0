package scheduling

import (
	"fmt"
	"strings"
)

// Flexibility is the least choice that a launch must leave if it may become a spot node: numbers
// of spot options, types, families and zones. Only spot options count, and launches without spot
// options are exempt. Pods for which spot nodes leave too few options go to other nodes; pods
// that require spot then find no place. The zero value requires no choice.
//
// Karpenter replaces a spot node by another one only if 15 types are possible (its spot-to-spot
// consolidation); Types of 15 requires the same of every launch. Where topology terms fix the zone
// of a launch, it has the spot options of one zone only.
type Flexibility struct {
	// Options is the least number of spot options, which are pairs of instance type and zone. It
	// overrides MaxOptions.
	Options int
	// Types is the least number of instance types among them, Families of type families
	// ([offerings.Family]), and Zones of zones.
	Types, Families, Zones int
}

// String lists the minimums: "15 types, 3 families".
func (f Flexibility) String() string {
	var parts []string
	for _, k := range []struct {
		least int
		name  string
	}{{f.Options, "options"}, {f.Types, "types"}, {f.Families, "families"}, {f.Zones, "zones"}} {
		if k.least > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", k.least, k.name))
		}
	}
	return strings.Join(parts, ", ")
}
