package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

func TestRandomIsRepeatable(t *testing.T) {
	for seed := range soak.Cases(15) {
		for _, size := range []Size{{}, {TopologyTerms: true}} {
			assert.Equal(t, YAML(Random(seed, size)), YAML(Random(seed, size)), "seed %d", seed)
		}
	}
	assert.NotEqual(t, YAML(Random(1, Size{})), YAML(Random(2, Size{})))
}

func TestRandomKeepsToItsSize(t *testing.T) {
	for seed := range soak.Cases(60) {
		p := Random(seed, Size{})
		assert.LessOrEqual(t, len(p.Pods), 40)
		assert.NotEmpty(t, p.Pods)
		assert.LessOrEqual(t, p.Catalog.Len(), 12)
		assert.LessOrEqual(t, len(p.NodePools), 4)
		assert.LessOrEqual(t, len(p.Nodes), 4)
		assert.LessOrEqual(t, len(p.DaemonSets), 3)

		p = Random(seed, Size{Pods: 5, Types: 2, Pools: 1, Nodes: -1, DaemonSets: -1, Zones: 1})
		assert.LessOrEqual(t, len(p.Pods), 5)
		assert.LessOrEqual(t, p.Catalog.Len(), 2)
		assert.LessOrEqual(t, len(p.NodePools), 1)
		assert.Empty(t, p.Nodes)
		assert.Empty(t, p.DaemonSets)
	}
	assert.Greater(t, len(Random(3, Size{Pods: 2000, Types: 300}).Pods), 40)
}

func TestRandomProblemsAreValid(t *testing.T) {
	if race.Enabled {
		t.Skip("the generators know no goroutines")
	}
	for seed := range soak.Cases(300) {
		p := Random(seed, Size{})
		assert.NoError(t, provisioning.Validate(&p), "seed %d", seed)
	}
}

// A generator that stops to draw something would leave it untested without a sign.
func TestRandomDrawsEverything(t *testing.T) {
	if race.Enabled {
		t.Skip("the generators know no goroutines")
	}
	want := []string{
		`"nodeSelector"`, `"nodeSelectorTerms"`, `"NotIn"`, `"Exists"`, `"DoesNotExist"`, `"Gt"`, `"Lt"`, `"Gte"`, `"Lte"`,
		`"preferredDuringSchedulingIgnoredDuringExecution"`, `"minValues"`, `"startupTaints"`, `"PreferNoSchedule"`,
		`"NoExecute"`, `"hostPort"`, `"hostIP"`, `"UDP"`, `"initContainers"`, `"restartPolicy":"Always"`, `"overhead"`,
		`"priority"`, `"nvidia.com/gpu"`, `"example.com/fpga"`, `"hugepages-2Mi"`, `"ephemeral-storage"`,
		`"example.com/unheard-of":"0"`, `"example.com/unheard-of":"1"`, `"deletionTimestamp"`, `"karpenter.sh/disrupted"`,
		`"unschedulable":true`, `"nodes":`, `"weight"`, `"replicas"`, `"operator":"Lt"`, `"reservationID"`, `"unavailable":true`,
		`"arm64"`, `"windows"`, `"limits"`, `"node.kubernetes.io/not-ready"`, `"namespace":"shop"`, `"capacity":{"example.com/fpga"`,
		`"DaemonSet"`, `"Succeeded"`,
	}
	seen := map[string]int{}
	var failed, perPool, inFlight int
	for seed := range soak.Cases(1500) {
		p := Random(seed, Size{})
		all := string(inJSON(p))
		for _, w := range want {
			if strings.Contains(all, w) {
				seen[w]++
			}
		}
		if p.Unavailable != nil {
			failed++
		}
		perPool += len(p.PoolCatalogs)
		for _, n := range p.Nodes {
			if len(n.Status.Allocatable) == 0 {
				inFlight++
			}
		}
	}
	for _, w := range want {
		assert.Positive(t, seen[w], "no problem has %s", w)
	}
	assert.Positive(t, failed)
	assert.Positive(t, perPool)
	assert.Positive(t, inFlight)
}

func TestShuffle(t *testing.T) {
	p := Random(7, Size{})
	before := string(inJSON(p))
	q := Shuffle(p, 1)
	assert.Equal(t, before, string(inJSON(p)), "the problem itself keeps its order")
	assert.ElementsMatch(t, p.Pods, q.Pods)
	assert.ElementsMatch(t, p.NodePools, q.NodePools)
	assert.ElementsMatch(t, p.Nodes, q.Nodes)
	assert.ElementsMatch(t, p.Running, q.Running)
	assert.ElementsMatch(t, p.DaemonSets, q.DaemonSets)
	assert.NotEqual(t, p.Pods, q.Pods)
	assert.Equal(t, q.Pods, Shuffle(p, 1).Pods, "a seed stands for one order")
}

func TestMixedSizes(t *testing.T) {
	pods := MixedSizes(5000, 1)
	sizes := map[string]int{}
	for _, p := range pods {
		r := p.Spec.Containers[0].Resources.Requests
		sizes[r.Cpu().String()+"/"+r.Memory().String()]++
	}
	assert.Len(t, pods, 5000)
	assert.Len(t, sizes, 30)
	assert.Equal(t, pods, MixedSizes(5000, 1))
}

func TestDiverse(t *testing.T) {
	pods := Diverse(1003, 1)
	var zones, hosts, near, apart int
	for _, p := range pods {
		for _, c := range p.Spec.TopologySpreadConstraints {
			if c.TopologyKey == corev1.LabelTopologyZone {
				zones++
			} else {
				hosts++
			}
		}
		if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
			near++
			assert.Equal(t, p.Labels, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels)
		}
		if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			apart++
			assert.Equal(t, "nginx", p.Labels["app"])
		}
	}
	assert.Len(t, pods, 1003)
	assert.Equal(t, []int{200, 200, 200, 200}, []int{zones, hosts, near, apart})
	assert.Equal(t, pods, Diverse(1003, 1))
	assert.Len(t, Diverse(3, 1), 3)
	assert.Empty(t, Diverse(0, 1))
}

func TestWorkloads(t *testing.T) {
	for _, tc := range []struct{ pods, classes, want int }{{1000, 300, 300}, {10, 300, 10}, {5, 1, 1}, {0, 3, 0}} {
		pods := Workloads(tc.pods, tc.classes, 1)
		assert.Len(t, pods, tc.pods)
		classes := map[string]int{}
		names := map[string]bool{}
		for _, p := range pods {
			classes[p.Labels["app"]]++
			names[p.Name] = true
			r := p.Spec.Containers[0].Resources.Requests
			assert.Positive(t, r.Cpu().MilliValue())
			assert.Positive(t, r.Memory().Value())
		}
		assert.Len(t, classes, tc.want)
		assert.Len(t, names, tc.pods, "names are unique")
	}
	assert.Equal(t, Workloads(500, 30, 9), Workloads(500, 30, 9))
}

func TestRunningPodsFitTheirNodes(t *testing.T) {
	for seed := range soak.Cases(60) {
		p := Random(seed, Size{})
		for _, n := range p.Nodes {
			var sum int64
			for _, pod := range p.Running {
				if pod.Spec.NodeName == n.Name {
					r := pod.Spec.Containers[0].Resources.Requests
					sum += r.Cpu().MilliValue()
				}
			}
			cpu := n.Status.Allocatable[corev1.ResourceCPU]
			assert.LessOrEqual(t, sum, cpu.MilliValue(), "seed %d, %s", seed, n.Name)
		}
	}
}
