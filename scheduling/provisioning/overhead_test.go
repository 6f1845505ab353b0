package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestBadNodeOverhead(t *testing.T) {
	_, err := provisioning.Planner{Policy: scheduling.Policy{NodeOverhead: -1}}.Plan(t.Context(), scheduling.Problem{})
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	require.ErrorContains(t, err, "solver.nodeOverhead: is negative")
}

// Two small machines are launched in place of a large one where they are cheaper by more than the overhead of the
// second.
func TestNodeOverhead(t *testing.T) {
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Pods:      st.Pods(2, "p", st.Requests(st.Cores(1))),
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(1), st.GiB(4)), st.OnDemand("a", st.Cents(10))),
			st.Type("large", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(21))),
		),
	}
	for overhead, want := range map[offerings.Price]struct {
		nodes           int
		price, expected offerings.Price
	}{
		0:                  {2, st.Cents(20), 0},
		st.Cents(1) - 1:    {2, st.Cents(20), st.Cents(22) - 2},
		st.Cents(1) + 1:    {1, st.Cents(21), st.Cents(22) + 1},
		offerings.MaxPrice: {1, st.Cents(21), offerings.MaxPrice},
	} {
		plan, err := st.Audit(t.Context(), scheduling.Policy{NodeOverhead: overhead}, p)
		require.NoError(t, err)
		s := &plan.Summary
		assert.Equal(t, want.nodes, s.Nodes, overhead)
		assert.Equal(t, want.price, s.PricePerHour, "what is paid for the machines alone")
		assert.Equal(t, want.expected, s.ExpectedPerHour)
		if overhead < offerings.MaxPrice {
			assert.Equal(t, max(want.price, want.expected), s.LowerBoundPerHour, "the bound is about all of it")
			assert.Equal(t, scheduling.StatusOptimal, s.Status)
		}
	}
}
