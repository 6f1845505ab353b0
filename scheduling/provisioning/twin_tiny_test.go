package provisioning_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// tiny is a problem of at most eight pods, two pools, six offerings and two nodes. It
// has limits, reservations, selectors, taints, host ports, daemons, minValues,
// priorities and pods that run; one in three has anti-affinity or spread over hosts or over
// zones, or both. It has no weights.
func tiny(seed uint64) scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 77))
	oneIn := func(n int) bool { return r.IntN(n) == 0 }
	var p scheduling.Problem
	var types []*instancetypes.InstanceType
	offers := 1 + r.IntN(6)
	for i := 0; offers > 0; i++ {
		cpu := []int64{1, 2, 4, 8}[r.IntN(4)]
		opts := []st.TypeOption{
			st.Capacity(st.Cores(cpu), st.GiB(cpu*[]int64{2, 4, 8}[r.IntN(3)])),
		}
		if oneIn(4) {
			opts = append(opts, st.Capacity(st.Count("nvidia.com/gpu", 1)))
		}
		if oneIn(6) {
			opts = append(opts, st.Capacity(st.Count("pods", 2)))
		}
		price := cpu*4 + int64(r.IntN(6)) - 2
		for _, o := range []st.TypeOption{
			st.OnDemand("a", st.Cents(price)),
			st.Spot("a", st.Cents(price)*offerings.Price(30+r.Int64N(60))/100),
			st.OnDemand("b", st.Cents(price+1)),
			st.Spot("c", st.Cents(price)*offerings.Price(30+r.Int64N(60))/100),
			st.Reserved("a", st.Cents(price)/10, "cr", 1+r.IntN(2)),
		} {
			if offers > 0 && oneIn(2) {
				opts = append(opts, o)
				offers--
			}
		}
		types = append(types, st.Type(fmt.Sprintf("t%d", i), opts...))
	}
	p.Catalog = st.MustCatalog(types...)
	for i := range 1 + r.IntN(2) {
		p.NodePools = append(p.NodePools, st.NodePool(fmt.Sprintf("pool-%d", i), tinyPool(r)...))
	}
	for i := range 1 + r.IntN(8) {
		p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("pod-%d", i), tinyPod(r)...))
	}
	for i := range max(0, r.IntN(5)-2) {
		p.Nodes = append(p.Nodes, st.Node(fmt.Sprintf("node-%d", i),
			st.Allocatable(st.MilliCPU(int64(500+r.IntN(4)*500)), st.GiB(int64(1+r.IntN(10)))),
			st.Label("topology.kubernetes.io/zone", []string{"a", "b", "d"}[r.IntN(3)])))
	}
	if oneIn(3) {
		opts := []st.PodOption{st.Requests(st.MilliCPU(int64(100+r.IntN(4)*100)), st.MiB(256))}
		if oneIn(2) {
			opts = append(opts, st.Where(st.In("karpenter.sh/capacity-type", "spot", "reserved")))
		}
		p.DaemonSets = append(p.DaemonSets, st.DaemonSet("daemon", opts...))
	}
	for i, node := range p.Nodes {
		if oneIn(2) {
			p.Running = append(p.Running, st.Pod(fmt.Sprintf("old-%d", i), st.OnNode(node.Name), st.Requests(st.MilliCPU(200), st.MiB(200))))
		}
	}
	if oneIn(3) {
		tieTiny(r, &p)
	}
	return p
}

// tieTiny makes some of the pods one service whose pods keep apart, or spread.
func tieTiny(r *rand.Rand, p *scheduling.Problem) {
	var tie []st.PodOption
	switch r.IntN(5) {
	case 0:
		tie = append(tie, st.Apart(corev1.LabelHostname))
	case 1:
		tie = append(tie, st.Spread(corev1.LabelHostname, st.Skew(int32(1+r.IntN(2)))))
	case 2:
		tie = append(tie, st.Spread(corev1.LabelTopologyZone, st.Skew(int32(1+r.IntN(2)))))
	case 3:
		tie = append(tie, st.Apart(corev1.LabelTopologyZone))
	default:
		tie = append(tie, st.Spread(corev1.LabelTopologyZone), st.Apart(corev1.LabelHostname))
	}
	service := func() []st.PodOption {
		return append([]st.PodOption{st.Label("app", "web"), st.Requests(
			st.MilliCPU([]int64{200, 500, 900, 1500}[r.IntN(4)]), st.MiB([]int64{100, 500, 1000, 3000}[r.IntN(4)]))}, tie...)
	}
	n := min(len(p.Pods), 2+r.IntN(5))
	for i := 0; i < n; {
		like := service()
		for range 1 + r.IntN(n-i) {
			p.Pods[i] = st.Pod(fmt.Sprintf("web-%d", i), like...)
			i++
		}
	}
	for i, pod := range p.Running {
		if r.IntN(2) == 0 {
			p.Running[i] = st.Pod(pod.Name, append(service(), st.OnNode(pod.Spec.NodeName))...)
		}
	}
}

func tinyPool(r *rand.Rand) []st.NodePoolOption {
	var opts []st.NodePoolOption
	switch r.IntN(8) {
	case 0:
		opts = append(opts, st.Limit(st.Cores(int64(1+r.IntN(10)))))
	case 1:
		opts = append(opts, st.MaxNodes(int64(r.IntN(4))))
	case 2:
		opts = append(opts, st.Taint("dedicated", "x", corev1.TaintEffectNoSchedule))
	case 3:
		opts = append(opts, st.Label("team", []string{"red", "blue"}[r.IntN(2)]))
	case 4:
		opts = append(opts, st.Where(st.AtLeast(1+r.IntN(2), st.Exists("node.kubernetes.io/instance-type"))))
	}
	return opts
}

func tinyPod(r *rand.Rand) []st.PodOption {
	opts := []st.PodOption{st.Requests(
		st.MilliCPU([]int64{0, 200, 500, 900, 1500, 3000}[r.IntN(6)]),
		st.MiB([]int64{100, 500, 1000, 3000, 7000, 12000}[r.IntN(6)]))}
	switch r.IntN(14) {
	case 0:
		opts = append(opts, st.Select("topology.kubernetes.io/zone", []string{"a", "b"}[r.IntN(2)]))
	case 1:
		opts = append(opts, st.Where(st.NotIn("karpenter.sh/capacity-type", []string{"spot", "reserved"}[r.IntN(2)])))
	case 2:
		opts = append(opts, st.Where(st.In("team", "red")), st.Where(st.In("topology.kubernetes.io/zone", "b")))
	case 3:
		opts = append(opts, st.Requests(st.Count("nvidia.com/gpu", 1)))
	case 4:
		opts = append(opts, st.HostPort(80))
	case 5, 6:
		opts = append(opts, st.TolerateAll())
	case 7:
		opts = append(opts, st.Priority(100))
	}
	return opts
}
