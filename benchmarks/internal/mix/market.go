package mix

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Zones of the market. Spot machines are on sale in the first two.
const (
	Zone1 = "test-zone-1"
	Zone2 = "test-zone-2"
	Zone3 = "test-zone-3"
)

// EC2 sells machines of us-east-1 for general use, with much CPU or with much memory, in three zones.
func EC2() *instancetypes.Catalog {
	general, err := instancetypes.ParseFilter("arch=amd64, category in (c m r), generation>=5")
	if err != nil {
		panic(err)
	}
	return ec2.MustCatalog("us-east-1").Filter(general, instancetypes.ByZone("us-east-1a", "us-east-1b", "us-east-1c"))
}

// Market is the catalog of Karpenter's own benchmark with the given number of types: the first
// has one core, and each further one has one core more, with 2 GiB and ten pods per
// core. Spot and on-demand prices are equal, and linear in cores and memory, so that no size
// is cheaper per core.
func Market(types int) (*instancetypes.Catalog, error) {
	// 0.1 a core and 0.1 a gigabyte, as there; rounded once, so that it stays linear.
	const perCore offerings.Price = 314_748_365
	list := make([]*instancetypes.InstanceType, 0, types)
	for cores := int64(1); cores <= int64(types); cores++ {
		price := perCore * offerings.Price(cores)
		list = append(list, schedulingtest.Type(fmt.Sprintf("fake-it-%d", cores-1),
			schedulingtest.Capacity(schedulingtest.Cores(cores), schedulingtest.GiB(2*cores), schedulingtest.Count(corev1.ResourcePods, 10*cores)),
			schedulingtest.KubeReserved(schedulingtest.MilliCPU(100), schedulingtest.MiB(10)),
			schedulingtest.Spot(Zone1, price), schedulingtest.Spot(Zone2, price),
			schedulingtest.OnDemand(Zone1, price), schedulingtest.OnDemand(Zone2, price), schedulingtest.OnDemand(Zone3, price),
		))
	}
	return instancetypes.NewCatalog(list...)
}
