package prove_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// TestBoundOfLoners: anti-affinity or a spread over hosts bounds the pods on a node, so that the number of pods bounds the number
// of nodes, e.g. ten nodes for ten pods of which a node holds one.
func TestBoundOfLoners(t *testing.T) {
	alone := st.Apart(corev1.LabelHostname)
	half, web := st.Requests(st.MilliCPU(500)), st.Label("app", "web")
	catalog := st.MustCatalog(
		st.Type("small", st.Capacity(st.Cores(1), st.GiB(4)), st.OnDemand("a", 100)),
		st.Type("large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", 350)),
	)
	node := st.Node("n", st.Allocatable(st.Cores(4), st.GiB(8)))
	for _, tt := range []struct {
		name  string
		p     scheduling.Problem
		bound offerings.Price
		kind  string
	}{
		{"each has a machine", scheduling.Problem{Pods: st.Pods(10, "p", half, web, alone)}, 1000, "assignment"},
		{"pods without a term use the room", scheduling.Problem{Pods: append(st.Pods(10, "p", half, web, alone), st.Pods(10, "q", half)...)}, 1000, "assignment"},
		{"pods of two terms share nodes", scheduling.Problem{Pods: append(st.Pods(10, "p", half, web, alone), st.Pods(10, "q", half, st.Label("app", "api"), alone)...)}, 1000, "assignment"},
		{"an existing node takes one", scheduling.Problem{Pods: st.Pods(10, "p", half, web, alone), Nodes: []*corev1.Node{node}}, 900, "assignment"},
		{"one runs on the existing node", scheduling.Problem{Pods: st.Pods(10, "p", half, web, alone), Nodes: []*corev1.Node{node}, Running: st.Pods(1, "r", web, st.OnNode("n"))}, 1000, "assignment"},
		{"one of two runs on the node", scheduling.Problem{Pods: st.Pods(13, "p", st.Requests(st.MilliCPU(300)), web, st.Spread(corev1.LabelHostname, st.Skew(2))), Nodes: []*corev1.Node{node}, Running: st.Pods(1, "r", web, st.OnNode("n"))}, 600, "assignment"},
		{"a single pod", scheduling.Problem{Pods: st.Pods(1, "p", half, web, alone)}, 100, "resource"},
		{"maxSkew 2 puts two on a node", scheduling.Problem{Pods: st.Pods(12, "p", st.Requests(st.MilliCPU(300)), web, st.Spread(corev1.LabelHostname, st.Skew(2)))}, 600, "assignment"},
		{"whole machines", scheduling.Problem{Pods: append(st.Pods(6, "p", half, web, st.Spread(corev1.LabelHostname, st.Skew(2))), st.Pods(10, "q", half)...)}, 750, "cover"},
		{"fewer pods than maxSkew", scheduling.Problem{Pods: st.Pods(8, "p", half, web, st.Spread(corev1.LabelHostname, st.Skew(8)))}, 350, "resource"},
		{"a spread that selects other pods", scheduling.Problem{Pods: st.Pods(8, "p", half, web, st.Spread(corev1.LabelHostname, st.Of("app", "api")))}, 350, "resource"},
		{"ScheduleAnyway", scheduling.Problem{Pods: st.Pods(8, "p", half, web, st.Spread(corev1.LabelHostname, st.Soft()))}, 350, "resource"},
		{"preferred anti-affinity", scheduling.Problem{Pods: st.Pods(8, "p", half, web, st.Apart(corev1.LabelHostname, st.Weight(1)))}, 350, "resource"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.NodePools, tt.p.Catalog = []*scheduling.NodePool{st.NodePool("pool")}, catalog
			plan, err := st.Audit(t.Context(), scheduling.Policy{}, tt.p)
			require.NoError(t, err)
			assert.Equal(t, tt.bound, plan.Summary.LowerBoundPerHour)
			assert.Equal(t, tt.kind, plan.Summary.Certificate.Kind)
		})
	}
}

