package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// kept says why the steps do not lead to what the cluster would cost built anew.
func (m *moves) kept() {
	head := []string{"$/MONTH", "NODES", "CAUSE", "WHAT"}
	tabulate(&m.table, "WHAT KEEPS IT FROM THE PRICE OF A CLUSTER BUILT ANEW", head, m.plan.Summary.Kept, func(k disruption.Kept, _ int) []string {
		return []string{figures.PlainMonthly(k.PerHour), strconv.Itoa(k.Nodes), string(k.Code), report.Meaning(k.Code)}
	}, "CAUSE")
}

// stay is nodes that stay for the same cause.
type stay struct {
	code  disruption.CauseCode
	nodes []*disruption.Verdict
	price offerings.Price
}

// best returns the node of the group with the move that would have saved the most, or any
// where none has one.
func (s *stay) best() *disruption.Verdict {
	return lo.MaxBy(s.nodes, func(a, b *disruption.Verdict) bool {
		return a.Rejected != nil && (b.Rejected == nil || a.Rejected.SavingPerHour > b.Rejected.SavingPerHour)
	})
}

// staying lists the nodes that stay, by their first cause, the dearest group first, and
// shows one of each: what stands in the way, and the best move that was found for any of
// them and not taken.
func (m *moves) staying() {
	groups := m.stays()
	tabulate(&m.table, "NODES THAT STAY", []string{"COUNT", "$/HOUR", "CAUSE", "WHAT", "NODES"}, groups, func(g *stay, _ int) []string {
		list := lo.Map(g.nodes, func(v *disruption.Verdict, _ int) string { return v.Node })
		return []string{strconv.Itoa(len(g.nodes)), figures.Plain(g.price), string(g.code), report.Meaning(g.code), figures.Names(list, m.most(2))}
	}, "CAUSE", "$/HOUR")
	for i, g := range groups {
		if i == 0 {
			m.section("FOR EXAMPLE")
		}
		v := g.best()
		m.line("  %s: %s", v.Node, reason(&v.Reasons[0]))
		if v.Rejected != nil {
			m.line("    %s", rejected(v.Node, v.Rejected))
		}
	}
}

// stays groups the nodes that stay.
func (m *moves) stays() []*stay {
	index := map[disruption.CauseCode]*stay{}
	for i := range m.plan.Nodes {
		v := &m.plan.Nodes[i]
		if v.Decision != disruption.Keep || len(v.Reasons) == 0 {
			continue
		}
		code := v.Reasons[0].Code
		if index[code] == nil {
			index[code] = &stay{code: code}
		}
		index[code].nodes = append(index[code].nodes, v)
		index[code].price, _ = index[code].price.Plus(v.PricePerHour)
	}
	groups := lo.Values(index)
	slices.SortFunc(groups, func(a, b *stay) int {
		return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(len(b.nodes), len(a.nodes)), strings.Compare(string(a.code), string(b.code)))
	})
	return groups
}

// reason writes a cause with the object that it is about.
func reason(c *disruption.Cause) string {
	if c.Object == "" || strings.Contains(c.Detail, c.Object) {
		return c.Detail
	}
	return c.Object + ": " + c.Detail
}

// rejected writes a move that was not taken.
func rejected(node string, r *disruption.Rejected) string {
	var b strings.Builder
	b.WriteString("best move: remove it")
	if others := lo.Without(r.Drain, node); len(others) > 0 {
		fmt.Fprintf(&b, " with %s", figures.Names(others, 3))
	}
	if len(r.Launches) > 0 {
		fmt.Fprintf(&b, " and buy %s for %s per hour", bundle(r.Launches, 3), figures.USD(r.PricePerHour))
	}
	if r.SavingPerHour < 0 {
		fmt.Fprintf(&b, "; that costs %s per hour more", figures.USD(-r.SavingPerHour))
	} else {
		fmt.Fprintf(&b, "; that saves %s per hour", figures.USD(r.SavingPerHour))
	}
	fmt.Fprintf(&b, ", disruption %s, but %s", figures.Decimal(r.DisruptionCost), reason(&r.Because))
	return b.String()
}

