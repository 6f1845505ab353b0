package provisioning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The node of a launch takes the launch's pods as a running node would: planned again
// with the node there, they need nothing new.
func TestLaunchNodeHoldsItsPods(t *testing.T) {
	pool := schedulingtest.NodePool("default")
	pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{pool},
		Catalog:   ec2.MustCatalog("us-east-1").Filter(instancetypes.ByName("m5.large", "c5.xlarge", "r5.large")),
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.Pods = append(p.Pods, schedulingtest.Pod(name, schedulingtest.Requests(schedulingtest.MilliCPU(700), schedulingtest.GiB(1))))
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Launches)
	require.Empty(t, plan.Unschedulable)
	for i := range plan.Launches {
		l := &plan.Launches[i]
		for j := range l.Options {
			node, err := l.Node("node-"+l.Name, &l.Options[j], p.Catalog)
			require.NoError(t, err)
			require.Equal(t, l.Options[j].InstanceType, node.Labels[corev1.LabelInstanceTypeStable])
			require.Equal(t, l.Options[j].Zone, node.Labels[corev1.LabelTopologyZone])
			require.Equal(t, "default", node.Labels[scheduling.NodePoolLabel])
			require.Empty(t, node.Spec.Taints)
			again := scheduling.Problem{Nodes: []*corev1.Node{node}}
			for _, pod := range p.Pods {
				for _, name := range l.Pods {
					if pod.Namespace+"/"+pod.Name == name {
						again.Pods = append(again.Pods, pod)
					}
				}
			}
			there, err := provisioning.Planner{}.Plan(t.Context(), again)
			require.NoError(t, err)
			require.Equal(t, len(l.Pods), there.Summary.Placed, "option %v of %s", l.Options[j], l.Name)
		}
	}
	_, err = plan.Launches[0].Node("x", &scheduling.LaunchOption{InstanceType: "m5.none"}, p.Catalog)
	require.EqualError(t, err, "launch "+plan.Launches[0].Name+": the catalog has no instance type m5.none")
	_, err = plan.Launches[0].Node("x", &scheduling.LaunchOption{InstanceType: "m5.large", Zone: "nowhere", CapacityType: "spot"}, p.Catalog)
	require.ErrorContains(t, err, `does not offer m5.large as spot in zone "nowhere"`)
}

// A reservation that is used up says nothing of another one.
func TestOptionKeyNamesItsReservation(t *testing.T) {
	problem := scheduling.Problem{
		Pods:      schedulingtest.Pods(1, "web", schedulingtest.Requests(schedulingtest.Cores(1))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("large",
			schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
			schedulingtest.Reserved("a", schedulingtest.Cents(1), "cr-1", 1),
			schedulingtest.Reserved("a", schedulingtest.Cents(2), "cr-2", 1))),
		Unavailable: &offerings.Unavailable{},
		Now:         time.Unix(1_700_000_000, 0),
	}
	plan, err := provisioning.Planner{}.Plan(t.Context(), problem)
	require.NoError(t, err)
	first := &plan.Launches[0].Options[0]
	require.Equal(t, "cr-1", first.ReservationID)
	problem.Unavailable.Mark(first.Key(), problem.Now, 0)
	plan, err = provisioning.Planner{}.Plan(t.Context(), problem)
	require.NoError(t, err)
	require.Len(t, plan.Launches, 1)
	require.Equal(t, "cr-2", plan.Launches[0].Options[0].ReservationID)
}
