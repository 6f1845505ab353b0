package schedulingtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// render prints a plan for scenario files.
func render(plan *scheduling.Plan, groups map[string]string, show map[string]bool) string {
	r := renderer{groups: groups, show: show}
	r.launches(plan.Launches)
	for _, a := range plan.Existing {
		fmt.Fprintf(&r.out, "%s holds %s\n", a.Node, r.pods(a.Pods))
	}
	r.unschedulable(plan.Unschedulable)
	if show["warnings"] {
		for _, w := range plan.Warnings {
			fmt.Fprintf(&r.out, "warning %s: %s\n", w.Object, w.Message)
		}
	}
	s := plan.Summary
	fmt.Fprintf(&r.out, "cost %v/h  ", s.PricePerHour)
	if s.ExpectedPerHour > 0 {
		fmt.Fprintf(&r.out, "expected %v/h  ", s.ExpectedPerHour)
	}
	fmt.Fprintf(&r.out, "bound %v/h  %s\n", s.LowerBoundPerHour, s.Status)
	return r.out.String()
}

type renderer struct {
	groups map[string]string
	show   map[string]bool
	out    strings.Builder
}

// launches prints alike launches that follow each other on one line.
func (r *renderer) launches(list []scheduling.Launch) {
	var text strings.Builder
	tab := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].NodePool == list[0].NodePool && r.line(list[n]) == r.line(list[0]) {
			n++
		}
		name := list[0].Name
		if n > 1 {
			name += ".." + strings.TrimPrefix(list[n-1].Name, list[0].NodePool+"-")
		}
		fmt.Fprintf(tab, "%s\t%s\n", name, r.line(list[0]))
		list = list[n:]
	}
	// A strings.Builder accepts everything.
	_ = tab.Flush()
	for line := range strings.Lines(text.String()) {
		r.out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// line is everything about a launch but its name.
func (r *renderer) line(l scheduling.Launch) string {
	var b strings.Builder
	if len(l.Options) == 0 {
		fmt.Fprintf(&b, "no options\t\t%v/h\t%s", l.Price, r.pods(l.Pods))
	} else {
		o := l.Options[0]
		fmt.Fprintf(&b, "%s\t%s@%s\t%v/h\t%s", o.InstanceType, o.CapacityType, o.Zone, l.Price, r.pods(l.Pods))
	}
	for _, detail := range r.details(l) {
		b.WriteString("\n  " + detail)
	}
	return b.String()
}

// details returns the details of a launch that a scenario asks for, one line each.
func (r *renderer) details(l scheduling.Launch) []string {
	var lines []string
	if r.show["requests"] {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(l.Requests)) {
			q := l.Requests[name]
			parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
		}
		lines = append(lines, "requests "+strings.Join(parts, " "))
	}
	if r.show["labels"] {
		for _, key := range slices.Sorted(maps.Keys(l.Labels)) {
			lines = append(lines, "label "+key+"="+l.Labels[key])
		}
	}
	if r.show["taints"] {
		for _, t := range l.Taints {
			lines = append(lines, "taint "+t.ToString())
		}
		for _, t := range l.StartupTaints {
			lines = append(lines, "startup taint "+t.ToString())
		}
	}
	if r.show["requirements"] {
		for _, s := range l.Requirements {
			text := fmt.Sprintf("requires %s %s %v", s.Key, s.Operator, s.Values)
			if s.MinValues != nil {
				text += fmt.Sprintf(" min %d", *s.MinValues)
			}
			lines = append(lines, text)
		}
	}
	if r.show["options"] {
		for _, o := range l.Options {
			text := fmt.Sprintf("option %s %s@%s %v/h", o.InstanceType, o.CapacityType, o.Zone, o.Price)
			if o.ReservationID != "" {
				text += " of " + o.ReservationID
			}
			lines = append(lines, text)
		}
	}
	return lines
}

// pods sums pods up by the line of the scenario that they come from.
func (r *renderer) pods(names []string) string {
	n := map[string]int{}
	for _, name := range names {
		group, ok := r.groups[name]
		if !ok {
			group = name
		}
		n[group]++
	}
	var parts []string
	for _, group := range slices.Sorted(maps.Keys(n)) {
		if n[group] > 1 {
			group += fmt.Sprintf(" x%d", n[group])
		}
		parts = append(parts, group)
	}
	return strings.Join(parts, ", ")
}

// unschedulable prints pods that fit nowhere for the same reason together.
func (r *renderer) unschedulable(list []scheduling.Unschedulable) {
	for len(list) > 0 {
		text := r.why(list[0])
		names := []string{list[0].Pod}
		for list = list[1:]; len(list) > 0 && r.why(list[0]) == text; list = list[1:] {
			names = append(names, list[0].Pod)
		}
		fmt.Fprintf(&r.out, "unschedulable %s: %s\n", r.pods(names), text)
	}
}

func (r *renderer) why(u scheduling.Unschedulable) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(u.Message, "\n", " "))
	if r.show["reasons"] {
		for _, reason := range u.Reasons {
			fmt.Fprintf(&b, "\n  %s x%d: %s", reason.Code, reason.Count, reason.Detail)
		}
	}
	if r.show["fixes"] {
		for _, fix := range u.Fixes {
			b.WriteString("\n  fix: " + fix)
		}
	}
	return b.String()
}
