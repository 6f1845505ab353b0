package whatif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// RebuiltHere names the case that rebuilds in other regions are compared with.
const RebuiltHere = "rebuilt here"

// Notes returns sentences about an outcome, without full stops, each of which names no more objects than most. The notes
// of base, the baseline's outcome, name pods without a place for all cases that leave the same pods without one.
func (out *Outcome) Notes(most int, base *Outcome) (notes []string) {
	baseline := base == out
	if out.Unchanged != "" {
		return []string{"n/a: " + out.Unchanged}
	}
	switch {
	case out.Rebuild && out.ComparedWith != "":
		notes = append(notes, "different region: priced as a full rebuild, and compared with "+out.ComparedWith)
	case out.Rebuild && out.Name != RebuiltHere:
		notes = append(notes, "different region: priced as a full rebuild")
	case out.Rebuild:
		notes = append(notes, "all pods, pending ones too, on new nodes in any zone of the cluster's own region, with new volumes, to compare with other regions; nodes without a NodePool are not part of it")
		if base.rebuilt > 0 {
			notes = append(notes, fmt.Sprintf("consolidate rebuilds the cluster from scratch for %s a month, with its zones, volumes and other nodes, and without pending pods", figures.Monthly(base.rebuilt)))
		}
	}
	if p := out.Pending; p != nil {
		note := fmt.Sprintf("of that, %s a month is for %s that pending pods need after the steps", figures.Monthly(p.PricePerHour), figures.Count(p.Launches, "node"))
		if baseline {
			note += fmt.Sprintf("; consolidate shows the other %s, and plan launches nodes before the steps, perhaps at another price", figures.Monthly(out.PricePerHour-p.PricePerHour))
		}
		notes = append(notes, note)
	}
	if len(out.Staying) > 0 {
		notes = append(notes, fmt.Sprintf("%s that the case would not launch: %s", figures.CountVerb(len(out.Staying), "node", "stays", "stay"), figures.Names(out.Staying, most)))
	}
	compared := baseline || out.ComparedWith != "" || out.Name == RebuiltHere
	switch {
	case !baseline && compared && slices.Equal(base.missing(), out.missing()):
	case len(out.missing()) > 0:
		var parts []string
		if len(out.Unplaced) > 0 {
			parts = append(parts, "not placed: "+figures.Names(out.Unplaced, most))
		}
		if n := len(out.UnplacedVirtual); n > 0 {
			parts = append(parts, fmt.Sprintf("no room is kept free for %s: %s", figures.Count(n, "virtual pod"), figures.Names(out.UnplacedVirtual, most)))
		}
		note := strings.Join(parts, "; ")
		if !compared {
			note += ", so that its price is not compared"
		}
		notes = append(notes, note)
	case !compared:
		notes = append(notes, "places pods that the baseline does not, so that its price is not compared")
	}
	return notes
}
