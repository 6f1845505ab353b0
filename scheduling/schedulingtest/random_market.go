package schedulingtest

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// The labels that random types carry beside the standard ones, as Karpenter's AWS
// provider names them.
const (
	familyKey     = "karpenter.k8s.aws/instance-family"
	generationKey = "karpenter.k8s.aws/instance-generation"
	cpuKey        = "karpenter.k8s.aws/instance-cpu"
)

// The devices that random problems know.
const (
	gpuResource  corev1.ResourceName = "nvidia.com/gpu"
	fpgaResource corev1.ResourceName = "example.com/fpga"
	hugePages    corev1.ResourceName = "hugepages-2Mi"
)

// market draws the instance types of a problem and its NodePools.
type market struct{ base *generator }

func (w *market) instanceTypes() []*instancetypes.InstanceType {
	types := make([]*instancetypes.InstanceType, 0, w.base.size.Types)
	for i := range w.base.dice.Between(1, w.base.size.Types) {
		types = append(types, w.instanceType(i))
	}
	return types
}

func (w *market) instanceType(i int) *instancetypes.InstanceType {
	cpu := dice.Pick(w.base.dice, 1, 2, 2, 4, 4, 8, 16)
	ratio := dice.Pick(w.base.dice, 2, 4, 4, 8)
	generation := w.base.dice.Between(5, 8)
	family := map[int]string{2: "c", 4: "m", 8: "r"}[ratio] + strconv.Itoa(generation)
	// Prices are in thousandths of a dollar per hour, roughly by the size.
	price := int64(cpu*(30+2*ratio) + w.base.dice.Between(-5, 10))
	opts := []TypeOption{
		Capacity(Cores(int64(cpu)), GiB(int64(cpu*ratio)), DiskGiB(int64(dice.Pick(w.base.dice, 20, 100)))),
		Label(generationKey, strconv.Itoa(generation)),
		Label(familyKey, family),
		Label(cpuKey, strconv.Itoa(cpu)),
	}
	if w.base.dice.OneIn(4) {
		opts = append(opts, Label(corev1.LabelArchStable, "arm64"))
		price = price * 4 / 5
	}
	if w.base.dice.OneIn(20) {
		opts = append(opts, Label(corev1.LabelOSStable, "windows"))
	}
	if w.base.dice.OneIn(3) {
		opts = append(opts, Capacity(Count(corev1.ResourcePods, int64(w.base.dice.Between(3, 30)))))
	}
	if w.base.dice.OneIn(2) {
		opts = append(opts, KubeReserved(MilliCPU(int64(w.base.dice.Between(0, 150))), MiB(int64(w.base.dice.Between(0, 600)))))
	}
	switch w.base.dice.IntN(12) {
	case 0, 1:
		gpus := dice.Pick(w.base.dice, 1, 2, 4)
		opts = append(opts, Capacity(Count(gpuResource, int64(gpus))))
		price += int64(gpus) * 400
	case 2:
		opts = append(opts, Capacity(Count(fpgaResource, 1)))
		price += 90
	case 3:
		opts = append(opts, Capacity(ResourceAmount{hugePages, *resource.NewQuantity(512<<20, resource.BinarySI)}))
	}
	return Type(fmt.Sprintf("%s.x%d-%d", family, cpu, i), append(opts, w.offers(i, price)...)...)
}

// offers puts a type on sale in some zones, at most once for each zone, capacity type and reservation.
func (w *market) offers(i int, price int64) []TypeOption {
	const milli = 1_000_000 // nano-USD in a milli-dollar
	var opts []TypeOption
	for _, zone := range dice.Some(w.base.dice, w.base.zones...) {
		if !w.base.dice.OneIn(8) {
			opts = append(opts, Offer(w.offer(zone, offerings.OnDemand, price*milli)))
		}
		if !w.base.dice.OneIn(3) {
			// Spot prices have more digits than thousandths of a dollar, and some exceed those of on-demand.
			spot := price * int64(w.base.dice.Between(250, 1050)) * milli / 1000
			opts = append(opts, Offer(w.offer(zone, offerings.Spot, spot)))
		}
		if w.base.dice.OneIn(6) {
			opts = append(opts, Offer(w.reserved(i, zone, price*milli)))
		}
	}
	if i == 0 && len(opts) == 0 {
		// A catalog without any offering is refused as malformed.
		opts = append(opts, OnDemand(w.base.zones[0], offerings.Price(price*milli)))
	}
	return opts
}

