package schedulingtest

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
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

func (w *world) instanceTypes() []*instancetypes.InstanceType {
	types := make([]*instancetypes.InstanceType, 0, w.size.Types)
	for i := range w.between(1, w.size.Types) {
		types = append(types, w.instanceType(i))
	}
	return types
}

func (w *world) instanceType(i int) *instancetypes.InstanceType {
	cpu := pick(w.dice, 1, 2, 2, 4, 4, 8, 16)
	ratio := pick(w.dice, 2, 4, 4, 8)
	generation := w.between(5, 8)
	family := map[int]string{2: "c", 4: "m", 8: "r"}[ratio] + strconv.Itoa(generation)
	// Milli-dollars an hour, roughly what the shape is worth.
	price := int64(cpu*(30+2*ratio) + w.between(-5, 10))
	opts := []TypeOption{
		Capacity(Cores(int64(cpu)), GiB(int64(cpu*ratio)), DiskGiB(int64(pick(w.dice, 20, 100)))),
		Label(generationKey, strconv.Itoa(generation)),
		Label(familyKey, family),
		Label(cpuKey, strconv.Itoa(cpu)),
	}
	if w.oneIn(4) {
		opts = append(opts, Label(corev1.LabelArchStable, "arm64"))
		price = price * 4 / 5
	}
	if w.oneIn(20) {
		opts = append(opts, Label(corev1.LabelOSStable, "windows"))
	}
	if w.oneIn(3) {
		opts = append(opts, Capacity(Count(corev1.ResourcePods, int64(w.between(3, 30)))))
	}
	if w.oneIn(2) {
		opts = append(opts, KubeReserved(MilliCPU(int64(w.between(0, 150))), MiB(int64(w.between(0, 600)))))
	}
	switch w.IntN(12) {
	case 0, 1:
		gpus := pick(w.dice, 1, 2, 4)
		opts = append(opts, Capacity(Count(gpuResource, int64(gpus))))
		price += int64(gpus) * 400
	case 2:
		opts = append(opts, Capacity(Count(fpgaResource, 1)))
		price += 90
	case 3:
		opts = append(opts, Capacity(Amount{hugePages, *resource.NewQuantity(512<<20, resource.BinarySI)}))
	}
	return Type(fmt.Sprintf("%s.x%d-%d", family, cpu, i), append(opts, w.offers(i, price)...)...)
}

// offers puts a type on sale in some zones. A type is sold once for each zone,
// capacity type and reservation.
func (w *world) offers(i int, price int64) []TypeOption {
	const milli = 1_000_000 // nano-USD in a milli-dollar
	var opts []TypeOption
	for _, zone := range some(w.dice, w.zones...) {
		if !w.oneIn(8) {
			opts = append(opts, Offer(w.offer(zone, offerings.OnDemand, price*milli)))
		}
		if !w.oneIn(3) {
			// Spot prices have more digits than a milli-dollar, and now and then
			// exceed those of on-demand.
			spot := price * int64(w.between(250, 1050)) * milli / 1000
			opts = append(opts, Offer(w.offer(zone, offerings.Spot, spot)))
		}
		if w.oneIn(6) {
			opts = append(opts, Offer(w.reserved(i, zone, price*milli)))
		}
	}
	if i == 0 && len(opts) == 0 {
		// A catalog that sells nothing at all is refused as malformed.
		opts = append(opts, OnDemand(w.zones[0], offerings.Price(price*milli)))
	}
	return opts
}

func (w *world) offer(zone string, ct offerings.CapacityType, price int64) offerings.Offering {
	o := offerings.Offering{Zone: zone, CapacityType: ct, Price: offerings.Price(price), Unavailable: w.oneIn(10)}
	if ct == offerings.Spot {
		o.InterruptionRate = float64(w.IntN(5)) / 20
	}
	switch w.IntN(30) {
	case 0:
		o.Capacity = Resources(Count(fpgaResource, 1))
	case 1:
		o.Overhead = Resources(MiB(int64(w.between(0, 300))))
	case 2:
		o.Labels = map[string]string{"topology.k8s.aws/zone-id": zone + "-id"}
	}
	return o
}

// reserved sells out of a reservation, which several types may share.
func (w *world) reserved(i int, zone string, price int64) offerings.Offering {
	id := fmt.Sprintf("cr-%s-%d", zone, i)
	count := w.between(0, 3)
	if w.oneIn(2) {
		id = "cr-shared"
		count = 2
		if w.oneIn(5) {
			// Sources may disagree about what is left.
			count = 1
		}
	}
	return offerings.Offering{
		Zone: zone, CapacityType: offerings.Reserved, Price: offerings.Price(price / int64(pick(w.dice, 3, 100))),
		ReservationID: id, ReservationCount: count,
	}
}
