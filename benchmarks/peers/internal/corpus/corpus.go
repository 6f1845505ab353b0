package corpus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Corpus is a kind of workload, in any size.
type Corpus struct {
	// Name is the second part of the names of its instances.
	Name string
	// About is one sentence about it.
	About string
	// Topology says that pods care about where other pods are.
	Topology bool

	gpu       bool // needs a market with GPUs
	capped    bool // needs a market that knows how large machines are
	synthetic bool // belongs to the market of Karpenter's own benchmark alone
	anywhere  bool // belongs to that market and to all others
	pods      func(n int, seed uint64) []*corev1.Pod
	finish    func(p *scheduling.Problem, m Market, buy requirements.Selector)
}

// All is every corpus.
func All() []Corpus {
	return []Corpus{
		{
			Name: "karpenter-mix", pods: schedulingtest.MixedSizes, synthetic: true,
			About: "pods of the sizes of Karpenter's own benchmark, without its spread and affinity, on the 400 types of that benchmark",
		},
		{
			Name: "karpenter-topology", pods: schedulingtest.Diverse, anywhere: true, Topology: true,
			About: "the five classes of Karpenter's own benchmark: plain, zonal spread, hostname spread, zonal affinity, hostname anti-affinity",
		},
		{
			Name: "thirty-sizes", pods: schedulingtest.MixedSizes,
			About: "100m to 1.5 cores with 100 MiB to 4 GiB, thirty sizes drawn evenly",
		},
		{
			Name: "thirty-sizes-capped", pods: schedulingtest.MixedSizes, capped: true, finish: cappedPool,
			About: "the same in a pool that buys machines of up to 32 cores, as many clusters do",
		},
		{
			Name: "random-sizes", pods: RandomSizes,
			About: "50m to 4 cores with 64 MiB to 16 GiB, drawn evenly, so that hardly any two pods are alike",
		},
		{
			Name: "microservices", pods: Services, finish: agents,
			About: "Deployments with log-normal requests, a few of which have most of the pods, beside four DaemonSets",
		},
		{
			Name: "microservices-topology", pods: ServicesWithTerms, finish: agents, Topology: true,
			About: "the same, of which a third spread over zones and a sixth of the smaller ones want a host for each pod",
		},
		{
			Name: "big-memory", pods: BigMemory,
			About: "batch jobs of 1 to 16 cores with 12 to 32 GiB per core",
		},
		{
			Name: "gpu", pods: GPUJobs, gpu: true, finish: acceleratedPool,
			About: "jobs with 0, 1, 2, 4 or 8 GPUs in the proportions of a production cluster, beside a tainted pool of GPU machines",
		},
		{
			Name: "ci", pods: CI,
			About: "build jobs of half a core to 32 cores, most of which ask for as many cores as a machine has",
		},
		{
			Name: "ci-large", pods: LargeCI,
			About: "build jobs of 3 to 15 cores with 5 to 60 GiB in forty odd sizes, a few of which fill a machine",
		},
		{
			Name: "many-pools", pods: teams, finish: manyPools,
			About: "1,000 classes that may use any of twenty pools of equal weight with a DaemonSet each; one class in eight wants a zone, one in eight on demand",
		},
	}
}

// Instance is a problem with a name.
type Instance struct {
	Name   string
	Corpus string
	// TopologyTerms says that pods have affinity or spread constraints.
	TopologyTerms bool
	Problem       scheduling.Problem
}

// Markets that pools may buy in: on demand, spot, or whatever is cheaper.
const (
	OnDemand = "on-demand"
	Spot     = "spot"
	Mixed    = "mixed"
)

// Fits reports whether the corpus makes sense in the market.
func (c Corpus) Fits(m Market) bool {
	return (c.anywhere || c.synthetic == m.Synthetic) && (!c.gpu || m.Accelerated != nil) && (!c.capped || m.Capped != nil)
}

