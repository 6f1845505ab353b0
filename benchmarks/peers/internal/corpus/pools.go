package corpus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func teams(n int, seed uint64) []*corev1.Pod { return schedulingtest.Workloads(n, 1_000, seed) }

// agents adds what runs on every node of most clusters: network, storage, logs,
// metrics.
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
