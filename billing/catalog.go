package billing

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// UsageOf is the usage of a node of an offering. The size of a type is that of the machine where
// labels of its type state it, e.g. karpenter.k8s.aws/instance-memory, and else the capacity of its nodes.
// Without a type or an offering it is a node without a price.
func UsageOf(name string, t *instancetypes.InstanceType, o *offerings.Offering) Usage {
	if t == nil || o == nil {
		return Usage{Name: name}
	}
	u := Usage{Name: name, InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price}
	u.MilliCPU = stated(t, "-cpu", "", resource.Milli, corev1.ResourceCPU)
	u.MemoryMiB = stated(t, "-memory", "Mi", 0, corev1.ResourceMemory) >> 20
	return u
}

// stated is the size of a machine in a resource by the label of its type that ends so, in a unit, or by its capacity.
func stated(t *instancetypes.InstanceType, suffix, unit string, scale resource.Scale, of corev1.ResourceName) int64 {
	for _, key := range []string{"karpenter.k8s.aws/instance", "karpenter.k8s.gcp/instance", "karpenter.azure.com/sku"} {
		if text, ok := t.Labels[key+suffix]; ok && len(text) <= 12 {
			if q, err := resource.ParseQuantity(text + unit); err == nil {
				return q.ScaledValue(scale)
			}
		}
	}
	q := t.Capacity[of]
	return q.ScaledValue(scale)
}

// FillUnitPrices returns the commitments with the list prices of a vCPU and of a GiB for committed-use discounts that do not
// state them. They are those by which the on-demand prices of the family's types with the most and the least memory for
// each vCPU follow, without types with GPUs or local disks. missing are the ids of commitments for whose family the
// catalog has no two such types.
func FillUnitPrices(commitments []Commitment, catalog *instancetypes.Catalog) (filled []Commitment, missing []string) {
	filled = slices.Clone(commitments)
	for i := range filled {
		c := &filled[i]
		if c.UnitPrice > 0 || c.Kind != VCPUs && c.Kind != MemoryGiB {
			continue
		}
		var usages []Usage
		for t := range catalog.All() {
			if plain(t) {
				usages = append(usages, cheapest(t, c)...)
			}
		}
		vcpu, gib := unitPrices(usages)
		if c.UnitPrice = vcpu; c.Kind == MemoryGiB {
			c.UnitPrice = gib
		}
		if c.UnitPrice <= 0 {
			c.UnitPrice = 0
			missing = append(missing, c.ID)
		}
	}
	return filled, missing
}

// plain reports whether the price of a type is for its vCPUs and memory alone.
func plain(t *instancetypes.InstanceType) bool {
	for name := range t.Capacity {
		if strings.Contains(string(name), "/") {
			return false
		}
	}
	return strings.Count(t.Name, "-") < 3 // e.g. c3-standard-4-lssd
}

// cheapest is the usage of the cheapest offering of a type that a commitment covers.
func cheapest(t *instancetypes.InstanceType, c *Commitment) (list []Usage) {
	for i := range t.Offerings {
		if u := UsageOf(t.Name, t, &t.Offerings[i]); !t.Offerings[i].Counted() && c.covers(&u) && (len(list) == 0 || u.Price < list[0].Price) {
			list = []Usage{u}
		}
	}
	return list
}

// unitPrices returns the prices of a vCPU and of a GiB that give the prices of the types with the least and the most
// memory for each vCPU, the smallest of each; 0 where they have the same.
func unitPrices(usages []Usage) (vcpu, gib offerings.Price) {
	if len(usages) < 2 {
		return 0, 0
	}
	slices.SortFunc(usages, func(a, b Usage) int {
		return cmp.Or(compareProducts(a.MemoryMiB, b.MilliCPU, b.MemoryMiB, a.MilliCPU), cmp.Compare(a.MilliCPU, b.MilliCPU), strings.Compare(a.Name, b.Name))
	})
	low, high := usages[0], usages[len(usages)-1]
	for _, u := range usages {
		if compareProducts(u.MemoryMiB, high.MilliCPU, high.MemoryMiB, u.MilliCPU) == 0 {
			high = u
			break
		}
	}
	product := func(a, b, c, d int64) *big.Int {
		return new(big.Int).Sub(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), new(big.Int).Mul(big.NewInt(c), big.NewInt(d)))
	}
	p, q := int64(low.Price), int64(high.Price)
	det := product(low.MilliCPU, high.MemoryMiB, high.MilliCPU, low.MemoryMiB)
	if det.Sign() <= 0 {
		return 0, 0
	}
	unit := func(numerator *big.Int, units int64) offerings.Price {
		x := numerator.Div(numerator.Mul(numerator, big.NewInt(units)), det)
		if x.Sign() <= 0 || !x.IsInt64() {
			return 0
		}
		return offerings.Price(x.Int64())
	}
	return unit(product(p, high.MemoryMiB, q, low.MemoryMiB), 1000), unit(product(q, low.MilliCPU, p, high.MilliCPU), 1024)
}
