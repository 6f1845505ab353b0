package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// group is launches of the same machine at the same price.
type group struct {
	launches []*scheduling.Launch
	use      map[corev1.ResourceName]*use
}

// use is how much of a resource is asked for of what pods may have.
type use struct{ requested, allocatable int64 }

// groups puts launches that buy the same together, in the order of the plan.
func (t *table) groups() []*group {
	type key struct {
		pool     string
		offering offerings.Key
	}
	var out []*group
	index := map[key]*group{}
	for i := range t.plan.Launches {
		l := &t.plan.Launches[i]
		k := key{l.NodePool, l.Options[0].Key()}
		if index[k] == nil {
			index[k] = &group{use: map[corev1.ResourceName]*use{}}
			out = append(out, index[k])
		}
		index[k].launches = append(index[k].launches, l)
		t.add(index[k], l)
	}
	return out
}

// add counts what a launch uses of its machine.
func (t *table) add(g *group, l *scheduling.Launch) {
	o := &l.Options[0]
	it, ok := t.catalogOf(l.NodePool).Get(o.InstanceType)
	if !ok {
		return
	}
	for _, offering := range it.Offerings {
		if offering.Zone != o.Zone || offering.CapacityType != o.CapacityType || offering.ReservationID != o.ReservationID {
			continue
		}
		for name, q := range it.AllocatableOf(offering) {
			if g.use[name] == nil {
				g.use[name] = &use{}
			}
			requested := l.Requests[name]
			g.use[name].allocatable += units(name, q)
			g.use[name].requested += units(name, requested)
		}
		return
	}
}

// machines lists what to launch.
func (t *table) machines(groups []*group) {
	devices := lo.SomeBy(groups, func(g *group) bool { return g.devices() != "" })
	head := []string{"COUNT", "INSTANCE TYPE", "CAPACITY", "ZONE", "NODEPOOL", "$/HOUR EACH", "CPU", "MEMORY"}
	if devices {
		head = append(head, "DEVICES")
	}
	tabulate(t, "LAUNCH", append(head, "PODS"), groups, func(g *group, _ int) []string {
		l := g.launches[0]
		o := &l.Options[0]
		row := []string{
			fmt.Sprint(len(g.launches)), o.InstanceType, string(o.CapacityType), o.Zone, l.NodePool,
			figures.Plain(o.Price), g.share(corev1.ResourceCPU), g.share(corev1.ResourceMemory),
		}
		if devices {
			row = append(row, g.devices())
		}
		pods := lo.FlatMap(g.launches, func(l *scheduling.Launch, _ int) []string { return l.Pods })
		return append(row, t.byWorkload(pods, t.most(3)))
	}, "MEMORY", "CPU", "NODEPOOL", "DEVICES")
}

// byWorkload writes how many pods are of which workload, the most first.
func (t *table) byWorkload(pods []string, most int) string {
	return figures.Summarise(lo.CountValuesBy(pods, t.Workload), most)
}

// share writes how much of a resource is asked for.
func (g *group) share(name corev1.ResourceName) string {
	u := g.use[name]
	if u == nil {
		return "-"
	}
	return figures.Ratio(u.requested, u.allocatable)
}

// devices writes how many devices are asked for, of those that are asked for at all.
func (g *group) devices() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(g.use)) {
		if u := g.use[name]; strings.Contains(string(name), "/") && u.requested > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", name, u.requested, u.allocatable))
		}
	}
	return figures.Join(parts)
}

// reasons says for each group why it is cheap.
func (t *table) reasons(groups []*group) {
	rows := lo.Map(groups, func(g *group, _ int) []string {
		o := &g.launches[0].Options[0]
		return []string{fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone), t.why(g.launches[0])}
	})
	tabulate(t, "WHY", nil, lo.UniqBy(rows, func(row []string) string { return row[0] + row[1] }), asItIs)
}

// why says what speaks for the first option of a launch: against its price on
// demand, and against the next machine that would hold the same pods.
func (t *table) why(l *scheduling.Launch) string {
	o := &l.Options[0]
	var parts []string
	switch o.CapacityType {
	case offerings.Reserved:
		parts = append(parts, "reservation "+o.ReservationID+" pays for it")
	case offerings.Spot:
		if price, ok := t.onDemand(l); ok && price > o.Price {
			parts = append(parts, fmt.Sprintf("%s below its price on demand (%s)", figures.Percent(1-o.Price.USD()/price.USD()), figures.USD(price)))
		}
		if o.InterruptionRate > 0 {
			parts = append(parts, figures.Percent(o.InterruptionRate)+" are interrupted in a month")
		}
	case offerings.OnDemand:
		if t.mustBeOnDemand(l) {
			parts = append(parts, "these pods or the NodePool ask for on-demand")
		}
	}
	others, next := len(l.Options)-1, nextType(l.Options)
	switch {
	case others == 0:
		parts = append(parts, "nothing else on sale holds these pods")
	case next == nil:
		parts = append(parts, "no other type holds these pods")
	default:
		parts = append(parts, fmt.Sprintf("next type: %s %s %s at %s%s",
			next.InstanceType, next.CapacityType, next.Zone, figures.USD(next.Price), difference(next.Price, o.Price)))
	}
	return strings.Join(parts, "; ")
}

// mustBeOnDemand says whether the type is sold in another way, too, but all options
// of the launch are on demand.
func (t *table) mustBeOnDemand(l *scheduling.Launch) bool {
	o := &l.Options[0]
	_, sold := t.buys(l.NodePool).Lookup(offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: offerings.Spot})
	return sold && lo.EveryBy(l.Options, func(o scheduling.Option) bool { return o.CapacityType == offerings.OnDemand })
}

// nextType returns the cheapest option of another type; nil if there is none.
func nextType(options []scheduling.Option) *scheduling.Option {
	others := lo.Reject(options, func(o scheduling.Option, _ int) bool { return o.InstanceType == options[0].InstanceType })
	if len(others) == 0 {
		return nil
	}
	return lo.ToPtr(lo.MinBy(others, func(a, b scheduling.Option) bool { return a.Price < b.Price }))
}

// difference writes by how much a price differs from another.
func difference(price, from offerings.Price) string {
	switch {
	case from <= 0:
		return ""
	case price == from:
		return ", the same"
	case price > from:
		return " (+" + figures.Percent(price.USD()/from.USD()-1) + ")"
	default:
		return " (-" + figures.Percent(1-price.USD()/from.USD()) + ")"
	}
}

// offeringText names an option.
func offeringText(o *scheduling.Option) string {
	text := fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone)
	if o.ReservationID != "" {
		text += " (reservation " + o.ReservationID + ")"
	}
	return text
}
