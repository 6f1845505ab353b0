package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// group is launches of the same machine at the same price.
type group struct {
	launches []*scheduling.Launch
	use      map[corev1.ResourceName]*use
}

// use is how much of a resource is asked for of what pods may have.
type use struct{ asked, allocatable int64 }

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
			asked := l.Requests[name]
			g.use[name].allocatable += units(name, q)
			g.use[name].asked += units(name, asked)
		}
		return
	}
}

// machines lists what to launch.
func (t *table) machines(groups []*group) {
	if len(groups) == 0 {
		return
	}
	t.section("LAUNCH")
	devices := false
	for _, g := range groups {
		devices = devices || g.devices() != ""
	}
	head := []string{"COUNT", "INSTANCE TYPE", "CAPACITY", "ZONE", "NODEPOOL", "$/HOUR EACH", "CPU", "MEMORY"}
	if devices {
		head = append(head, "DEVICES")
	}
	rows := [][]string{append(head, "PODS")}
	for _, g := range groups {
		l := g.launches[0]
		o := &l.Options[0]
		row := []string{
			fmt.Sprint(len(g.launches)), o.InstanceType, string(o.CapacityType), o.Zone, l.NodePool,
			strings.TrimPrefix(usd(o.Price), "$"), g.share(corev1.ResourceCPU), g.share(corev1.ResourceMemory),
		}
		if devices {
			row = append(row, g.devices())
		}
		rows = append(rows, append(row, t.workloads(g)))
	}
	t.headed(rows, "MEMORY", "CPU", "NODEPOOL", "DEVICES")
}

// share writes how much of a resource is asked for.
func (g *group) share(name corev1.ResourceName) string {
	u := g.use[name]
	if u == nil {
		return "-"
	}
	return ratio(u.asked, u.allocatable)
}

// devices writes how many devices are asked for, of those that are asked for at all.
func (g *group) devices() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(g.use)) {
		if u := g.use[name]; strings.Contains(string(name), "/") && u.asked > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", name, u.asked, u.allocatable))
		}
	}
	return join(parts)
}

// workloads writes what stands on the machines of a group, the most first.
func (t *table) workloads(g *group) string {
	counts := map[string]int{}
	for _, l := range g.launches {
		for _, pod := range l.Pods {
			counts[t.Workload(pod)]++
		}
	}
	return summarise(counts, t.most(3))
}

// summarise writes counted names, the most first, and how many more there are.
func summarise(counts map[string]int, most int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		if counts[name] > 1 {
			name = fmt.Sprintf("%s ×%d", name, counts[name])
		}
		parts = append(parts, name)
	}
	return join(parts)
}

// reasons says for each group why it is cheap.
func (t *table) reasons(groups []*group) {
	if len(groups) == 0 {
		return
	}
	t.section("WHY")
	rows := make([][]string, 0, len(groups))
	seen := map[string]bool{}
	for _, g := range groups {
		l := g.launches[0]
		o := &l.Options[0]
		row := []string{fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone), t.why(l)}
		if key := strings.Join(row, "\t"); !seen[key] {
			seen[key] = true
			rows = append(rows, row)
		}
	}
	t.columns(rows)
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
			parts = append(parts, fmt.Sprintf("%s below its price on demand (%s)", percent(1-o.Price.USD()/price.USD()), usd(price)))
		}
		if o.InterruptionRate > 0 {
			parts = append(parts, percent(o.InterruptionRate)+" are interrupted in a month")
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
			next.InstanceType, next.CapacityType, next.Zone, usd(next.Price), difference(next.Price, o.Price)))
	}
	return strings.Join(parts, "; ")
}

// mustBeOnDemand says whether the type is sold in another way, too, but all options
// of the launch are on demand.
func (t *table) mustBeOnDemand(l *scheduling.Launch) bool {
	for _, o := range l.Options {
		if o.CapacityType != offerings.OnDemand {
			return false
		}
	}
	o := &l.Options[0]
	_, sold := t.buys(l.NodePool).Lookup(offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: offerings.Spot})
	return sold
}

// nextType returns the cheapest option of another type.
func nextType(options []scheduling.Option) *scheduling.Option {
	var best *scheduling.Option
	for i := range options {
		o := &options[i]
		if o.InstanceType != options[0].InstanceType && (best == nil || o.Price < best.Price) {
			best = o
		}
	}
	return best
}

// difference writes by how much a price differs from another.
func difference(price, from offerings.Price) string {
	switch {
	case from <= 0:
		return ""
	case price == from:
		return ", the same"
	case price > from:
		return " (+" + percent(price.USD()/from.USD()-1) + ")"
	default:
		return " (-" + percent(1-price.USD()/from.USD()) + ")"
	}
}
