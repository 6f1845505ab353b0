package benchmarks

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// seed is the seed of every corpus; figures are comparable only under the same one.
const seed = 20261121

// workloads is pods of 300 classes against the pool that most guides start with: all
// compute, general-purpose and memory types from generation 5 on, of both
// architectures, spot and on demand.
func workloads(tb testing.TB, pods int) scheduling.Problem {
	tb.Helper()
	return scheduling.Problem{
		Pods:      schedulingtest.Workloads(pods, 300, seed),
		NodePools: []*scheduling.NodePool{usual("default")},
		Catalog:   catalog(tb),
	}
}

// anything is the same pods against all that us-east-1 sells, down to machines of half
// a gibibyte that cost next to nothing and hold next to nothing.
func anything(tb testing.TB, pods int) scheduling.Problem {
	tb.Helper()
	p := workloads(tb, pods)
	p.NodePools = []*scheduling.NodePool{schedulingtest.NodePool("default")}
	return p
}

func usual(name string) *scheduling.NodePool {
	return schedulingtest.NodePool(name, schedulingtest.Where(
		schedulingtest.In("karpenter.k8s.aws/instance-category", "c", "m", "r"),
		schedulingtest.Gt("karpenter.k8s.aws/instance-generation", 4),
	))
}

// mixed is 5,000 pods of thirty sizes against the general-purpose, compute and memory
// types of generations 5 to 8, bought one way only.
func mixed(tb testing.TB, capacityType string) scheduling.Problem {
	tb.Helper()
	return scheduling.Problem{
		Pods: schedulingtest.MixedSizes(5_000, seed),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default", schedulingtest.Where(
			schedulingtest.In("kubernetes.io/arch", "amd64"),
			schedulingtest.In("karpenter.k8s.aws/instance-category", "c", "m", "r"),
			schedulingtest.Gte("karpenter.k8s.aws/instance-generation", 5),
			schedulingtest.Lte("karpenter.k8s.aws/instance-generation", 8),
			schedulingtest.In("karpenter.sh/capacity-type", capacityType),
		))},
		Catalog: catalog(tb),
	}
}

// manyPools is 10,000 pods of 1,000 classes that may use any of twenty pools of equal
// weight, each with its own daemon, and that one time in four want a zone or a
// capacity type.
func manyPools(tb testing.TB) scheduling.Problem {
	tb.Helper()
	p := scheduling.Problem{Catalog: catalog(tb), Pods: schedulingtest.Workloads(10_000, 1_000, seed)}
	classes := map[string]int{}
	for _, pod := range p.Pods {
		class, ok := classes[pod.Labels["app"]]
		if !ok {
			class = len(classes)
			classes[pod.Labels["app"]] = class
		}
		switch class % 8 {
		case 0:
			pod.Spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": []string{"us-east-1a", "us-east-1b", "us-east-1d"}[class/8%3]}
		case 4:
			pod.Spec.NodeSelector = map[string]string{"karpenter.sh/capacity-type": "on-demand"}
		}
	}
	for i := range 20 {
		name := fmt.Sprintf("team-%02d", i)
		p.NodePools = append(p.NodePools, usual(name))
		p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet("agent-"+name,
			schedulingtest.Requests(schedulingtest.MilliCPU(int64(50+i)), schedulingtest.MiB(100)),
			schedulingtest.Select("karpenter.sh/nodepool", name)))
	}
	return p
}

// running is 2,000 pending pods beside 1,000 nodes with 25,000 pods.
func running(tb testing.TB) scheduling.Problem {
	tb.Helper()
	p := scheduling.Problem{
		Pods:      schedulingtest.Workloads(2_000, 300, seed),
		NodePools: []*scheduling.NodePool{usual("default")},
		Catalog:   catalog(tb),
	}
	t, ok := p.Catalog.Get("m6i.4xlarge")
	if !ok {
		tb.Fatal("the catalog has no m6i.4xlarge")
	}
	small := []schedulingtest.PodOption{schedulingtest.Requests(schedulingtest.MilliCPU(600), schedulingtest.MiB(2_500))}
	for i := range 1_000 {
		name := fmt.Sprintf("node-%04d", i)
		p.Nodes = append(p.Nodes, schedulingtest.Node(name, schedulingtest.OfType(t, t.Offerings[i%len(t.Offerings)]), schedulingtest.OfPool("default")))
		p.Running = append(p.Running, schedulingtest.Pods(25, name+"-pod", append(small, schedulingtest.OnNode(name))...)...)
	}
	return p
}

// diverse is the problem of Karpenter's own benchmark.
func diverse(tb testing.TB, pods int) scheduling.Problem {
	tb.Helper()
	p, err := mix.Diverse(pods, seed)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// preferring is a number of pods of one size in the market of Karpenter's benchmark. With preferences, each prefers the first zone, to be
// the only one in its zone, and to be the only one on its node. The first preference can be met for all, the second cannot,
// and the third costs a node for every pod.
func preferring(tb testing.TB, pods int, preferences bool) scheduling.Problem {
	tb.Helper()
	p := diverse(tb, 0)
	opts := []schedulingtest.PodOption{
		schedulingtest.Label("app", "nginx"),
		schedulingtest.Requests(schedulingtest.MilliCPU(500), schedulingtest.MiB(512)),
	}
	if preferences {
		opts = append(opts,
			schedulingtest.Prefer(1, schedulingtest.In(corev1.LabelTopologyZone, "test-zone-1")),
			schedulingtest.Apart(corev1.LabelTopologyZone, schedulingtest.Weight(10)),
			schedulingtest.Apart(corev1.LabelHostname, schedulingtest.Weight(1)),
		)
	}
	p.Pods = schedulingtest.Pods(pods, "pod", opts...)
	return p
}

func catalog(tb testing.TB) *instancetypes.Catalog {
	tb.Helper()
	c, err := ec2.Catalog("us-east-1")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
