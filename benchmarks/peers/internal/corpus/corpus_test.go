package corpus

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func allMarkets(t *testing.T) []Market {
	t.Helper()
	cloud, err := EC2("us-east-1")
	require.NoError(t, err)
	synthetic, err := Synthetic()
	require.NoError(t, err)
	file, err := os.Open("testdata/kwok.json")
	require.NoError(t, err)
	defer file.Close()
	kwok, err := KWOK(file)
	require.NoError(t, err)
	return []Market{synthetic, cloud, kwok}
}

// Every corpus that fits a market makes a valid problem of the size asked for, twice
// the same, and another one with another seed.
func TestInstances(t *testing.T) {
	fits := map[string][]string{}
	for _, m := range allMarkets(t) {
		for _, c := range All() {
			assert.NotEmpty(t, c.About)
			if !c.Fits(m) {
				continue
			}
			fits[m.Name] = append(fits[m.Name], c.Name)
			for _, way := range []string{OnDemand, Spot, Mixed} {
				in, err := c.Instance(m, way, 137, 1)
				require.NoError(t, err)
				assert.Equal(t, m.Name+"/"+c.Name+"/"+way+"/137", in.Name)
				assert.Equal(t, c.Name, in.Corpus)
				assert.Equal(t, c.Topology, in.Tied)
				assert.Len(t, in.Problem.Pods, 137)
				assert.NoError(t, in.Problem.Validate(), in.Name)
				again, err := c.Instance(m, way, 137, 1)
				require.NoError(t, err)
				assert.Equal(t, in.Problem.Pods, again.Problem.Pods)
				other, err := c.Instance(m, way, 137, 2)
				require.NoError(t, err)
				assert.NotEqual(t, in.Problem.Pods, other.Problem.Pods)
			}
		}
	}
	assert.Equal(t, map[string][]string{
		"karpenter": {"karpenter-mix", "karpenter-topology"},
		"ec2":       {"karpenter-topology", "thirty-sizes", "thirty-sizes-capped", "random-sizes", "microservices", "microservices-topology", "big-memory", "gpu", "ci", "ci-large", "many-pools"},
		"kwok":      {"karpenter-topology", "thirty-sizes", "thirty-sizes-capped", "random-sizes", "microservices", "microservices-topology", "big-memory", "ci", "ci-large", "many-pools"},
	}, fits)
}

func TestInstanceRefusesOtherWays(t *testing.T) {
	_, err := All()[0].Instance(allMarkets(t)[0], "reserved", 1, 1)
	assert.ErrorContains(t, err, `market "reserved": want on-demand, spot or mixed`)
}

func TestMarketsThatAreNotThere(t *testing.T) {
	_, err := EC2("atlantis-1")
	assert.Error(t, err)
	_, err = KWOK(strings.NewReader("{"))
	assert.Error(t, err)
}

// Everything can be placed: a comparison of prices needs that.
func TestEverythingCanBePlaced(t *testing.T) {
	for _, m := range allMarkets(t)[:2] {
		for _, c := range All() {
			if !c.Fits(m) || c.Topology {
				continue
			}
			for _, way := range []string{OnDemand, Spot} {
				in, err := c.Instance(m, way, 400, 5)
				require.NoError(t, err)
				plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(t.Context(), in.Problem)
				require.NoError(t, err)
				assert.Empty(t, plan.Unschedulable, in.Name)
			}
		}
	}
}

func TestGPUJobs(t *testing.T) {
	pods := GPUJobs(20_000, 3)
	share := map[int64]float64{}
	for _, p := range pods {
		gpus := p.Spec.Containers[0].Resources.Requests[GPU]
		share[gpus.Value()] += 1.0 / 20_000
		assert.Equal(t, gpus.Value() > 0, len(p.Spec.Tolerations) > 0)
	}
	assert.ElementsMatch(t, []int64{0, 1, 2, 4, 8}, slices.Collect(maps.Keys(share)))
	assert.InDelta(t, 0.133, share[0], 0.01)
	assert.InDelta(t, 0.857, share[1], 0.01)
	assert.InDelta(t, 0.0054, share[8], 0.002)
}

func TestBigMemory(t *testing.T) {
	classes := map[string]bool{}
	for _, p := range BigMemory(3_000, 3) {
		r := p.Spec.Containers[0].Resources.Requests
		gib := float64(r.Memory().Value()) / (1 << 30)
		perCore := gib / (float64(r.Cpu().MilliValue()) / 1000)
		assert.Greater(t, perCore, 6.0)
		assert.Less(t, perCore, 50.0)
		classes[r.Cpu().String()+r.Memory().String()] = true
	}
	assert.Greater(t, len(classes), 20)
	assert.LessOrEqual(t, len(classes), 40)
}

func TestCI(t *testing.T) {
	whole := 0
	for _, p := range CI(2_000, 3) {
		milli := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		if cores := milli / 1000; milli%1000 == 0 && cores&(cores-1) == 0 {
			whole++
		}
	}
	assert.Greater(t, whole, 1_300)
	assert.Less(t, whole, 1_700)
}

