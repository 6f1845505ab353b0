package consolidation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/report"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// head is the head of the table.
func head() string {
	return report.Head("clusters", "planner", "$/h before:", "after:", "over the bound:", "nodes:", "pods moved:", "steps:", "time:", "to the first step:",
		"CPU:", "allocated:", "pods moved to save as much as karpenter:")
}

// total is the courses of one planner on several clusters, added up.
type total struct {
	Course
	before, after        offerings.Price
	nodes, left, moved   int
	steps                int
	reaches, unreachable int
}

func (t *total) add(m Match, c Course) {
	t.Planner = c.Planner
	t.before, _ = t.before.Plus(c.Begin().Price)
	t.after, _ = t.after.Plus(c.End().Price)
	t.nodes, t.left = t.nodes+c.Begin().Nodes, t.left+c.End().Nodes
	t.moved, t.steps = t.moved+c.End().Moved, t.steps+c.Steps()
	t.Expense = t.Plus(c.Expense)
	t.First = max(t.First, c.First)
	if k, ok := m.find(peer.Karpenter); ok {
		if p, ok := c.Reaches(k.End().Price); ok {
			t.reaches += p.Moved
		} else {
			t.unreachable++
		}
	}
}

// Table has a line for each planner and each kind of clusters, which are added up; of the
// times to the first step it shows the longest.
func Table(matches []Match) string {
	var b strings.Builder
	b.WriteString(head())
	for _, kind := range kinds(matches) {
		var totals []total
		var bound offerings.Price
		clusters, pods := 0, 0
		for _, m := range matches {
			if m.Kind != kind {
				continue
			}
			clusters, pods = clusters+1, pods+m.Pods
			bound, _ = bound.Plus(m.Bound)
			for _, c := range m.Courses {
				i := slices.IndexFunc(totals, func(t total) bool { return t.Planner == c.Planner })
				if i < 0 {
					i, totals = len(totals), append(totals, total{})
				}
				totals[i].add(m, c)
			}
		}
		title := fmt.Sprintf("%d × %s, %d pods", clusters, kind, pods)
		for _, t := range totals {
			reaches := fmt.Sprint(t.reaches)
			if t.unreachable > 0 {
				reaches = fmt.Sprintf("not on %d", t.unreachable)
			}
			b.WriteString(report.Line(title, t.Planner, fmt.Sprintf("%.3f", t.before.USD()), fmt.Sprintf("%.3f", t.after.USD()),
				fmt.Sprintf("%.1f %%", 100*(t.after.USD()/bound.USD()-1)), fmt.Sprintf("%d → %d", t.nodes, t.left), t.moved, t.steps,
				report.Duration(t.Elapsed), report.Duration(t.First), report.Duration(t.CPU), fmt.Sprintf("%.0f MB", float64(t.Allocated)/1e6), reaches))
			title = ""
		}
	}
	return b.String()
}

// kinds are the kinds of the matches, in order of appearance.
func kinds(matches []Match) []string {
	var out []string
	for _, m := range matches {
		if !slices.Contains(out, m.Kind) {
			out = append(out, m.Kind)
		}
	}
	return out
}

// Broken says where Karpenter saves more in the end than the planner at any time, or as
// much with fewer pods moved.
func Broken(m Match, planner string) []string {
	k, known := m.find(peer.Karpenter)
	c, played := m.find(planner)
	if !known || !played {
		return nil
	}
	goal := k.End()
	p, ok := c.Reaches(goal.Price)
	switch {
	case !ok:
		return []string{fmt.Sprintf("%s, seed %d: %s ends at %s, %s at %s", m.Kind, m.Seed, planner, c.End().Price, peer.Karpenter, goal.Price)}
	case p.Moved > goal.Moved:
		return []string{fmt.Sprintf("%s, seed %d: %s moves %d pods to get down to %s, %s %d", m.Kind, m.Seed, planner, p.Moved, goal.Price, peer.Karpenter, goal.Moved)}
	}
	return nil
}
