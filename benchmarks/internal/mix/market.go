package mix

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// EC2 sells machines of us-east-1 for general use, with much CPU or with much memory, in three zones.
func EC2() (*instancetypes.Catalog, error) {
	general, err := instancetypes.ParseFilter("arch=amd64, category in (c m r), generation>=5")
	if err != nil {
		return nil, err
	}
	catalog, err := ec2.Catalog("us-east-1")
	if err != nil {
		return nil, err
	}
	return catalog.Filter(general, instancetypes.ByZone("us-east-1a", "us-east-1b", "us-east-1c")), nil
}

// Market is the catalog of Karpenter's own benchmark with the given number of types: the first
// has one core, and each further one has one core more, with 2 GiB and ten pods per
// core. All are on sale on demand in the zones test-zone-1, test-zone-2 and test-zone-3, and as spot in the first two.
// Spot and on-demand prices are equal, and linear in cores and memory, so that no size is cheaper per core.
func Market(types int) (*instancetypes.Catalog, error) {
	// 0.1 a core and 0.1 a gigabyte, as there; rounded once, so that it stays linear.
	const perCore offerings.Price = 314_748_365
	const zone1, zone2, zone3 = "test-zone-1", "test-zone-2", "test-zone-3"
	list := make([]*instancetypes.InstanceType, 0, types)
	for cores := int64(1); cores <= int64(types); cores++ {
		price := perCore * offerings.Price(cores)
		list = append(list, schedulingtest.Type(fmt.Sprintf("fake-it-%d", cores-1),
			schedulingtest.Capacity(schedulingtest.Cores(cores), schedulingtest.GiB(2*cores), schedulingtest.Count(corev1.ResourcePods, 10*cores)),
			schedulingtest.KubeReserved(schedulingtest.MilliCPU(100), schedulingtest.MiB(10)),
			schedulingtest.Spot(zone1, price), schedulingtest.Spot(zone2, price),
			schedulingtest.OnDemand(zone1, price), schedulingtest.OnDemand(zone2, price), schedulingtest.OnDemand(zone3, price),
		))
	}
	return instancetypes.NewCatalog(list...)
}
