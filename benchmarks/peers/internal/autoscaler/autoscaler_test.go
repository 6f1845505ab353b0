package autoscaler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func problem(pods []*corev1.Pod, types ...*instancetypes.InstanceType) scheduling.Problem {
	return scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: st.MustCatalog(types...)}
}

// pods asks for so many cores and GiB.
func pods(sizes ...[2]int64) []*corev1.Pod {
	var out []*corev1.Pod
	for i, s := range sizes {
		out = append(out, st.Pod(fmt.Sprintf("p%d", i), st.Requests(st.Cores(s[0]), st.GiB(s[1]))))
	}
	return out
}

func solve(t *testing.T, e Expander, p scheduling.Problem) []string {
	t.Helper()
	_, outcome, err := peer.Measure(t.Context(), Peer{Expander: e}, "test", p, peer.Options{})
	require.NoError(t, err)
	var lines []string
	for _, m := range outcome.Machines {
		lines = append(lines, fmt.Sprintf("%s %d", m.InstanceType, len(m.Pods)))
	}
	slices.Sort(lines)
	return lines
}

func TestExpanders(t *testing.T) {
	exact := st.Type("exact", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("z", st.Cents(50)))
	roomy := st.Type("roomy", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z", st.Cents(20)))
	huge := st.Type("huge", st.Capacity(st.Cores(16), st.GiB(64)), st.OnDemand("z", st.Cents(100)))
	for name, tc := range map[string]struct {
		problem                scheduling.Problem
		waste, price, plimsoll []string
	}{
		"dear and full, or cheap and half empty": {
			problem(pods([2]int64{2, 8}), exact, roomy),
			[]string{"exact 1"}, []string{"roomy 1"}, []string{"roomy 1"},
		},
		"one group takes all that it can": {
			problem(pods([2]int64{2, 8}, [2]int64{2, 8}, [2]int64{4, 16}), roomy, huge),
			[]string{"roomy 1", "roomy 2"}, []string{"roomy 1", "roomy 2"}, []string{"roomy 1", "roomy 2"},
		},
		"what is too large waits for the next round": {
			problem(pods([2]int64{2, 8}, [2]int64{2, 8}, [2]int64{16, 64}), roomy, huge),
			[]string{"huge 1", "roomy 2"}, []string{"huge 1", "roomy 2"}, []string{"huge 1", "roomy 2"},
		},
		"nothing fits":  {problem(pods([2]int64{99, 1}), roomy), nil, nil, nil},
		"nothing to do": {problem(nil, roomy), nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.waste, solve(t, LeastWaste, tc.problem))
			assert.Equal(t, tc.price, solve(t, Price, tc.problem))
			assert.Equal(t, tc.plimsoll, solve(t, Plimsoll, tc.problem))
		})
	}
}

// One group for all pods costs more than two: small pods fill the large nodes that one large pod needs, at the price of
// these.
func TestEstimate(t *testing.T) {
	p := problem(pods([2]int64{3, 1}, [2]int64{2, 1}, [2]int64{1, 1}, [2]int64{1, 1}, [2]int64{1, 12}),
		st.Type("four", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z", st.Cents(10))))
	s, err := packing.NewShop(p)
	require.NoError(t, err)
	pending := make([]int, len(s.Classes))
	for c := range pending {
		pending[c] = len(s.Classes[c].Pods)
	}
	up := newEstimator(s).estimate(&s.Options[0], pending)
	require.NotNil(t, up)
	// In order of share: (1,12), (3,1), (2,1), then both (1,1). The 3 fits beside the
	// 12 GiB; the 2 opens a second node, which takes the ones.
	assert.Len(t, up.bins, 2)
	assert.Len(t, up.bins[0].Loads, 2)
	assert.Len(t, up.bins[1].Loads, 2)
	assert.InDelta(t, 0.0+(32.0-16.0)/32.0, up.waste, 1e-9, "all of 8 cores used, half of 32 GiB")
	assert.InDelta(t, (0.2+coreWorth/2)/(8*coreWorth+16*gibWorth+coreWorth/2), up.rate, 1e-9)

	for c := range pending {
		pending[c] = 0
	}
	assert.Nil(t, newEstimator(s).estimate(&s.Options[0], pending))
}

// Devices are worth something to the price expander, so that pods that need them are
// not taken for cheap ones.
func TestDevicesHaveWorth(t *testing.T) {
	gpu := st.Type("gpu", st.Capacity(st.Cores(8), st.GiB(32), st.Count("nvidia.com/gpu", 1), st.DiskGiB(20)), st.OnDemand("z", st.Cents(90)))
	s, err := packing.NewShop(problem([]*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1), st.Count("nvidia.com/gpu", 1), st.DiskGiB(1)))}, gpu))
	require.NoError(t, err)
	e := newEstimator(s)
	assert.Equal(t, []corev1.ResourceName{"cpu", "ephemeral-storage", "nvidia.com/gpu", "pods"}, s.Resources)
	assert.Equal(t, []float64{coreWorth / 1000, 0, deviceWorth, 0}, e.worth)
	assert.Equal(t, -1, e.memory)
	assert.Zero(t, e.share(e.memory, s.Classes[0].Requests, s.Options[0].Room))
}

func TestUnsupported(t *testing.T) {
	p := problem(nil)
	p.NodePools[0] = st.NodePool("p", st.Weight(1))
	_, err := Peer{}.Load(p)
	assert.ErrorContains(t, err, "weights are not modelled")
}
