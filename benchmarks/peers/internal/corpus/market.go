package corpus

import (
	"cmp"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// GPU is the resource that GPUs are requested as.
const GPU corev1.ResourceName = "nvidia.com/gpu"

// Market is a catalog and the requirements with which NodePools buy from it.
type Market struct {
	// Name is the first part of the names of its instances.
	Name    string
	Catalog *instancetypes.Catalog
	// General is the requirements of a pool for ordinary pods; Capped adds a limit of 32
	// cores per machine, as many clusters have; Accelerated is the requirements of a pool
	// of machines with GPUs. nil says that the market has no such pool.
	General, Capped, Accelerated []requirements.Selector
	// Synthetic says that the catalog is the one of Karpenter's own benchmark.
	Synthetic bool
}

// EC2 is the embedded catalog of a region. Ordinary pods get amd64 machines of the
// compute, general-purpose and memory categories from generation 5 on.
func EC2(region string) (Market, error) {
	c, err := ec2.Catalog(region)
	if err != nil {
		return Market{}, err
	}
	amd64 := schedulingtest.In(corev1.LabelArchStable, "amd64")
	general := []requirements.Selector{
		amd64,
		schedulingtest.In("karpenter.k8s.aws/instance-category", "c", "m", "r"),
		schedulingtest.Gte("karpenter.k8s.aws/instance-generation", 5),
	}
	return Market{
		Name:    "ec2",
		Catalog: c,
		General: general,
		Capped:  append(slices.Clip(general), schedulingtest.Lte("karpenter.k8s.aws/instance-cpu", 32)),
		Accelerated: []requirements.Selector{
			amd64,
			schedulingtest.In("karpenter.k8s.aws/instance-category", "g", "p"),
			schedulingtest.In("karpenter.k8s.aws/instance-gpu-manufacturer", "nvidia"),
		},
	}, nil
}

// KWOK reads the catalog of Karpenter's KWOK provider.
func KWOK(r io.Reader) (Market, error) {
	c, err := instancetypes.ReadKWOK(r)
	if err != nil {
		return Market{}, err
	}
	general := []requirements.Selector{
		schedulingtest.In(corev1.LabelArchStable, "amd64"),
		schedulingtest.In(corev1.LabelOSStable, "linux"),
	}
	return Market{
		Name:    "kwok",
		Catalog: c,
		General: general,
		Capped:  append(slices.Clip(general), schedulingtest.Lte("karpenter.kwok.sh/instance-cpu", 32)),
	}, nil
}

// Synthetic is the market of Karpenter's own benchmark: 400 types with one price per
// core, so that no size is a bargain.
func Synthetic() (Market, error) {
	c, err := mix.Market(400)
	return Market{Name: "karpenter", Catalog: c, Synthetic: true}, err
}

// sold is the part of the catalog that a market of the way has. Where machines are
// bought as is cheaper these are the types that are sold both ways: sources of spot prices
// lag behind, and a type whose spot price they do not know yet would look like one that is
// not sold as spot at all.
func (m Market) sold(way string) *instancetypes.Catalog {
	if way != Mixed {
		return m.Catalog
	}
	both := map[string]bool{}
	for t := range m.Catalog.All() {
		ways := map[offerings.CapacityType]bool{}
		for i := range t.Offerings {
			ways[t.Offerings[i].CapacityType] = true
		}
		both[t.Name] = ways[offerings.Spot] && ways[offerings.OnDemand]
	}
	return m.Catalog.Filter(func(t *instancetypes.InstanceType, _ offerings.Offering) bool { return both[t.Name] })
}

// zones are the market's zones, in descending order of the number of types that they sell.
func (m Market) zones() []string {
	count := map[string]int{}
	for t := range m.Catalog.All() {
		for i := range t.Offerings {
			count[t.Offerings[i].Zone]++
		}
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}

// Types is the number of types of the market that a pool for ordinary pods may buy.
func (m Market) Types() int { return len(m.general()) }

// Some is the catalog of the given number of these types, at equal distances in the order of
// their names; all of them if there are no more.
func (m Market) Some(types int) *instancetypes.Catalog {
	names := m.general()
	n := len(names)
	chosen := map[string]bool{}
	for i, name := range names {
		if (i+1)*min(types, n)/n > i*min(types, n)/n {
			chosen[name] = true
		}
	}
	return m.Catalog.Filter(func(t *instancetypes.InstanceType, _ offerings.Offering) bool { return chosen[t.Name] })
}

// general are the names of the types that a pool for ordinary pods may buy.
func (m Market) general() []string {
	want, err := requirements.FromSelectors(m.General)
	if err != nil {
		return nil // the market's own selectors are valid
	}
	var names []string
	for t := range m.Catalog.All() {
		fits := true
		for r := range want.All() {
			value, ok := t.Labels[r.Key()]
			fits = fits && (ok && r.Has(value) || !ok && r.AllowsAbsent())
		}
		if fits {
			names = append(names, t.Name)
		}
	}
	return names
}