// account is what the nodes of a NodePool, or of a group that no NodePool owns, come to
// today.
type account struct {
	name, note string
	nodes      int
	unpriced   int
	price      offerings.Price
	types      map[string]int
	capacity   map[string]int
	// requested and allocatable are in cores and in bytes.
	requested, allocatable struct{ cpu, memory float64 }
}

// bill lists what runs and what it costs, by NodePool and group, the dearest first.
func (m *moves) bill() {
	head := []string{"GROUP", "NODES", "TYPES", "CAPACITY", "$/HOUR", "$/MONTH", "CPU", "MEMORY"}
	tabulate(&m.table, "BILL, WITH THE SHARE OF CPU AND MEMORY THAT PODS REQUEST", head, m.accounts(), func(a *account, _ int) []string {
		hourly, inMonth := figures.Plain(a.price), figures.PlainMonthly(a.price)
		switch {
		case a.unpriced == a.nodes:
			hourly, inMonth = "not known", "not known"
		case a.unpriced > 0:
			hourly += fmt.Sprintf(" without %d", a.unpriced)
		}
		paid := figures.Summarise(a.capacity, 3) // with counts where not all are alike
		if len(a.capacity) == 1 {
			paid = lo.Keys(a.capacity)[0]
		}
		return []string{
			a.name + a.note, strconv.Itoa(a.nodes), figures.Summarise(a.types, m.most(3)), paid, hourly, inMonth,
			share(a.requested.cpu, a.allocatable.cpu), share(a.requested.memory, a.allocatable.memory),
		}
	})
}

// share writes a part of a whole.
func share(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return figures.Percent(part / whole)
}

// accounts adds up nodes and the requests of the pods on them.
func (m *moves) accounts() []*account {
	index, of := map[string]*account{}, map[string]*account{}
	var list []*account
	verdicts := lo.KeyBy(m.plan.Nodes, func(v disruption.Verdict) string { return v.Node })
	for _, node := range m.Problem.Nodes {
		v := verdicts[node.Name]
		price, priced := v.PricePerHour, v.PricePerHour > 0
		capacityType := offerings.CapacityType(v.CapacityType)
		name, note := v.NodePool, ""
		if !m.owned(name) {
			group := manifest.NodeGroupOf(node)
			name, note = cmp.Or(group.Name, "others"), " (no NodePool)"
			if group.ControlPlane() {
				note = ""
			}
			var o offerings.Offering
			capacityType, _ = manifest.CapacityTypeOf(node)
			o, priced = m.catalog.Lookup(offerings.Key{InstanceType: v.InstanceType, Zone: v.Zone, CapacityType: capacityType})
			price = o.Price
		}
		a := index[name+note]
		if a == nil {
			a = &account{name: name, note: note, types: map[string]int{}, capacity: map[string]int{}}
			index[name+note], list = a, append(list, a)
		}
		of[node.Name] = a
		a.nodes++
		a.price, _ = a.price.Plus(price)
		if !priced {
			a.unpriced++
		}
		a.types[cmp.Or(v.InstanceType, "unknown")]++
		a.capacity[cmp.Or(string(capacityType), "unknown")]++
		a.allocatable.cpu += node.Status.Allocatable.Cpu().AsApproximateFloat64()
		a.allocatable.memory += node.Status.Allocatable.Memory().AsApproximateFloat64()
	}
	for i, requests := range provisioning.PodRequests(m.Problem.Running) {
		if a := of[m.Problem.Running[i].Spec.NodeName]; a != nil {
			a.requested.cpu += requests.Cpu().AsApproximateFloat64()
			a.requested.memory += requests.Memory().AsApproximateFloat64()
		}
	}
	slices.SortFunc(list, func(a, b *account) int {
		return cmp.Or(cmp.Compare(b.price, a.price), strings.Compare(a.name+a.note, b.name+b.note))
	})
	return list
}

// owned reports whether there is a NodePool of that name.
func (m *moves) owned(pool string) bool {
	return lo.SomeBy(m.Problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == pool })
}
