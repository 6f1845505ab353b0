package corpus

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
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
				assert.Equal(t, c.Topology, in.TopologyTerms)
				assert.Len(t, in.Problem.Pods, 137)
				assert.NoError(t, provisioning.Validate(&in.Problem), in.Name)
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
				plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), in.Problem)
				require.NoError(t, err)
				assert.Empty(t, plan.Unschedulable, in.Name)
			}
		}
	}
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
			plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), in.Problem)
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

// Clusters have ready nodes of their own NodePool with room for the pods that run there. About every other pod of full
// nodes has ended.
func TestClusters(t *testing.T) {
	market, err := EC2("us-east-1")
	require.NoError(t, err)
	k := Clusters{Market: market, Budget: "10%"}
	c, err := k.Cluster(60, 7)
	require.NoError(t, err)
	require.NoError(t, provisioning.Validate(&c.Problem))
	assert.Len(t, c.Nodes, 60)
	assert.InDelta(t, 13*60, len(c.Running), 2*60)
	assert.Equal(t, "10%", c.NodePools[0].Spec.Disruption.Budgets[0].Nodes)
	plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), c.Problem)
	require.NoError(t, err)
	assert.Empty(t, plan.Warnings, "nothing is odd about the nodes")
	for _, node := range c.Nodes {
		assert.Contains(t, node.Labels[corev1.LabelInstanceTypeStable], "xlarge")
		assert.Equal(t, "on-demand", node.Labels[offerings.CapacityTypeLabel])
	}
	again, err := k.Cluster(60, 7)
	require.NoError(t, err)
	assert.Equal(t, c.Running, again.Running)
	other, err := k.Cluster(60, 8)
	require.NoError(t, err)
	assert.NotEqual(t, c.Running, other.Running)

	k.Market = allMarkets(t)[2]
	_, err = k.Cluster(5, 1)
	assert.ErrorContains(t, err, "launch node-0000: the catalog ")
}
