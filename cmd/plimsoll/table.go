package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// table writes a plan for people: first what it comes to, then what to launch and
// why, then what was refused and what to look at.
type table struct {
	*problem
	view

	plan  *scheduling.Plan
	alone bool // the table has no section that it is indented below
	out   bytes.Buffer
}

// writeTable writes a plan for people.
func writeTable(w io.Writer, v view, p *problem, plan *scheduling.Plan) error {
	t := &table{problem: p, view: v, plan: plan}
	t.headline()
	groups := t.groups()
	t.machines(groups)
	t.reasons(groups)
	t.usage()
	t.present()
	t.refused()
	t.warnings()
	_, err := w.Write(t.out.Bytes())
	return err
}

// headline says in two or three lines what the plan comes to.
func (t *table) headline() {
	s := &t.plan.Summary
	gated := len(t.plan.Unschedulable) - t.unplaced(t.plan)
	if gated > 0 {
		defer t.line("%s held back by scheduling gates, see below.", are(gated, "pod"))
	}
	pods := s.Pods - gated
	switch {
	case pods == 0:
		t.line("There is nothing to place: no pod of the input is waiting for a node.")
		return
	case s.Placed == 0:
		t.line("None of %s can be placed. What would help is below.", count(pods, "pod"))
		return
	}
	placed := count(pods, "pod") + " placed"
	if s.Placed < pods {
		placed = fmt.Sprintf("%d of %s placed", s.Placed, count(pods, "pod"))
	}
	where := "on " + count(s.Nodes, "new machine")
	if n := len(t.plan.Existing); n > 0 {
		where += " and " + count(n, "present one")
		if s.Nodes == 0 {
			where = "on " + count(n, "present machine")
		}
	}
	if s.Nodes == 0 {
		t.line("%s %s: there is nothing to buy.", placed, where)
		return
	}
	t.line("%s %s: %s per hour, %s per month (%d hours).", placed, where, usd(s.PricePerHour), monthly(s.PricePerHour), hoursPerMonth)
	if s.ExpectedPerHour > 0 {
		t.line("With %s it comes to %s per hour, %s per month.", beside(s.NodeOverheadPerHour, s.Nodes, s.ExpectedPerHour-s.PricePerHour), usd(s.ExpectedPerHour), monthly(s.ExpectedPerHour))
	}
	t.line("%s", t.bound(s))
	t.split()
	t.line("%s", t.madeWith())
}

// beside says what so much is that nodes cost beside their machines.
func beside(overhead offerings.Price, nodes int, all offerings.Price) string {
	var parts []string
	if overhead > 0 {
		parts = append(parts, usd(overhead)+" for each node (--node-overhead)")
	}
	if own, ok := overhead.Times(int64(nodes)); overhead == 0 || ok && all > own {
		parts = append(parts, "what interruptions are expected to cost")
	}
	return strings.Join(parts, " and ")
}

// bound says in words how good the plan is.
func (t *table) bound(s *scheduling.Summary) string {
	var text string
	price, cost := s.PricePerHour, "cost"
	if s.ExpectedPerHour > 0 {
		price, cost = s.ExpectedPerHour, "come to"
	}
	switch {
	case s.Status == scheduling.StatusOptimal || price == s.LowerBoundPerHour:
		text = "No plan is cheaper."
	case s.LowerBoundPerHour <= 0:
		text = "How much cheaper a plan could be is not known."
	default:
		text = fmt.Sprintf("No plan can %s less than %s per hour: this one is %s above the cheapest possible.", cost, usd(s.LowerBoundPerHour), above(s.Gap))
	}
	if s.Status == scheduling.StatusDeadline {
		text += fmt.Sprintf(" The search was stopped by %s; more time may find a cheaper one.", t.stopped)
	}
	return text
}

// split says what the plan costs by capacity type, and against buying on demand.
func (t *table) split() {
	s := &t.plan.Summary
	if len(s.CapacityTypes) > 1 {
		var parts []string
		for _, share := range s.CapacityTypes {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", share.Name, usd(share.PricePerHour), count(share.Nodes, "machine")))
		}
		t.line("Of that: %s.", join(parts))
	}
	total := offerings.Price(0)
	for i := range t.plan.Launches {
		l := &t.plan.Launches[i]
		price, ok := t.onDemand(l)
		if !ok {
			return
		}
		if total, ok = total.Plus(price); !ok {
			return
		}
	}
	if total > s.PricePerHour {
		then, now := t.datesOf()
		t.line("The same machines on demand would cost %s per hour%s; the plan%s saves %s of that.", usd(total), then, now, percent(1-s.PricePerHour.USD()/total.USD()))
	}
}

// onDemand is what the machine of a launch costs on demand.
func (t *table) onDemand(l *scheduling.Launch) (offerings.Price, bool) {
	o := &l.Options[0]
	offering, ok := t.catalogOf(l.NodePool).Lookup(offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: offerings.OnDemand})
	return offering.Price, ok
}
