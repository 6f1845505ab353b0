package costs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Account is what the nodes of a NodePool, or of a group that no NodePool owns, come to
// today.
type Account struct {
	Name string
	// Nodes is how many there are, Unpriced of how many the price is not known, and Price what
	// the others cost per hour.
	Nodes, Unpriced int
	Price           offerings.Price
	// Types and Capacity are how many nodes are of which instance type and capacity type.
	Types, Capacity map[string]int
	// Requested and Allocatable are what pods request of what they may have, in cores and bytes.
	Requested, Allocatable struct{ CPU, Memory float64 }
}

// Accounts adds up nodes and the requests of the pods on them, the dearest first. Nodes that no
// NodePool owns cost what the catalog says.
func Accounts(p *scheduling.Problem, nodes []disruption.Verdict, catalog *instancetypes.Catalog) []*Account {
	index, of := map[string]*Account{}, map[string]*Account{}
	var list []*Account
	verdicts := lo.KeyBy(nodes, func(v disruption.Verdict) string { return v.Node })
	for _, node := range p.Nodes {
		v := verdicts[node.Name]
		price, priced := v.PricePerHour, v.PricePerHour > 0
		capacityType := offerings.CapacityType(v.CapacityType)
		name := v.NodePool
		if !slices.ContainsFunc(p.NodePools, func(pool *scheduling.NodePool) bool { return pool.Name == name }) {
			group := manifest.NodeGroupOf(node)
			name = cmp.Or(group.Name, "others")
			if !group.ControlPlane() {
				name += " (no NodePool)"
			}
			var o offerings.Offering
			capacityType, _ = manifest.CapacityTypeOf(node)
			o, priced = catalog.Lookup(offerings.Key{InstanceType: v.InstanceType, Zone: v.Zone, CapacityType: capacityType})
			price = o.Price
		}
		a := index[name]
		if a == nil {
			a = &Account{Name: name, Types: map[string]int{}, Capacity: map[string]int{}}
			index[name], list = a, append(list, a)
		}
		of[node.Name] = a
		a.Nodes++
		a.Price, _ = a.Price.Plus(price)
		if !priced {
			a.Unpriced++
		}
		a.Types[cmp.Or(v.InstanceType, "unknown")]++
		a.Capacity[cmp.Or(string(capacityType), "unknown")]++
		a.Allocatable.CPU += node.Status.Allocatable.Cpu().AsApproximateFloat64()
		a.Allocatable.Memory += node.Status.Allocatable.Memory().AsApproximateFloat64()
	}
	for i, requests := range provisioning.PodRequests(p.Running) {
		if a := of[p.Running[i].Spec.NodeName]; a != nil {
			a.Requested.CPU += requests.Cpu().AsApproximateFloat64()
			a.Requested.Memory += requests.Memory().AsApproximateFloat64()
		}
	}
	slices.SortFunc(list, func(a, b *Account) int {
		return cmp.Or(cmp.Compare(b.Price, a.Price), strings.Compare(a.Name, b.Name))
	})
	return list
}
