package peer

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// fixture is two types, a pool that takes amd64 only and has a taint, a daemon that
// runs everywhere, and three pods.
func fixture() scheduling.Problem {
	arm := st.Type("a1", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z1", st.Cents(5)))
	arm.Labels[corev1.LabelArchStable] = "arm64"
	return scheduling.Problem{
		Pods: []*corev1.Pod{
			st.Pod("one", st.Requests(st.MilliCPU(900), st.GiB(1)), st.TolerateKey("team", "")),
			st.Pod("two", st.Requests(st.MilliCPU(900), st.GiB(1)), st.TolerateKey("team", ""), st.Where(st.In(corev1.LabelTopologyZone, "z1"))),
			st.Pod("three", st.Limits(st.MilliCPU(1500)), st.TolerateKey("team", "")),
		},
		NodePools: []*scheduling.NodePool{st.NodePool("default",
			st.Where(st.In(corev1.LabelArchStable, "amd64"), st.In("example.com/disk", "ssd")),
			st.Taint("team", "red", corev1.TaintEffectNoSchedule))},
		Catalog: st.MustCatalog(arm, st.Type("m1",
			st.Capacity(st.Cores(2), st.GiB(8)),
			st.OnDemand("z1", st.Cents(10)), st.Spot("z1", st.Cents(4)), st.OnDemand("z2", st.Cents(10)))),
	}
}

// machine is an m1 with the pods.
func machine(p scheduling.Problem, pods ...*corev1.Pod) Machine {
	return Machine{NodePool: "default", InstanceType: "m1", Offering: sold(p.Catalog, "m1", "z1"), Pods: pods}
}

func sold(c *instancetypes.Catalog, name, zone string) (o offerings.Offering) {
	o, _ = c.Lookup(offerings.Key{InstanceType: name, Zone: zone, CapacityType: "on-demand"})
	return o
}
