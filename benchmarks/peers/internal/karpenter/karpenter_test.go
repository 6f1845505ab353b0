package karpenter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// solve is one line for each machine: type, zone, capacity type, pods.
func solve(t *testing.T, p scheduling.Problem) []string {
	t.Helper()
	_, outcome, err := peer.Measure(t.Context(), Peer{Workers: 2}, "test", p, peer.Options{})
	require.NoError(t, err)
	var lines []string
	for _, m := range outcome.Machines {
		var names []string
		for _, pod := range m.Pods {
			names = append(names, pod.Name)
		}
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s %s %s %s: %s", m.NodePool, m.InstanceType, m.Offering.Zone, m.Offering.CapacityType, strings.Join(names, " ")))
	}
	slices.Sort(lines)
	return lines
}

func small() *instancetypes.Catalog {
	large := st.Type("large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z1", st.Cents(20)), st.OnDemand("z2", st.Cents(21)), st.Spot("z2", st.Cents(8)))
	tiny := st.Type("tiny", st.Capacity(st.Cores(1), st.GiB(2)), st.OnDemand("z1", st.Cents(5)))
	gpu := st.Type("gpu", st.Capacity(st.Cores(4), st.GiB(16), st.Count("nvidia.com/gpu", 1)), st.OnDemand("z1", st.Cents(70)))
	gpu.Labels["example.com/gpu"] = "t4"
	return st.MustCatalog(large, tiny, gpu)
}

func TestSolve(t *testing.T) {
	anything := []*scheduling.NodePool{st.NodePool("default")}
	core := st.Requests(st.Cores(1), st.GiB(1))
	for name, tc := range map[string]struct {
		problem scheduling.Problem
		want    []string
	}{
		"cheapest that fits": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core)}, NodePools: anything},
			[]string{"default tiny z1 on-demand: a"},
		},
		"spot where it is cheaper": {
			scheduling.Problem{Pods: st.Pods(3, "a", core), NodePools: anything},
			[]string{"default large z2 spot: a-1 a-2 a-3"},
		},
		"pods name a label that no pool names": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core, st.Select("example.com/gpu", "t4"))}, NodePools: anything},
			[]string{"default gpu z1 on-demand: a"},
		},
		"pools ask for a label that few types have": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core)}, NodePools: []*scheduling.NodePool{st.NodePool("gpu", st.Where(st.Exists("example.com/gpu")))}},
			[]string{"gpu gpu z1 on-demand: a"},
		},
		"zone and capacity type": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core, st.Where(st.In(corev1.LabelTopologyZone, "z2"), st.In(offerings.CapacityTypeLabel, "on-demand")))}, NodePools: anything},
			[]string{"default large z2 on-demand: a"},
		},
		"limits of containers are requests": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", st.Limits(st.Cores(2)))}, NodePools: anything},
			[]string{"default large z2 spot: a"},
		},
		"weights": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core)}, NodePools: []*scheduling.NodePool{
				st.NodePool("dear", st.Weight(5), st.Where(st.In(corev1.LabelInstanceTypeStable, "gpu"))), st.NodePool("cheap"),
			}},
			[]string{"dear gpu z1 on-demand: a"},
		},
		"a pool's own catalog": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core)}, NodePools: anything, PoolCatalogs: map[string]*instancetypes.Catalog{
				"default": st.MustCatalog(st.Type("own", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("z1", st.Cents(9)))),
			}},
			[]string{"default own z1 on-demand: a"},
		},
		"nothing fits": {
			scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.Cores(64)))}, NodePools: anything},
			nil,
		},
		"no pool": {scheduling.Problem{Pods: []*corev1.Pod{st.Pod("a", core)}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.problem.Catalog = small()
			assert.Equal(t, tc.want, solve(t, tc.problem))
		})
	}
}

func TestDaemonsTakeRoom(t *testing.T) {
	p := scheduling.Problem{
		Pods: []*corev1.Pod{st.Pod("a", st.Requests(st.Cores(1)))}, NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: small(),
	}
	require.Equal(t, []string{"default tiny z1 on-demand: a"}, solve(t, p))
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", st.Limits(st.MilliCPU(100))))
	assert.Equal(t, []string{"default large z2 spot: a"}, solve(t, p))
}

// Each machine of a reservation is used once.
func TestReservations(t *testing.T) {
	p := scheduling.Problem{
		Pods: st.Pods(3, "a", st.Requests(st.Cores(3))), NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("z1", st.Cents(20)), st.Reserved("z1", 0, "cr-1", 2))),
	}
	got := solve(t, p)
	require.Len(t, got, 2, "the provisioner leaves the third pod for its next round")
	for _, line := range got {
		assert.Contains(t, line, "reserved")
	}
}

func TestInputsStayAsTheyWere(t *testing.T) {
	p := scheduling.Problem{
		Pods: st.Pods(5, "a", st.Limits(st.MilliCPU(300))), NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: small(),
	}
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", st.Limits(st.MilliCPU(100))))
	pods := make([]*corev1.Pod, len(p.Pods))
	for i, pod := range p.Pods {
		pods[i] = pod.DeepCopy()
	}
	pool, daemon := p.NodePools[0].DeepCopy(), p.DaemonSets[0].DeepCopy()
	solve(t, p)
	assert.Equal(t, pods, p.Pods)
	assert.Equal(t, pool, p.NodePools[0])
	assert.Equal(t, daemon, p.DaemonSets[0])
}

// Past its deadline a run returns the launches found so far.
func TestDeadline(t *testing.T) {
	run, err := Peer{}.Load(scheduling.Problem{Pods: st.Pods(3, "a"), NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: small()})
	require.NoError(t, err)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	require.NoError(t, run.Solve(ctx))
	outcome, err := run.Outcome()
	require.NoError(t, err)
	assert.True(t, outcome.Late)
	assert.Empty(t, outcome.Machines)
}
