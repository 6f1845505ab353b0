package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

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
	accounts := m.accounts()
	if len(accounts) == 0 {
		return
	}
	m.section("BILL, WITH THE SHARE OF CPU AND MEMORY THAT PODS REQUEST")
	rows := [][]string{{"GROUP", "NODES", "TYPES", "CAPACITY", "$/HOUR", "$/MONTH", "CPU", "MEMORY"}}
	for _, a := range accounts {
		hourly, inMonth := plain(a.price), strings.TrimPrefix(monthly(a.price), "$")
		switch {
		case a.unpriced == a.nodes:
			hourly, inMonth = "not known", "not known"
		case a.unpriced > 0:
			hourly += fmt.Sprintf(" without %d", a.unpriced)
		}
		rows = append(rows, []string{
			a.name + a.note, strconv.Itoa(a.nodes), summarise(a.types, m.most(3)), paid(a.capacity), hourly, inMonth,
			share(a.requested.cpu, a.allocatable.cpu), share(a.requested.memory, a.allocatable.memory),
		})
	}
	m.headed(rows)
}

// paid writes how nodes are paid for, with counts where not all are alike.
func paid(counts map[string]int) string {
	if len(counts) == 1 {
		return lo.Keys(counts)[0]
	}
	return summarise(counts, 3)
}

// share writes a part of a whole.
func share(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return percent(part / whole)
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
	for i, requests := range scheduling.PodRequests(m.Problem.Running) {
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
	return slices.ContainsFunc(m.Problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == pool })
}