func (w *market) offer(zone string, ct offerings.CapacityType, price int64) offerings.Offering {
	o := offerings.Offering{Zone: zone, CapacityType: ct, Price: offerings.Price(price), Unavailable: w.base.dice.OneIn(10)}
	if ct == offerings.Spot {
		o.InterruptionRate = float64(w.base.dice.IntN(5)) / 20
	}
	switch w.base.dice.IntN(30) {
	case 0:
		o.Capacity = Resources(Count(fpgaResource, 1))
	case 1:
		o.Overhead = Resources(MiB(int64(w.base.dice.Between(0, 300))))
	case 2:
		o.Labels = map[string]string{"topology.k8s.aws/zone-id": zone + "-id"}
	}
	return o
}

// reserved sells out of a reservation or inventory, which several types may share. A third of the types is on demand or
// of a capacity type of one's own. Nodes of the types take different amounts of it.
func (w *market) reserved(i int, zone string, price int64) offerings.Offering {
	id := fmt.Sprintf("cr-%s-%d", zone, i)
	count := w.base.dice.Between(0, 3)
	if w.base.dice.OneIn(2) {
		id = "cr-shared"
		count = 2
		if w.base.dice.OneIn(5) {
			// Offerings of one reservation may disagree about the machines that are left.
			count = 1
		}
	}
	paid := []offerings.CapacityType{offerings.Reserved, offerings.Reserved, offerings.OnDemand, offerings.Reserved, offerings.Reserved, "colo"}
	use := []int64{2, 3, 1, 2, 2}[i%5]
	return offerings.Offering{
		Zone: zone, CapacityType: paid[i%len(paid)], Price: offerings.Price(price / int64(dice.Pick(w.base.dice, 3, 100))),
		ReservationID: id, ReservationCount: 2 * int64(count), ReservationUse: use,
	}
}

func (w *market) nodePools() []*scheduling.NodePool {
	n := w.base.dice.Between(1, w.base.size.Pools)
	if w.base.size.Pools == 0 || w.base.dice.OneIn(40) {
		n = 0
	}
	// Weights are equal, different, or drawn.
	weights := w.base.dice.IntN(3)
	pools := make([]*scheduling.NodePool, 0, n)
	for i := range n {
		var opts []NodePoolOption
		switch {
		case weights == 1:
			opts = append(opts, Weight(int32(min(10*i+1, 100))))
		case weights == 2 && w.base.dice.OneIn(2):
			opts = append(opts, Weight(dice.Pick[int32](w.base.dice, 1, 50, 100)))
		}
		pools = append(pools, w.withoutContradictions(NodePool(fmt.Sprintf("pool-%d", i), append(opts, w.poolOptions()...)...)))
	}
	return pools
}

// withoutContradictions removes requirements on keys on which the pool contradicts itself: the API server would refuse
// such a pool.
func (w *market) withoutContradictions(p *scheduling.NodePool) *scheduling.NodePool {
	s := &p.Spec.Template.Spec
	set, err := requirements.FromSelectors(s.Requirements)
	set = set.Intersect(requirements.FromLabels(p.Spec.Template.Metadata.Labels))
	s.Requirements = slices.DeleteFunc(s.Requirements, func(r requirements.Selector) bool {
		return err != nil || set.Get(r.Key).Empty()
	})
	return p
}

