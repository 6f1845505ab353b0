package scheduling

import (
	"fmt"
	"strings"
)

// Flexibility is how much choice a launch has to leave if it may become a spot machine:
// so many spot options, which differ in so many respects. Options that are not spot do
// not count, and launches without spot options are not held to it. Pods that too few
// spot machines could hold go to others, and if they ask for spot find no place. The
// zero value asks for nothing.
//
// Karpenter replaces a spot machine by another one only if 15 types would do (its
// spot-to-spot consolidation); Types of 15 asks the same of every launch. Where ties
// between pods fix the zone of a launch, it has the spot options of one zone only.
type Flexibility struct {
	// Options is the least number of spot options: instance types, each counted once
	// for every zone. MaxOptions gives way to it.
	Options int
	// Types is the least number of instance types among them, Families that of type
	// families ([offerings.Family]), and Zones that of zones.
	Types, Families, Zones int
}

// String says what is asked for: "15 types, 3 families".
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