// Pods that are all on existing nodes cost nothing, so that the bound is 0 and needs no certificate.
func TestNoBoundOfNothing(t *testing.T) {
	p := scheduling.Problem{Pods: st.Pods(3, "p", st.Requests(st.Cores(1))), Nodes: []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(4), st.GiB(8)))}}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Zero(t, plan.Summary.LowerBoundPerHour)
	assert.Nil(t, plan.Summary.Certificate)
	assert.Equal(t, scheduling.StatusOptimal, plan.Summary.Status)
}

// The bound of few pods, some with anti-affinity or a spread over hosts, is at most the price of the cheapest partition of the
// pods into nodes, of all partitions.
func TestBoundOfLonersAgainstEveryPartition(t *testing.T) {
	tight := 0
	_, problems := soak.Window(40)
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 11))
		var types []*instancetypes.InstanceType
		var caps, prices []int64
		for i := range 1 + rng.IntN(4) {
			cpu, price := 900+100*rng.Int64N(30), 100+rng.Int64N(300)
			caps, prices = append(caps, cpu), append(prices, price)
			types = append(types, st.Type(fmt.Sprintf("t%d", i), st.Capacity(st.MilliCPU(cpu), st.GiB(64)), st.OnDemand("a", offerings.Price(price))))
		}
		p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(types...)}
		var sizes []int64
		var kinds []int
		limits := []int{6, 1, 1 + rng.IntN(2)}
		for i := range 2 + rng.IntN(5) {
			size, kind := []int64{100, 250, 300, 500, 900}[rng.IntN(5)], rng.IntN(3)
			opts := []st.PodOption{st.Requests(st.MilliCPU(size)), st.Label("app", fmt.Sprint("kind-", kind))}
			opts = append(opts, [][]st.PodOption{nil, {st.Apart(corev1.LabelHostname)}, {st.Spread(corev1.LabelHostname, st.Skew(int32(limits[2])))}}[kind]...)
			p.Pods = append(p.Pods, st.Pod(fmt.Sprint("p-", i), opts...))
			sizes, kinds = append(sizes, size), append(kinds, kind)
		}
		best := cheapestPartition(sizes, kinds, limits, caps, prices)
		for _, effort := range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault} {
			plan, err := st.Audit(t.Context(), scheduling.Policy{Effort: effort}, p)
			require.NoError(t, err, "seed %d", seed)
			s := plan.Summary
			require.Equal(t, len(p.Pods), s.Placed, "seed %d", seed)
			require.LessOrEqual(t, int64(s.LowerBoundPerHour), best, "seed %d", seed)
			require.GreaterOrEqual(t, int64(s.PricePerHour), best, "seed %d", seed)
			if effort == scheduling.EffortDefault && int64(s.LowerBoundPerHour) == best {
				tight++
			}
		}
	}
	t.Logf("%d of %d bounds are tight", tight, problems)
	assert.Greater(t, tight, problems/2)
}

// cheapestPartition is the price of the cheapest partition of pods into nodes that hold no more pods of a kind than its limit.
func cheapestPartition(sizes []int64, kinds, limits []int, caps, prices []int64) int64 {
	cost := make([]int64, 1<<len(sizes)) // of a machine for a set of pods
	for set := range cost {
		load, many := int64(0), [3]int{}
		for i, size := range sizes {
			if set>>i&1 == 1 {
				load += size
				many[kinds[i]]++
			}
		}
		cost[set] = math.MaxInt32
		for k, c := range caps {
			if load <= c && many[1] <= limits[1] && many[2] <= limits[2] {
				cost[set] = min(cost[set], prices[k])
			}
		}
	}
	best := make([]int64, len(cost))
	for set := 1; set < len(cost); set++ {
		best[set] = math.MaxInt32
		for part := set; part > 0; part = (part - 1) & set {
			best[set] = min(best[set], cost[part]+best[set&^part])
		}
	}
	return best[len(best)-1]
}
