package costs

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Node is a node with a price, and the requests on it.
type Node struct {
	// Price is its whole price per hour, Beside the part of it that is not for its machine.
	Price, Beside offerings.Price
	// Capacity is the machine's resources, Allocatable those that pods can request. Without a known
	// Capacity the system's share is 0.
	Capacity, Allocatable corev1.ResourceList
	// Pods are the requests of each pod, see provisioning.PodRequests; Daemons is the sum of the
	// requests of DaemonSet pods.
	Pods    []corev1.ResourceList
	Daemons corev1.ResourceList
}

// Shares are the parts of a node's price. They add up to it.
type Shares struct {
	// Pods are the parts of its pods, in their order.
	Pods []offerings.Price
	// Daemons is the part of DaemonSets, System that of resources that are not allocatable, Beside the
	// node's costs beside its machine, and Idle that of resources that no pod requests.
	Daemons, System, Beside, Idle offerings.Price
	// Scarcest is the resource of which the largest share of allocatable is requested, "" if no
	// resource is requested. Taken is that share, at most 1.
	Scarcest corev1.ResourceName
	Taken    float64
}

// Divide divides the price of a node. The machine is divided by its scarcest resource into the
// reservation of the system, requests, and idle resources. The part of requests is divided among
// pods by the largest share that each has of any resource, because where memory is full,
// a pod that requests most of the cores must pay for them, too.
func (n *Node) Divide() Shares {
	names := slices.Sorted(maps.Keys(n.Allocatable))
	s := Shares{Beside: n.Beside, Pods: make([]offerings.Price, len(n.Pods))}
	everybody := append(slices.Clip(n.Pods), n.Daemons)
	weights := make([]float64, len(everybody))
	for _, name := range names {
		whole := quantity(n.Allocatable, name)
		if whole <= 0 {
			continue
		}
		taken := 0.0
		for i, list := range everybody {
			part := quantity(list, name) / whole
			weights[i] = max(weights[i], part)
			taken += part
		}
		if taken > s.Taken {
			s.Taken, s.Scarcest = taken, name
		}
	}
	s.Taken = min(s.Taken, 1)
	allocatable := 1.0
	name := cmp.Or(s.Scarcest, corev1.ResourceCPU)
	if all, free := quantity(n.Capacity, name), quantity(n.Allocatable, name); free < all {
		allocatable = free / all
	}
	parts := Split(n.Price-n.Beside, []float64{1 - allocatable, allocatable * s.Taken, allocatable * (1 - s.Taken)})
	s.System, s.Idle = parts[0], parts[2]
	used := Split(parts[1], weights)
	copy(s.Pods, used)
	s.Daemons = used[len(n.Pods)]
	return s
}

// quantity is an amount of a resource.
func quantity(list corev1.ResourceList, name corev1.ResourceName) float64 {
	q := list[name]
	return q.AsApproximateFloat64()
}

// Split divides an amount in proportion to weights that are not negative. The parts add up to
// it: each is rounded so that they do up to any of them. Where no weight is above 0 the last
// part has all.
func Split[N ~int64](whole N, weights []float64) []N {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	parts := make([]N, len(weights))
	if len(parts) == 0 {
		return parts
	}
	if sum <= 0 {
		parts[len(parts)-1] = whole
		return parts
	}
	given, until, last := N(0), 0.0, 0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		until, last = until+w, i
		upTo := N(math.Round(float64(whole) * (until / sum)))
		parts[i], given = upTo-given, upTo
	}
	parts[last] += whole - given
	return parts
}

// Cents divides a number of cents per month among prices per hour in proportion to them.
func Cents(cents int64, prices []offerings.Price) []int64 {
	weights := make([]float64, len(prices))
	for i, p := range prices {
		weights[i] = float64(p)
	}
	return Split(cents, weights)
}