// Where machines are bought as is cheaper, every type is sold both ways.
func TestMixedSellsBothWays(t *testing.T) {
	m := Market{Catalog: st.MustCatalog(
		st.Type("both", st.Capacity(st.Cores(1), st.GiB(1)), st.OnDemand("z", 3), st.Spot("z", 1)),
		st.Type("dear", st.Capacity(st.Cores(1), st.GiB(1)), st.OnDemand("z", 3)),
		st.Type("none", st.Capacity(st.Cores(1), st.GiB(1))))}
	assert.Equal(t, []string{"both"}, m.sold(Mixed).Names())
	assert.Same(t, m.Catalog, m.sold(OnDemand))
	assert.Same(t, m.Catalog, m.sold(Spot))
}

func TestCappedMachinesAreSmall(t *testing.T) {
	for _, m := range allMarkets(t)[1:] {
		for _, c := range All() {
			if !c.capped {
				continue
			}
			in, err := c.Instance(m, OnDemand, 200, 1)
			require.NoError(t, err)
			plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(t.Context(), in.Problem)
			require.NoError(t, err)
			assert.NotEmpty(t, plan.Launches)
			for _, l := range plan.Launches {
				for _, o := range l.Options {
					it, _ := in.Problem.Catalog.Get(o.InstanceType)
					assert.LessOrEqual(t, it.Capacity.Cpu().Value(), int64(32))
				}
			}
		}
	}
}

func TestAgents(t *testing.T) {
	m := allMarkets(t)[1]
	for _, c := range All() {
		if c.Name != "microservices" {
			continue
		}
		in, err := c.Instance(m, OnDemand, 10, 1)
		require.NoError(t, err)
		assert.Len(t, in.Problem.DaemonSets, 4)
	}
}

func TestManyPools(t *testing.T) {
	m := allMarkets(t)[1]
	for way, wantOnDemand := range map[string]bool{OnDemand: true, Mixed: true, Spot: false} {
		in, err := All()[len(All())-1].Instance(m, way, 3_000, 1)
		require.NoError(t, err)
		assert.Len(t, in.Problem.NodePools, 20)
		assert.Len(t, in.Problem.DaemonSets, 20)
		zones, onDemand := map[string]int{}, 0
		for _, p := range in.Problem.Pods {
			if zone := p.Spec.NodeSelector[corev1.LabelTopologyZone]; zone != "" {
				zones[zone]++
			}
			if p.Spec.NodeSelector[offerings.CapacityTypeLabel] == OnDemand {
				onDemand++
			}
		}
		assert.Len(t, zones, 3)
		assert.Equal(t, wantOnDemand, onDemand > 0)
	}
}

func TestZones(t *testing.T) {
	m := Market{Catalog: st.MustCatalog(
		st.Type("a", st.Capacity(st.Cores(1), st.GiB(1)), st.OnDemand("z1", 1), st.OnDemand("z2", 1), st.OnDemand("z3", 1)),
		st.Type("b", st.Capacity(st.Cores(1), st.GiB(1)), st.OnDemand("z3", 1)))}
	assert.Equal(t, []string{"z3", "z1", "z2"}, m.zones())
}

func TestJitter(t *testing.T) {
	d := newDice(1)
	for range 1_000 {
		n := jitter(d, 1000, 10, 100)
		assert.Zero(t, n%100)
		assert.GreaterOrEqual(t, n, int64(900))
		assert.LessOrEqual(t, n, int64(1100))
	}
	assert.Equal(t, int64(100), jitter(d, 10, 0, 100), "at least one step")
}

// Clusters have ready nodes of the pool's own, which hold what runs on them, and about
// every other pod of full nodes has gone.
func TestClusters(t *testing.T) {
	market, err := EC2("us-east-1")
	require.NoError(t, err)
	k := Clusters{Market: market, Budget: "10%"}
	c, err := k.Cluster(60, 7)
	require.NoError(t, err)
	require.NoError(t, c.Validate())
	assert.Len(t, c.Nodes, 60)
	assert.InDelta(t, 13*60, len(c.Running), 2*60)
	assert.Equal(t, "10%", c.NodePools[0].Spec.Disruption.Budgets[0].Nodes)
	plan, err := scheduling.Solver{Effort: scheduling.EffortFast}.Solve(t.Context(), c.Problem)
	require.NoError(t, err)
	assert.Empty(t, plan.Warnings, "nothing is odd about the nodes")
	for _, node := range c.Nodes {
		assert.Contains(t, node.Labels[corev1.LabelInstanceTypeStable], "xlarge")
		assert.Equal(t, "on-demand", node.Labels[scheduling.CapacityTypeLabel])
	}
	again, err := k.Cluster(60, 7)
	require.NoError(t, err)
	assert.Equal(t, c.Running, again.Running)
	other, err := k.Cluster(60, 8)
	require.NoError(t, err)
	assert.NotEqual(t, c.Running, other.Running)

	k.Market = allMarkets(t)[2]
	_, err = k.Cluster(5, 1)
	assert.ErrorContains(t, err, "the market kwok does not sell ")
}
