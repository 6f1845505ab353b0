package compare

import (
	"fmt"
	"io"
	"strconv"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/markdown"
)

// The most rows of the tables of nodes and workloads, and the most pods named. GitHub refuses comments above 64 KiB.
const (
	mostNodes     = 50
	mostWorkloads = 20
	mostPods      = 10
)

// Markdown writes the difference as a comment for a pull request: headline, both sides, workloads, and the nodes in a
// collapsed section.
func (d *Diff) Markdown(w io.Writer) error {
	t := &markdown.Text{}
	t.Line("## %s", markdown.Literal(d.headline()))
	t.Table([]string{"", "$ per month", "Nodes", "Pods", "Not placed"}, "lrrrr")
	for _, s := range []*Side{&d.Before, &d.After} {
		pods := "-"
		if s.Pods > 0 {
			pods = strconv.Itoa(s.Pods)
		}
		t.Row(s.Name, figures.PlainMonthly(s.PricePerHour), strconv.Itoa(s.Nodes), pods, strconv.Itoa(len(s.Unplaced)))
	}
	t.Row("difference", figures.ChangeMonthly(d.DifferencePerHour), fmt.Sprintf("%+d", d.After.Nodes-d.Before.Nodes), "", "")
	if before, after, differ := d.Planned(); differ {
		t.Line("\nExpected after scheduling. As planned: %s → %s per month.", figures.Monthly(before), figures.Monthly(after))
	}
	if pods := lo.Without(d.After.Unplaced, d.Before.Unplaced...); len(pods) > 0 {
		t.Line("\n**No node for %s:** %s.", figures.Count(len(pods), "more pod"), markdown.Literal(figures.Names(pods, mostPods)))
	}
	if len(d.Workloads) > 0 {
		t.Table([]string{"Workload", "Pods", "Before", "After", "$ per month"}, "lrrrr")
		for _, w := range d.Workloads[:min(len(d.Workloads), mostWorkloads)] {
			pods := fmt.Sprintf("%d → %d", w.PodsBefore, w.PodsAfter)
			if w.PodsBefore == 0 && w.PodsAfter == 0 {
				pods = "" // the part of the price belongs to no pod
			}
			t.Row(w.Name, pods, figures.PlainMonthly(w.PricePerHourBefore), figures.PlainMonthly(w.PricePerHourAfter),
				figures.ChangeMonthly(w.PricePerHourAfter-w.PricePerHourBefore))
		}
		if more := len(d.Workloads) - mostWorkloads; more > 0 {
			t.Row(fmt.Sprintf("and %d more", more), "", "", "", "")
		}
	}
	if len(d.Machines) > 0 {
		t.Open("Nodes")
		t.Table([]string{"Change", "Nodes", "Instance type", "Capacity type", "NodePool", "$ per month"}, "rrlllr")
		for _, m := range d.Machines[:min(len(d.Machines), mostNodes)] {
			change, nodes := m.Counts()
			t.Row(change, nodes, m.InstanceType, m.CapacityType, m.NodePool, figures.ChangeMonthly(m.DifferencePerHour))
		}
		if more := len(d.Machines) - mostNodes; more > 0 {
			t.Row("", "", fmt.Sprintf("and %d more kinds", more), "", "", "")
		}
		t.Close()
	}
	_, err := t.WriteTo(w)
	return err
}

// headline says in one line how much more or less the second side costs.
func (d *Diff) headline() string {
	switch p := d.DifferencePerHour; {
	case figures.Nothing(p):
		return "The nodes cost the same"
	case p > 0:
		return fmt.Sprintf("The nodes cost %s per month more (%s)", figures.Monthly(p), figures.Change(p, d.Before.PricePerHour))
	default:
		return fmt.Sprintf("The nodes cost %s per month less (%s)", figures.Monthly(-p), figures.Change(p, d.Before.PricePerHour))
	}
}
