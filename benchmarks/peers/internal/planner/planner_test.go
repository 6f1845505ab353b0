package planner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func problem() scheduling.Problem {
	return scheduling.Problem{
		Pods:      append(st.Pods(3, "a", st.Requests(st.Cores(1), st.GiB(1))), st.Pod("huge", st.Requests(st.Cores(99)))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z2", st.Cents(20)), st.OnDemand("z1", st.Cents(20)))),
	}
}

func TestSolve(t *testing.T) {
	for _, p := range All() {
		r, outcome, err := peer.Measure(t.Context(), p, "test", problem(), peer.Options{})
		require.NoError(t, err)
		assert.Equal(t, []int{4, 3, 1}, []int{r.Pods, r.Placed, r.Nodes})
		assert.Equal(t, st.Cents(20), r.Price)
		assert.Positive(t, r.Bound)
		assert.LessOrEqual(t, r.Bound, r.Price)
		assert.Equal(t, "default m", outcome.Machines[0].NodePool+" "+outcome.Machines[0].InstanceType, p.Name())
	}
}

func TestOwnCatalog(t *testing.T) {
	p := problem()
	p.PoolCatalogs = map[string]*instancetypes.Catalog{"default": st.MustCatalog(st.Type("own", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("z", st.Cents(30))))}
	_, outcome, err := peer.Measure(t.Context(), Peer{Title: "x"}, "test", p, peer.Options{})
	require.NoError(t, err)
	assert.Equal(t, "own", outcome.Machines[0].InstanceType)
}

// A plan that the second opinion rejects does not enter the comparison.
func TestWrongPlansAreErrors(t *testing.T) {
	for name, spoil := range map[string]func(r *run){
		"a pod is lost":  func(r *run) { r.plan.Launches[0].Pods = r.plan.Launches[0].Pods[1:] },
		"another price":  func(r *run) { r.plan.Launches[0].Price-- },
		"a better bound": func(r *run) { r.plan.Summary.LowerBoundPerHour = r.plan.Summary.PricePerHour + 1 },
		"no plan":        func(r *run) { r.plan = nil },
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := All()[1].Load(problem())
			require.NoError(t, err)
			require.NoError(t, loaded.Solve(t.Context()))
			r, ok := loaded.(*run)
			require.True(t, ok)
			spoil(r)
			_, err = loaded.Outcome()
			var report *verify.Report
			assert.ErrorAs(t, err, &report)
		})
	}
}