// Instance is the corpus with n pods, bought in one of the ways that [OnDemand],
// [Spot] and [Mixed] name.
func (c Corpus) Instance(m Market, way string, n int, seed uint64) (Instance, error) {
	buy := schedulingtest.In(offerings.CapacityTypeLabel, way)
	switch way {
	case OnDemand, Spot:
	case Mixed:
		buy.Values = []string{Spot, OnDemand}
	default:
		return Instance{}, fmt.Errorf("market %q: want %s, %s or %s", way, OnDemand, Spot, Mixed)
	}
	p := scheduling.Problem{
		Pods:      c.pods(n, seed),
		NodePools: []*scheduling.NodePool{pool("default", m.General, buy)},
		Catalog:   m.sold(way),
	}
	if c.finish != nil {
		c.finish(&p, m, buy)
	}
	return Instance{Name: fmt.Sprintf("%s/%s/%s/%d", m.Name, c.Name, way, n), Corpus: c.Name, TopologyTerms: c.Topology, Problem: p}, nil
}

func pool(name string, where []requirements.Selector, buy requirements.Selector, opts ...schedulingtest.NodePoolOption) *scheduling.NodePool {
	opts = append(opts, schedulingtest.Where(where...), schedulingtest.Where(buy))
	return schedulingtest.NodePool(name, opts...)
}

// KarpenterMix is the main problem of Karpenter's own benchmark with n pods, as that
// benchmark has it: in one pool without requirements.
func KarpenterMix(n int, seed uint64) (Instance, error) {
	p, err := mix.Diverse(n, seed)
	return Instance{Name: fmt.Sprintf("karpenter/diverse/%d", n), Corpus: "karpenter-topology", TopologyTerms: true, Problem: p}, err
}

func teams(n int, seed uint64) []*corev1.Pod { return schedulingtest.Workloads(n, 1_000, seed) }

// agents adds the DaemonSets that most clusters have: network, storage, logs, metrics.
func agents(p *scheduling.Problem, _ Market, _ requirements.Selector) {
	for _, a := range []struct {
		name          string
		milliCPU, mib int64
	}{{"network", 50, 100}, {"storage", 30, 80}, {"logs", 100, 200}, {"metrics", 60, 150}} {
		p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet(a.name,
			schedulingtest.Requests(schedulingtest.MilliCPU(a.milliCPU), schedulingtest.MiB(a.mib)), schedulingtest.TolerateAll()))
	}
}

// cappedPool makes the pool keep to small machines.
func cappedPool(p *scheduling.Problem, m Market, buy requirements.Selector) {
	p.NodePools = []*scheduling.NodePool{pool("default", m.Capped, buy)}
}

// acceleratedPool adds a pool of machines with GPUs that other pods keep off.
func acceleratedPool(p *scheduling.Problem, m Market, buy requirements.Selector) {
	p.NodePools = append(p.NodePools, pool("gpu", m.Accelerated, buy,
		schedulingtest.Taint(string(GPU), "", corev1.TaintEffectNoSchedule)))
}

// manyPools makes twenty pools that differ in name and daemon alone, and lets one class
// in eight ask for a zone and one in eight for on-demand machines, where there are any.
func manyPools(p *scheduling.Problem, m Market, buy requirements.Selector) {
	zones := m.zones()
	zones = zones[:min(3, len(zones))]
	onDemand := false
	for _, way := range buy.Values {
		onDemand = onDemand || way == OnDemand
	}
	classes := map[string]int{}
	for _, pod := range p.Pods {
		app := pod.Labels["app"]
		if _, ok := classes[app]; !ok {
			classes[app] = len(classes)
		}
		switch class := classes[app]; {
		case class%8 == 0:
			pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zones[class/8%len(zones)]}
		case class%8 == 4 && onDemand:
			pod.Spec.NodeSelector = map[string]string{offerings.CapacityTypeLabel: OnDemand}
		}
	}
	p.NodePools = nil
	for i := range 20 {
		name := fmt.Sprintf("team-%02d", i)
		p.NodePools = append(p.NodePools, pool(name, m.General, buy))
		p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet("agent-"+name,
			schedulingtest.Requests(schedulingtest.MilliCPU(int64(50+i)), schedulingtest.MiB(100)),
			schedulingtest.Select(scheduling.NodePoolLabel, name)))
	}
}
