package explain

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// changes are the single changes that would place the pods, the smallest first, e.g. a smaller request of one resource, a
// toleration, a node selector dropped, a higher limit. Where no single change would do, it is the fewest that do together.
func changes(s *subject) []scheduling.Change {
	n := findNearest(s)
	var out ChangeList
	out.Add(unitFix(s.in.Table, s.class))
	if n.reservation != nil {
		out.Add(raiseReservation(n.reservation))
	}
	if n.minValuesPool != "" {
		out.Add(scheduling.Change{Kind: scheduling.ChangeMinValues, Object: "NodePool/" + n.minValuesPool, Text: "lower the minValues of NodePool " + n.minValuesPool})
	}
	if n.limits != nil {
		out.Add(limitChange(n.limits))
	}
	if n.setting >= 0 {
		out.Add(offers.Admitting(s.in.Facts.Solver, &s.in.Offers.Offers[n.setting]))
	}
	if n.inflexible {
		out.Add(scheduling.Change{
			Kind: scheduling.ChangeFlexibility, Object: "Policy", From: s.in.Facts.Solver.Flexibility.String(),
			Text: fmt.Sprintf("require less spot flexibility than %s", s.in.Facts.Solver.Flexibility),
		})
	}
	if n.dim >= 0 {
		out.Add(lessOf(s.in.Table.Names[n.dim], n.room, s.class.Requests[n.dim]))
	}
	termFixes(s, &n.terms, &out)
	for _, c := range slices.Concat(n.widenings(), n.pools, n.nodes) {
		out.Add(c)
	}
	askFixes(s, n, &out)
	volumeFix(s, n, &out)
	for _, c := range n.ports {
		out.Add(c)
	}
	out.Add(n.sale)
	replicaFixes(s.in.Facts.Problem, s.class, &out)
	if len(s.in.Pools) == 0 {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodePool, Text: "add a NodePool"})
	}
	if len(out) == 0 || s.in.Facts.Together {
		together(s, &out)
	}
	return out
}

// nearer reports whether a/b is a larger share than c/d.
func nearer(a, b, c, d int64) bool { return float64(a)/float64(b) > float64(c)/float64(d) }

// Propose sets the changes that would place a pod, and says so.
func Propose(u *scheduling.Unschedulable, changes []scheduling.Change) {
	u.Message = sentence(u.Reasons, changes)
	u.Changes, u.Fixes = changes, nil
	for i := range changes {
		u.Fixes = append(u.Fixes, changes[i].Text)
	}
}