func (w *market) poolOptions() []NodePoolOption {
	var opts []NodePoolOption
	for range w.base.dice.Few(2) {
		opts = append(opts, Where(w.base.expr()))
	}
	opts = append(opts, w.poolLabels()...)
	if w.base.dice.OneIn(6) {
		opts = append(opts, Where(Gte(cpuKey, 2), Lte(cpuKey, 8)))
	}
	if w.base.dice.OneIn(5) {
		opts = append(opts, Where(w.floor()))
	}
	if w.base.dice.OneIn(3) {
		opts = append(opts, w.taint())
	}
	if w.base.dice.OneIn(4) {
		opts = append(opts, StartupTaint("example.com/starting", "", corev1.TaintEffectNoSchedule))
	}
	if w.base.dice.OneIn(3) {
		opts = append(opts, w.limit())
	}
	if w.base.dice.OneIn(30) {
		opts = append(opts, Replicas(2))
	}
	return opts
}

// poolLabels gives values to custom keys, or leaves them open.
func (w *market) poolLabels() []NodePoolOption {
	var opts []NodePoolOption
	for _, k := range w.base.keys {
		switch w.base.dice.IntN(5) {
		case 0:
			opts = append(opts, Label(k.key, dice.Pick(w.base.dice, k.values...)))
		case 1:
			opts = append(opts, Where(Exists(k.key)))
		case 2:
			opts = append(opts, Where(In(k.key, dice.Some(w.base.dice, k.values...)...)))
		case 3:
			if w.base.dice.OneIn(3) {
				opts = append(opts, Where(NotIn(k.key, dice.Pick(w.base.dice, k.values...))))
			}
		}
	}
	return opts
}

// floor asks for a choice of values in every launch.
func (w *market) floor() requirements.Selector {
	switch w.base.dice.IntN(3) {
	case 0:
		return AtLeast(w.base.dice.Between(1, 3), Exists(corev1.LabelInstanceTypeStable))
	case 1:
		return AtLeast(w.base.dice.Between(1, 2), Exists(familyKey))
	default:
		return AtLeast(1, In(corev1.LabelTopologyZone, w.base.zones...))
	}
}

func (w *market) limit() NodePoolOption {
	switch w.base.dice.IntN(6) {
	case 0:
		return MaxNodes(int64(w.base.dice.Between(0, 4)))
	case 1:
		return Limit(GiB(int64(w.base.dice.Between(4, 128))))
	case 2:
		return Limit(Count(gpuResource, int64(w.base.dice.Between(0, 4))))
	case 3:
		return Limit(Cores(int64(w.base.dice.Between(2, 32))), GiB(int64(w.base.dice.Between(8, 128))), Count(scheduling.NodesResource, 6))
	case 4:
		cores := int64(w.base.dice.Between(2, 64))
		if cores%2 == 0 {
			return LimitPrice(Cents(cores))
		}
		return Limit(Cores(cores))
	default:
		return Limit(Cores(int64(w.base.dice.Between(2, 64))))
	}
}

func (w *market) taint() interface {
	NodeOption
	NodePoolOption
} {
	effect := dice.Pick(w.base.dice, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule,
		corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)
	return Taint("example.com/dedicated", dice.Pick(w.base.dice, taintValues()...), effect)
}

func taintValues() []string { return []string{"batch", "7", ""} }

// poolOf is a pool that may buy the offering, or nil. It looks at In requirements
// on zone and capacity type only: nodes that a pool would not buy today exist, too.
func (w *market) poolOf(o offerings.Offering) *scheduling.NodePool {
	allows := func(p *scheduling.NodePool) bool {
		for _, r := range p.Spec.Template.Spec.Requirements {
			if r.Operator != requirements.In {
				continue
			}
			value, ok := o.NodeLabels()[r.Key]
			if ok && !slices.Contains(r.Values, value) {
				return false
			}
		}
		return true
	}
	var fit []*scheduling.NodePool
	for _, p := range w.base.pools {
		if allows(p) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return dice.Pick(w.base.dice, fit...)
}
