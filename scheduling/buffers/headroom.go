package buffers

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Headroom is room that is to be kept free in a cluster, or on the nodes of a NodePool.
type Headroom struct {
	// NodePool is the pool whose nodes have the room; "" is any node without taints.
	NodePool string
	// Share is the room in proportion to the CPU and memory that pods request, e.g. 0.15: the pods of the cluster, or those
	// on nodes of the NodePool and the pending ones with it in their node selector (or all pending ones, if it is the only
	// NodePool). Pods of DaemonSets and static pods do not count.
	Share float64
	// Amounts is room in addition to Share.
	Amounts corev1.ResourceList
}

// The bounds of a headroom.
const (
	largestShare = 100     // a hundred times what runs
	mostPods     = 500_000 // as manifests may ask for at most
)

// Buffers are the headroom as virtual pods of the problem. Their number and their requests add up to the room, rounded up.
// They are as few as possible while none requests more of a resource than nine of ten pods of the problem that request it: so
// the room is in pieces that suit these pods, and each piece fits wherever the largest of them does. Without such pods it is
// one piece. The pieces are equal, except that only as many request a device as there are devices, e.g. one of eight pieces for one
// GPU beside 8 cores; equal ones are one buffer. The error names an unknown NodePool, a share outside of 0 to 100, an amount that is
// not above 0 or too large, or a headroom of more than 500,000 virtual pods.
func (h Headroom) Buffers(p *scheduling.Problem) ([]Buffer, error) {
	if p == nil {
		p = &scheduling.Problem{}
	}
	out := Buffer{Namespace: metav1.NamespaceDefault, Name: "headroom"}
	spec := &out.Template.Spec
	if h.NodePool != "" {
		i := slices.IndexFunc(p.NodePools, func(pool *scheduling.NodePool) bool { return pool != nil && pool.Name == h.NodePool })
		if i < 0 {
			return nil, fmt.Errorf("headroom: there is no NodePool %q", h.NodePool)
		}
		out.Name += "-" + h.NodePool
		spec.NodeSelector = map[string]string{scheduling.NodePoolLabel: h.NodePool}
		for _, t := range p.NodePools[i].Spec.Template.Spec.Taints {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect})
		}
	}
	if !(h.Share >= 0 && h.Share <= largestShare) {
		return nil, fmt.Errorf("headroom: share %v is not between 0 and %d", h.Share, largestShare)
	}
	room := maps.Clone(h.Amounts)
	if room == nil {
		room = corev1.ResourceList{}
	}
	for _, name := range slices.Sorted(maps.Keys(room)) {
		q := room[name]
		if q.Sign() <= 0 {
			return nil, fmt.Errorf("headroom: %s: %s is not above 0", name, q.String())
		}
		if podspec.Amount(name, q) > math.MaxInt64/4 { // beyond it, sums and parts that are rounded up exceed 64 bits
			return nil, fmt.Errorf("headroom: %s: %s is too large", name, q.String())
		}
	}
	requests := h.requests(p)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := room[name].DeepCopy() // Add may write to memory that quantities share
		sum.Add(shareOf(h.Share, name, requests[name]))
		if sum.Sign() > 0 {
			room[name] = sum
		}
	}
	if len(room) == 0 {
		return nil, nil
	}
	pieces := 1
	for _, name := range slices.Sorted(maps.Keys(room)) {
		q, n := room[name], 1.0
		if most := ninthTenth(requests[name]); most > 0 {
			n = math.Ceil(float64(podspec.Amount(name, q)) / float64(most))
		}
		if n > mostPods {
			return nil, fmt.Errorf("headroom: %s: %s is more than %d pods", name, q.String(), mostPods)
		}
		pieces = max(pieces, int(n))
	}
	return out.pieces(room, int64(pieces)), nil
}

// pieces divides room into pieces. The buffer has all that they have in common.
func (b *Buffer) pieces(room corev1.ResourceList, n int64) (out []Buffer) {
	// ends are the numbers of pieces after which fewer units of a device are left for each of the others.
	ends := map[int64]bool{n: true}
	for name, q := range room {
		if whole(name) {
			ends[podspec.Amount(name, q)%n] = true
		}
	}
	first := int64(0)
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		if end == 0 {
			continue
		}
		piece, each := *b, corev1.ResourceList{}
		for name, q := range room {
			units := podspec.Amount(name, q)
			switch {
			case !whole(name):
				each[name] = part(name, q, n)
			case units/n > 0 || first < units%n:
				more := int64(0)
				if first < units%n {
					more = 1
				}
				each[name] = podspec.Quantity(name, units/n+more)
			}
		}
		piece.Replicas = int(end - first)
		piece.Template.Spec.Containers = []corev1.Container{{Name: "room", Resources: corev1.ResourceRequirements{Requests: each}}}
		if first > 0 {
			piece.Name = fmt.Sprintf("%s.%d", b.Name, len(out)+1)
		}
		out, first = append(out, piece), end
	}
	return out
}

// whole reports whether a resource is counted in whole devices, so that a unit more in each piece is no rounding.
func whole(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return false
	}
	return !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// requests are the requests of the pods that the headroom is for, by resource, in the base units of [podspec.Amount].
func (h Headroom) requests(p *scheduling.Problem) map[corev1.ResourceName][]int64 {
	pool := map[string]string{} // by node
	for _, node := range p.Nodes {
		if node != nil {
			pool[node.Name] = node.Labels[scheduling.NodePoolLabel]
		}
	}
	var pods []*corev1.Pod
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		if pod == nil || scheduling.IsVirtual(pod) || !lifecycle.Evictable(pod) {
			continue
		}
		there := pool[pod.Spec.NodeName] == h.NodePool
		if pod.Spec.NodeName == "" {
			there = pod.Spec.NodeSelector[scheduling.NodePoolLabel] == h.NodePool || len(p.NodePools) == 1
		}
		if h.NodePool == "" || there {
			pods = append(pods, pod)
		}
	}
	out := map[corev1.ResourceName][]int64{}
	for _, list := range provisioning.PodRequests(pods) {
		for name, q := range list {
			out[name] = append(out[name], podspec.Amount(name, q))
		}
	}
	return out
}

// shareOf is a share of the sum of requests, which are in the base units of [podspec.Amount], rounded up; 0 where there are
// none.
func shareOf(share float64, name corev1.ResourceName, requests []int64) (out resource.Quantity) {
	sum := new(big.Float)
	for _, n := range requests {
		sum.Add(sum, new(big.Float).SetInt64(n))
	}
	n, _ := sum.Mul(sum, big.NewFloat(share)).Float64()
	return podspec.Quantity(name, int64(math.Ceil(min(n, math.MaxInt64/4))))
}

// ninthTenth is the least request that nine of ten of some pods do not exceed; 0 for no pods.
func ninthTenth(requests []int64) int64 {
	if len(requests) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(requests))
	return sorted[(len(sorted)*9+9)/10-1]
}

// part is one of n equal parts of a quantity, rounded up; memory to whole mebibytes.
func part(name corev1.ResourceName, q resource.Quantity, n int64) resource.Quantity {
	each := (podspec.Amount(name, q)-1)/n + 1
	if name == corev1.ResourceMemory {
		const mebibyte = 1 << 20
		each = ((each-1)/mebibyte + 1) * mebibyte
	}
	return podspec.Quantity(name, each)
}
