package oracle_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The oracle notices the faults of a step.
func TestWrongSteps(t *testing.T) {
	core := st.Requests(st.MilliCPU(900), st.GiB(1))
	runs := func(i int, opts ...st.PodOption) *corev1.Pod {
		pod := st.Pod(fmt.Sprintf("p%d", i), append([]st.PodOption{st.Label("app", "web")}, opts...)...)
		pod.Spec.NodeName, pod.Status.Phase = fmt.Sprintf("n%d", i), corev1.PodRunning
		return pod
	}
	big := func(c *disruption.Cluster) {
		for i := range 2 {
			c.Running[i] = runs(i, st.Requests(st.MilliCPU(1800)))
		}
	}
	fresh := func() disruption.Cluster {
		c := disruption.Cluster{Problem: scheduling.Problem{
			Now:       st.Cluster(1, st.ClusterOptions{Nodes: 1}).Now,
			NodePools: []*scheduling.NodePool{st.NodePool("default")},
			Catalog:   st.MustCatalog(st.Type("two", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("z1", st.Cents(10)))),
		}}
		for i := range 3 {
			launch := scheduling.Launch{Name: "l", NodePool: "default"}
			node, err := launch.Node(fmt.Sprintf("n%d", i), &scheduling.LaunchOption{InstanceType: "two", Zone: "z1", CapacityType: "on-demand"}, c.Catalog)
			require.NoError(t, err)
			c.Nodes = append(c.Nodes, node)
			c.Running = append(c.Running, runs(i, core))
		}
		return c
	}
	eviction := func(pod int, to string, wave int) disruption.Eviction {
		return disruption.Eviction{Pod: fmt.Sprintf("default/p%d", pod), From: fmt.Sprintf("n%d", pod), To: to, Wave: wave}
	}
	bought := scheduling.Launch{Name: "new", NodePool: "default", Options: []scheduling.LaunchOption{{InstanceType: "two", Zone: "z1", CapacityType: "on-demand"}}}
	for name, tc := range map[string]struct {
		steps []disruption.Step
		spoil func(c *disruption.Cluster)
		found []string // plugin and node
		fault string
	}{
		"right":                       {steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n1", 1)}}}},
		"nothing":                     {},
		"onto what is bought":         {steps: []disruption.Step{{Drain: []string{"n0"}, Launches: []scheduling.Launch{bought}, Evictions: []disruption.Eviction{eviction(0, "new", 1)}}}},
		"onto what was bought before": {steps: []disruption.Step{{Launches: []scheduling.Launch{bought}}, {Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "new", 1)}}}},
		"nowhere":                     {steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "", 1)}}}},
		"two waves":                   {steps: []disruption.Step{{Drain: []string{"n0", "n1"}, Launches: []scheduling.Launch{bought}, Evictions: []disruption.Eviction{eviction(0, "new", 1), eviction(1, "new", 2)}}}},
		"too many": {
			steps: []disruption.Step{{Drain: []string{"n0", "n1"}, Evictions: []disruption.Eviction{eviction(0, "n2", 1), eviction(1, "n2", 1)}}},
			found: []string{"NodeResourcesFit n2"},
		},
		"too many in the second step, and no third": {
			steps: []disruption.Step{
				{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n2", 1)}},
				{Drain: []string{"n1"}, Evictions: []disruption.Eviction{eviction(1, "n2", 1)}},
				{Drain: []string{"n7"}},
			},
			found: []string{"NodeResourcesFit n2"},
		},
		"places swapped in one wave": {steps: []disruption.Step{{Evictions: []disruption.Eviction{eviction(0, "n1", 1), eviction(1, "n0", 1)}}}, spoil: big},
		"places swapped in two waves": {
			steps: []disruption.Step{{Evictions: []disruption.Eviction{eviction(0, "n1", 1), eviction(1, "n0", 2)}}},
			spoil: big,
			found: []string{"NodeResourcesFit n1"},
		},
		"apart": {
			steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n1", 1)}}},
			spoil: func(c *disruption.Cluster) {
				c.Running[1] = runs(1, core, st.Apart(corev1.LabelHostname, st.Of("app", "web")))
			},
			found: []string{"InterPodAffinity n1"},
		},
		"tainted": {
			steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n1", 1)}}},
			spoil: func(c *disruption.Cluster) {
				c.Nodes[1].Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
			},
			found: []string{"TaintToleration n1"},
		},
		"beside a pod of a node that is going": {
			steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n1", 1)}}},
			spoil: func(c *disruption.Cluster) {
				c.Running[2] = runs(2, core, st.Apart(corev1.LabelTopologyZone, st.Of("app", "web")))
				c.Nodes[2].DeletionTimestamp = &metav1.Time{Time: c.Now}
			},
		},
		"beside a pod of a node that stays": {
			steps: []disruption.Step{{Drain: []string{"n0"}, Evictions: []disruption.Eviction{eviction(0, "n1", 1)}}},
			spoil: func(c *disruption.Cluster) {
				c.Running[2] = runs(2, core, st.Apart(corev1.LabelTopologyZone, st.Of("app", "web")))
			},
			found: []string{"InterPodAffinity n1"},
		},
		"unknown pod":    {steps: []disruption.Step{{Evictions: []disruption.Eviction{eviction(9, "n1", 1)}}}, fault: "step 1: pod default/p9 is to leave n9 and does not run there"},
		"another place":  {steps: []disruption.Step{{Evictions: []disruption.Eviction{{Pod: "default/p1", From: "n2", To: "n0", Wave: 1}}}}, fault: "step 1: pod default/p1 is to leave n2 and does not run there"},
		"no wave":        {steps: []disruption.Step{{Evictions: []disruption.Eviction{eviction(0, "n1", 0)}}}, fault: "step 1: pod default/p0 leaves in wave 0"},
		"unknown node":   {steps: []disruption.Step{{Drain: []string{"n9"}}}, fault: "step 1: node n9 is not there"},
		"unknown target": {steps: []disruption.Step{{Evictions: []disruption.Eviction{eviction(0, "n9", 1)}}}, fault: "step 1: node n9: "},
		"drained twice":  {steps: []disruption.Step{{Drain: []string{"n0"}}, {Drain: []string{"n0"}}}, fault: "step 2: node n0 is not there"},
		"no option":      {steps: []disruption.Step{{Launches: []scheduling.Launch{{Name: "new"}}}}, fault: "step 1: launch new has no option"},
		"unknown option": {steps: []disruption.Step{{Launches: []scheduling.Launch{{Name: "new", NodePool: "default", Options: []scheduling.LaunchOption{{InstanceType: "four"}}}}}}, fault: "step 1: launch new: the catalog has no instance type four"},
		"taken name":     {steps: []disruption.Step{{Launches: []scheduling.Launch{{Name: "n1", NodePool: "default", Options: bought.Options}}}}, fault: "step 1: node n1 is there already"},
	} {
		t.Run(name, func(t *testing.T) {
			c := fresh()
			if tc.spoil != nil {
				tc.spoil(&c)
			}
			s, err := oracle.NewSchedulerForSteps(t.Context(), &c)
			require.NoError(t, err)
			found, err := oracle.CheckSteps(t.Context(), s, &c, &disruption.ConsolidationPlan{Steps: tc.steps})
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, d := range found {
				assert.Equal(t, oracle.Refused, d.Kind)
				got = append(got, d.Plugin+" "+d.Node)
			}
			assert.Equal(t, tc.found, slices.Compact(got))
		})
	}
}
