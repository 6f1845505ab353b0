package benchmarks

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// grown is a cluster that has run for a while: nodes of several types, each with twenty pods of a thousand workloads
// and three DaemonSet pods, most nodes nearly full. Some of the pending pods, which belong to twenty workloads, fit
// onto existing nodes. With ties, i.e. topology terms, a quarter of all workloads spread over zones, and some of them
// exclude their own pods from each node.
func grown(tb testing.TB, nodes, pending int, ties bool) scheduling.Problem {
	tb.Helper()
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{usual("default")}, Catalog: catalog(tb)}
	for _, name := range []string{"logs", "metrics", "mesh"} {
		p.DaemonSets = append(p.DaemonSets, schedulingtest.DaemonSet(name,
			schedulingtest.Requests(schedulingtest.MilliCPU(50), schedulingtest.MiB(100))))
	}
	types := []string{"m6i.4xlarge", "m7i.4xlarge", "m6a.4xlarge", "r6i.4xlarge", "c6i.8xlarge"}
	for i := range nodes {
		t, ok := p.Catalog.Get(types[i%len(types)])
		if !ok {
			tb.Fatal("the catalog lacks " + types[i%len(types)])
		}
		name := fmt.Sprintf("node-%05d", i)
		p.Nodes = append(p.Nodes, schedulingtest.Node(name, schedulingtest.OfType(t, t.Offerings[i%len(t.Offerings)]), schedulingtest.OfPool("default")))
		allocatable := t.Allocatable()
		cpu := allocatable.Cpu().MilliValue() - 200
		for k := range 20 {
			w := (i*7 + k*53) % 1_000
			if (w+i)%9 == 0 {
				continue // there is some room
			}
			p.Running = append(p.Running, schedulingtest.Pod(fmt.Sprintf("%s-%02d", name, k),
				append(workloadOptions(w, ties), schedulingtest.OnNode(name),
					schedulingtest.Requests(schedulingtest.MilliCPU(cpu/20), schedulingtest.MiB(int64(1_000+w))))...))
		}
		for _, d := range p.DaemonSets {
			p.Running = append(p.Running, schedulingtest.Pod(d.Name+"-"+name, schedulingtest.OwnedByDaemonSet(d.Name), schedulingtest.OnNode(name),
				schedulingtest.Requests(schedulingtest.MilliCPU(50), schedulingtest.MiB(100))))
		}
	}
	p.Pods = arriving(pending, ties)
	return p
}

// arriving returns n new pods of twenty workloads, half of which are too large for the existing nodes.
func arriving(n int, ties bool) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range n {
		w := 50 * (i % 20)
		cpu := int64(250 + 60*(i%20))
		if i%20 >= 10 {
			cpu = int64(2_000 + 500*(i%20-10))
		}
		pods = append(pods, schedulingtest.Pod(fmt.Sprintf("new-%04d-%05d", w, i),
			append(workloadOptions(w, ties), schedulingtest.Requests(schedulingtest.MilliCPU(cpu), schedulingtest.MiB(2*cpu)))...))
	}
	return pods
}

// workloadOptions are the label, the owner and the topology terms of a workload's pods.
func workloadOptions(w int, ties bool) []schedulingtest.PodOption {
	name := fmt.Sprintf("workload-%04d", w)
	options := []schedulingtest.PodOption{schedulingtest.Label("app", name), schedulingtest.OwnedBy("ReplicaSet", name)}
	if ties && w%4 == 0 {
		options = append(options, schedulingtest.Spread(corev1.LabelTopologyZone, schedulingtest.Of("app", name), schedulingtest.Skew(5)))
	}
	if ties && w%40 == 10 {
		options = append(options, schedulingtest.Apart(corev1.LabelHostname, schedulingtest.Of("app", name)))
	}
	return options
}
