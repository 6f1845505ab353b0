package scheduling

import (
	"fmt"
	"slices"
)

// Candidates states the counts of a reason for people: "12 instance types × zones, 3 nodes". It is
// "" where the reason concerns the pod or a NodePool, and no candidates.
func (r *Reason) Candidates() string {
	switch {
	case slices.Contains([]ReasonCode{ReasonNoNodePool, ReasonNoInstanceType, ReasonUnsupported}, r.Code),
		r.Code == ReasonVolume && r.Count == 1 && r.Nodes == 0: // a volume that cannot be used anywhere
		return ""
	}
	text := ""
	switch offers := r.Count - r.Nodes; {
	case offers == 1:
		text = "1 instance type × zone"
	case offers > 1:
		text = fmt.Sprintf("%d instance types × zones", offers)
	}
	if text != "" && r.Nodes > 0 {
		text += ", "
	}
	switch {
	case r.Nodes == 1:
		text += "1 node"
	case r.Nodes > 1:
		text += fmt.Sprintf("%d nodes", r.Nodes)
	}
	return text
}
