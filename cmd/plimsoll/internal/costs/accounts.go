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

// Account is today's nodes of a NodePool, or of a group without a NodePool, their price and
// their utilisation.
type Account struct {
	Name string
	// Owned says that a NodePool owns them, so that the bill counts them.
	Owned bool
	// Nodes is the number of nodes, Unpriced the number of nodes without a known price, and Price the
	// expected price per hour of all the rest.
	Nodes, Unpriced int
	Price           offerings.Price
	// Types and Capacity are the numbers of nodes by instance type and by capacity type.
	Types, Capacity map[string]int
	// Requested is the requests of pods, Allocatable the allocatable resources, in cores and bytes.
	Requested, Allocatable struct{ CPU, Memory float64 }
}

// Accounts adds up nodes and the requests of the pods on them: the nodes of each NodePool first, then
// groups of nodes without a NodePool, the most expensive first.
func Accounts(p *scheduling.Problem, nodes []disruption.Verdict, policy scheduling.Policy) []*Account {
	index, of := map[string]*Account{}, map[string]*Account{}
	var list []*Account
	verdicts := lo.KeyBy(nodes, func(v disruption.Verdict) string { return v.Node })
	for _, node := range p.Nodes {
		v := verdicts[node.Name]
		capacityType, key := offerings.CapacityType(v.CapacityType), instancetypes.OfferingOf(node)
		name, owned := v.NodePool, true
		if !slices.ContainsFunc(p.NodePools, func(pool *scheduling.NodePool) bool { return pool.Name == name }) {
			group := manifest.NodeGroupOf(node)
			name = cmp.Or(group.Name, "others")
			if !group.ControlPlane() {
				name += " (no NodePool)"
			}
			capacityType, _ = manifest.CapacityTypeOf(node)
			owned, key = false, offerings.Key{InstanceType: v.InstanceType, Zone: v.Zone, CapacityType: capacityType}
		}
		price, _, priced := Expected(p.CatalogOf(v.NodePool), policy, key)
		a := index[name]
		if a == nil {
			a = &Account{Name: name, Owned: owned, Types: map[string]int{}, Capacity: map[string]int{}}
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
		if a.Owned != b.Owned {
			return lo.Ternary(a.Owned, -1, 1)
		}
		return cmp.Or(cmp.Compare(b.Price, a.Price), strings.Compare(a.Name, b.Name))
	})
	return list
}
