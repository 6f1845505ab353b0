package costs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// After each number of steps the machines come to what the plan says.
func TestMachinesAddUpToThePlan(t *testing.T) {
	for seed := range uint64(4) {
		c := st.Cluster(seed, st.ClusterOptions{Nodes: 12, Spot: true, PDBs: true, DaemonSets: 2, Unmanaged: 1})
		policy := scheduling.Policy{Effort: scheduling.EffortFast, NodeOverhead: 7_200_000}
		if seed%2 == 1 {
			policy.InterruptionCost = scheduling.InterruptionCost{PerNode: 2_000_000_000, UnstatedRate: 0.1}
		}
		plan, err := disruption.Planner{Now: c.Now.Add(time.Hour), Policy: policy}.Plan(t.Context(), c)
		require.NoError(t, err)
		s := &plan.Summary
		machines := costs.Machines(&c, plan, policy)
		steps := len(plan.Steps)
		require.NotZero(t, steps)
		for k := range steps + 1 {
			var price, shared, machine offerings.Price
			nodes, pods := 0, 0
			for _, m := range machines {
				at := m.At(k)
				if at == nil {
					continue
				}
				nodes, pods = nodes+1, pods+len(at.Pods)
				price, machine = price+at.Node.Price, machine+at.Node.Price-at.Node.Beside
				shared += at.Shares.Daemons + at.Shares.System + at.Shares.Beside + at.Shares.Idle
				for _, p := range at.Shares.Pods {
					shared += p
				}
				assert.Positive(t, at.Shares.Daemons)
				assert.LessOrEqual(t, at.Shares.Taken, 1.0)
			}
			assert.Equal(t, price, shared)
			want := s.ExpectedPerHourBefore
			if k > 0 {
				want -= s.Frontier[k-1].SavingPerHour
			}
			assert.Equal(t, want, price, "after %d steps", k)
			switch k {
			case 0:
				assert.Equal(t, s.NodesBefore, nodes)
				assert.Equal(t, s.PricePerHourBefore, machine)
			case steps:
				assert.Equal(t, s.NodesAfter, nodes)
				assert.Equal(t, s.PricePerHourAfter, machine)
				assert.Equal(t, s.ExpectedPerHourAfter, price)
			}
			assert.NotZero(t, pods)
		}
		assert.Len(t, costs.Machines(&c, nil, policy), s.NodesBefore)
	}
}
