package pricelists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Types has a row for each type with its lowest prices, the cheapest first. One that is
// not on sale comes last. The first row is the head.
func Types(c *instancetypes.Catalog) [][]string {
	types := slices.SortedFunc(c.All(), func(a, b *instancetypes.InstanceType) int {
		return cmp.Or(cmp.Compare(lowest(a.Offerings), lowest(b.Offerings)), strings.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"INSTANCE TYPE", "ARCH", "CPU", "MEMORY", "PODS", "DEVICES", "ZONES"}}
	for _, t := range types {
		zones := lo.UniqBy(t.Offerings, func(o offerings.Offering) string { return o.Zone })
		rows = append(rows, append(shapeOf(t), strconv.Itoa(len(zones))))
	}
	for _, ct := range capacityTypes(c) {
		prices := lo.Map(types, func(t *instancetypes.InstanceType, _ int) offerings.Price {
			return lowest(lo.Filter(t.Offerings, func(o offerings.Offering, _ int) bool { return o.CapacityType == ct }))
		})
		if lo.EveryBy(prices, func(p offerings.Price) bool { return p == offerings.MaxPrice }) {
			continue
		}
		rows[0] = append(rows[0], strings.ToUpper(string(ct)))
		for i, price := range prices {
			rows[i+1] = append(rows[i+1], lo.Ternary(price == offerings.MaxPrice, "-", figures.USD(price)))
		}
	}
	return rows
}

// Offerings has a row for each offering, the cheapest first, below the head.
func Offerings(c *instancetypes.Catalog) [][]string {
	type offer struct {
		t *instancetypes.InstanceType
		o offerings.Offering
	}
	var sales []offer
	for t := range c.All() {
		for _, o := range t.Offerings {
			sales = append(sales, offer{t, o})
		}
	}
	slices.SortStableFunc(sales, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.o.Price, b.o.Price), strings.Compare(a.t.Name, b.t.Name), strings.Compare(a.o.Zone, b.o.Zone))
	})
	rows := [][]string{{"INSTANCE TYPE", "ARCH", "CPU", "MEMORY", "PODS", "DEVICES", "CAPACITY", "ZONE", "$/HOUR", "$/MONTH", "INTERRUPTED"}}
	for _, s := range sales {
		interrupted := "-"
		if s.o.InterruptionRate > 0 {
			interrupted = figures.Percent(s.o.InterruptionRate) + " a month"
		}
		rows = append(rows, append(shapeOf(s.t), string(s.o.CapacityType), s.o.Zone, figures.USD(s.o.Price), figures.Monthly(s.o.Price), interrupted))
	}
	return rows
}

// shapeOf writes the columns that a type has wherever it is bought.
func shapeOf(t *instancetypes.InstanceType) []string {
	var devices []string
	for _, name := range slices.Sorted(maps.Keys(t.Capacity)) {
		if q := t.Capacity[name]; strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), "vpc.amazonaws.com/") && !q.IsZero() {
			devices = append(devices, fmt.Sprintf("%s %d", name, q.Value()))
		}
	}
	cpu, memory, pods := t.Capacity[corev1.ResourceCPU], t.Capacity[corev1.ResourceMemory], t.Capacity[corev1.ResourcePods]
	return []string{t.Name, t.Labels[corev1.LabelArchStable], figures.Cores(cpu.MilliValue()), figures.GiB(memory.Value()), pods.String(), cmp.Or(figures.Join(devices), "-")}
}

// lowest is the lowest price of the offerings; without offerings it is the largest price.
func lowest(list []offerings.Offering) offerings.Price {
	return slices.Min(append(lo.Map(list, func(o offerings.Offering, _ int) offerings.Price { return o.Price }), offerings.MaxPrice))
}
