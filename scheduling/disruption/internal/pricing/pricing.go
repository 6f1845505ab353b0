package pricing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Prices are the prices by a policy, with the catalogs of a problem.
type Prices struct {
	Policy  *scheduling.Policy
	Problem *scheduling.Problem
}

// OfNode is the offering that a node was launched from, on sale or not, and its type; nil if the catalog does not have
// it. A node of a reservation has the offering of that reservation.
func OfNode(node *corev1.Node, catalog *instancetypes.Catalog) (*instancetypes.InstanceType, *offerings.Offering) {
	return lookup(catalog, instancetypes.OfferingOf(node))
}

// lookup is an offering of a catalog, and its type; nil if there is none.
func lookup(catalog *instancetypes.Catalog, key offerings.Key) (*instancetypes.InstanceType, *offerings.Offering) {
	o, ok := catalog.Lookup(key)
	if !ok {
		return nil, nil
	}
	t, _ := catalog.Get(key.InstanceType)
	return t, &o
}

// Node is the expected price of a node and the price of its machine alone; ok is false if the catalog does not have its
// offering.
func (p Prices) Node(node *corev1.Node, catalog *instancetypes.Catalog) (expected, machine offerings.Price, ok bool) {
	t, o := OfNode(node, catalog)
	if o == nil {
		return 0, 0, false
	}
	return p.Policy.ExpectedPrice(t, o), o.Price, true
}

// Option is the expected price of an option of a launch.
func (p Prices) Option(l *scheduling.Launch, x *scheduling.LaunchOption) offerings.Price {
	if p.Policy.InterruptionCost != (scheduling.InterruptionCost{}) {
		if t, o := lookup(p.Problem.CatalogOf(l.NodePool), x.Key()); t != nil {
			return p.Policy.ExpectedPrice(t, o)
		}
	}
	return offerings.Sum(x.Price, p.Policy.NodeOverhead)
}

// Launch is the expected price of a launch, by its first option.
func (p Prices) Launch(l *scheduling.Launch) offerings.Price {
	if len(l.Options) == 0 {
		return offerings.Sum(l.Price, p.Policy.NodeOverhead)
	}
	return p.Option(l, &l.Options[0])
}

// Launches is the sum of the expected prices of launches, by their first options.
func (p Prices) Launches(launches []scheduling.Launch) offerings.Price {
	var sum offerings.Price
	for i := range launches {
		sum = offerings.Sum(sum, p.Launch(&launches[i]))
	}
	return sum
}

// ExceedMachines reports whether the policy has costs of nodes beyond the price of their machines, so that expected
// prices differ from prices.
func (p Prices) ExceedMachines() bool {
	return p.Policy.NodeOverhead > 0 || p.Policy.InterruptionCost != (scheduling.InterruptionCost{})
}

// Labels are the labels that a node gets from the type and offering of an option of a launch; nil if the catalog does
// not have it.
func (p Prices) Labels(l *scheduling.Launch, x *scheduling.LaunchOption) map[string]string {
	t, o := lookup(p.Problem.CatalogOf(l.NodePool), x.Key())
	if t == nil {
		return nil
	}
	return t.NodeLabels(*o)
}

// WhyUnknown says why the price of a node is not known, e.g. for the detail of a cause.
func WhyUnknown(node *corev1.Node) string {
	as := instancetypes.OfferingOf(node)
	switch {
	case as.InstanceType == "":
		return "the node has no label for its instance type"
	case as.Zone == "":
		return "the node has no label for its zone"
	case as.CapacityType == "":
		return "the node has no label for its capacity type"
	}
	return fmt.Sprintf("the catalog has no offering of %s as %s in zone %s", as.InstanceType, as.CapacityType, as.Zone)
}

// Ratio is the saving for each unit of disruption cost.
func Ratio(saving offerings.Price, cost float64) float64 { return float64(saving) / max(cost, 1e-9) }

// Alike are the options of a launch whose nodes have the same values of some labels as that of the first.
func (p Prices) Alike(l *scheduling.Launch, keys map[string]bool) []scheduling.LaunchOption {
	if len(keys) == 0 {
		return l.Options
	}
	first := p.Labels(l, &l.Options[0])
	return KeepOptions(l.Options, func(x *scheduling.LaunchOption) bool {
		other := p.Labels(l, x)
		for key := range keys {
			a, has := first[key]
			if b, also := other[key]; a != b || has != also {
				return false
			}
		}
		return true
	})
}

// KeepOptions returns the first option and those of the others that pass, in a new list.
func KeepOptions(options []scheduling.LaunchOption, pass func(*scheduling.LaunchOption) bool) []scheduling.LaunchOption {
	return lo.Filter(options, func(x scheduling.LaunchOption, i int) bool { return i == 0 || pass(&x) })
}

// CheapestTypes are the instance types of options, the cheapest first.
func CheapestTypes(options []scheduling.LaunchOption) []string {
	sorted := slices.Clone(options)
	slices.SortStableFunc(sorted, func(a, b scheduling.LaunchOption) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.InstanceType, b.InstanceType))
	})
	return lo.Uniq(lo.Map(sorted, func(x scheduling.LaunchOption, _ int) string { return x.InstanceType }))
}

// Score is the share of a price that is saved over the share of a disruption cost that is spent: 0 if nothing is
// saved or a total is 0, and infinite if the move has no disruption cost.
func Score(saving, disruption float64, price offerings.Price, total float64) float64 {
	switch {
	case saving <= 0 || price <= 0 || total <= 0:
		return 0
	case disruption <= 0:
		return math.Inf(1)
	}
	return saving / float64(price) / (disruption / total)
}
