package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// machines lists the nodes to launch.
func (t *planText) machines(groups []*launches.Group) {
	devices := lo.SomeBy(groups, func(g *launches.Group) bool { return g.Devices() != "" })
	pool := lo.Ternary(t.p.grouped, "NODE GROUP", "NODEPOOL")
	head := []string{"COUNT", "INSTANCE TYPE", "CAPACITY", "ZONE", pool, "$/HOUR EACH", "CPU", "MEMORY"}
	if devices {
		head = append(head, "DEVICES")
	}
	counted := lo.SomeBy(groups, func(g *launches.Group) bool { return g.Launches[0].Options[0].ReservationID != "" })
	if counted {
		committed := lo.EveryBy(groups, func(g *launches.Group) bool {
			o := &g.Launches[0].Options[0]
			return o.ReservationID == "" || o.Commitment
		})
		head = append(head, lo.Ternary(committed, "COMMITMENT", "RESERVATION"))
	}
	tabulate(t.to, "LAUNCH", append(head, "PODS"), groups, func(g *launches.Group, _ int) []string {
		l := g.Launches[0]
		o := &l.Options[0]
		row := []string{
			fmt.Sprint(len(g.Launches)), o.InstanceType, string(o.CapacityType), o.Zone, l.NodePool,
			figures.Plain(t.p.expected(l.NodePool, o)), g.Share(corev1.ResourceCPU), g.Share(corev1.ResourceMemory),
		}
		if devices {
			row = append(row, g.Devices())
		}
		if counted {
			row = append(row, cmp.Or(o.ReservationID, "-"))
		}
		pods := lo.FlatMap(g.Launches, func(l *scheduling.Launch, _ int) []string { return l.Pods })
		return append(row, t.p.byWorkload(pods, t.to.view.most(3)))
	}, "MEMORY", "CPU", pool, "DEVICES")
	t.to.zones(lo.Map(groups, func(g *launches.Group, _ int) scheduling.LaunchOption { return g.Launches[0].Options[0] }))
}

// reasons says for each group why it is cheap.
func (t *planText) reasons(groups []*launches.Group) {
	rows := lo.Map(groups, func(g *launches.Group, _ int) []string {
		o := &g.Launches[0].Options[0]
		return []string{fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone), t.why(g.Launches[0])}
	})
	tabulate(t.to, "WHY THESE INSTANCE TYPES", nil, lo.UniqBy(rows, func(row []string) string { return row[0] + row[1] }), asItIs)
}

// why says what speaks for the first option of a launch: against its price on
// demand, and against the next machine that would hold the same pods.
func (t *planText) why(l *scheduling.Launch) string {
	o, own := &l.Options[0], t.p.expected(l.NodePool, &l.Options[0])
	var parts []string
	switch o.CapacityType {
	case offerings.Reserved:
		parts = append(parts, "reservation "+o.ReservationID+" is prepaid")
	case offerings.Spot:
		if price, ok := t.onDemand(l); ok && price > own {
			parts = append(parts, fmt.Sprintf("%s below its on-demand price (%s)", figures.Percent(1-own.USD()/price.USD()), figures.USD(price)))
		}
		if o.InterruptionRate > 0 {
			parts = append(parts, figures.Percent(o.InterruptionRate)+" are interrupted in a month")
		}
	case offerings.OnDemand:
		if o.Commitment {
			parts = append(parts, "commitment "+o.ReservationID+" is prepaid")
		}
		if t.mustBeOnDemand(l) {
			parts = append(parts, "on-demand required")
		}
	}
	others, next := len(l.Options)-1, launches.Next(l.Options)
	switch {
	case others == 0:
		parts = append(parts, "no other offering fits these pods")
	case next == nil:
		parts = append(parts, "no other instance type fits these pods")
	default:
		price := t.p.expected(l.NodePool, next)
		parts = append(parts, fmt.Sprintf("next type: %s at %s%s", launches.Offering(next), figures.USD(price), figures.Difference(price, own)))
	}
	return strings.Join(parts, "; ")
}

// mustBeOnDemand says whether the type is sold in another way, too, but all options
// of the launch are on demand.
func (t *planText) mustBeOnDemand(l *scheduling.Launch) bool {
	o := &l.Options[0]
	_, sold := t.p.buys(l.NodePool).Lookup(offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: offerings.Spot})
	return sold && lo.EveryBy(l.Options, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.OnDemand })
}
