package disruption

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

func TestScoreMove(t *testing.T) {
	usd := offerings.MustPrice
	for name, tc := range map[string]struct {
		saving     offerings.Price
		disruption float64
		price      offerings.Price
		total      float64
		want       float64
	}{
		"D76 shares are compared":             {usd("1"), 10, usd("10"), 100, 1},
		"D76 half the share":                  {usd("1"), 20, usd("10"), 100, 0.5},
		"D77 nothing saved":                   {0, 10, usd("10"), 100, 0},
		"D77 less than nothing saved":         {-usd("1"), 10, usd("10"), 100, 0},
		"D77 nothing disrupted":               {usd("1"), 0, usd("10"), 100, math.Inf(1)},
		"D77 nothing disrupted, nothing won":  {0, 0, usd("10"), 100, 0},
		"D77 a pool that costs nothing":       {usd("1"), 10, 0, 100, 0},
		"D77 a pool that nobody would notice": {usd("1"), 10, usd("10"), 0, 0},
		"D78 7.26 for 4 of 58.08 and 90":      {usd("7.26"), 4, usd("58.08"), 90, 2.8125},
		"D78 2.42 for 9 of 58.08 and 90":      {usd("2.42"), 9, usd("58.08"), 90, 5.0 / 12},
		"D81 the only node of a pool":         {usd("3"), 7, usd("3"), 7, 1},
	} {
		t.Run(name, func(t *testing.T) {
			assert.InDelta(t, tc.want, pricing.Score(float64(tc.saving), tc.disruption, tc.price, tc.total), 1e-12)
			if tc.want > 0 && !math.IsInf(tc.want, 1) { // D81: the size of the pool does not matter
				assert.InDelta(t, tc.want, pricing.Score(float64(tc.saving*10), tc.disruption*3, tc.price*10, tc.total*3), 1e-12)
			}
		})
	}
}

// balancedFrame has one pool, default, with so many nodes that cost 0.1 each.
func balancedFrame(t *testing.T, policy scheduling.ConsolidationPolicy, k float64, nodes int) *state {
	t.Helper()
	pool := poolWithBudgets(scheduling.Budget{Nodes: "100%"})
	pool.Spec.Disruption.ConsolidationPolicy = policy
	c := &Cluster{Problem: scheduling.Problem{NodePools: []*scheduling.NodePool{pool}, Catalog: testCatalog(t)}}
	for i := range nodes {
		c.Nodes = append(c.Nodes, testNode(fmt.Sprintf("n%d", i)))
	}
	return newState(Planner{Now: noon(), BalancedK: k}, c)
}

// D78: the worked numbers, against the threshold that k sets.
func TestBalancedThreshold(t *testing.T) {
	for _, tc := range []struct {
		saving     string
		disruption float64
		k          float64
		worth      bool
	}{
		{"7.26", 4, 0, true}, // D76: k is 2 unless set
		{"7.26", 4, 2, true},
		{"7.26", 4, 1, true},
		{"2.42", 9, 0, false},
		{"2.42", 9, 2, false},
		{"2.42", 9, 3, true},
		{"2.42", 9, 1, false},
	} {
		f := balancedFrame(t, scheduling.Balanced, tc.k, 1)
		p := f.pools["default"]
		p.sums.Price, p.sums.Cost = offerings.MustPrice("58.08"), 90
		saving := offerings.MustPrice(tc.saving)
		m := &pricing.Move{Pools: []*pricing.Share{{Pool: &p.sums, Nodes: 1, Price: saving, Cost: tc.disruption}}, Price: saving, Cost: tc.disruption}
		cause := scoreCause(f, m, saving)
		assert.Equal(t, tc.worth, cause == nil, tc)
		if cause != nil {
			assert.Equal(t, CauseScore, cause.Code)
			assert.Equal(t, "nodepool/default", cause.Object)
		}
	}
}

// D75, D96: all nodes of a pool count, what they cost and what removing them counts, and a
// step that is done takes its nodes out.
func TestPoolTotals(t *testing.T) {
	f := balancedFrame(t, scheduling.Balanced, 0, 4)
	p := f.pools["default"]
	assert.Equal(t, offerings.MustPrice("0.4"), p.sums.Price)
	assert.InDelta(t, 4, p.sums.Cost, 0)
	require.NoError(t, f.take(&Step{Drain: []string{"n1"}}))
	assert.Equal(t, offerings.MustPrice("0.3"), p.sums.Price)
	assert.InDelta(t, 3, p.sums.Cost, 0)
	require.NoError(t, f.take(&Step{Launches: []scheduling.Launch{{Name: "default-1", NodePool: "default", Options: []scheduling.LaunchOption{{InstanceType: "m.small", Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.05")}}}}}))
	assert.Equal(t, offerings.MustPrice("0.35"), p.sums.Price)
	assert.Equal(t, 4, p.nodes)
}

// D79: pools that are not Balanced are not scored; all that are have to approve.
// D80: what is saved is split by what each pool's nodes cost.
func TestBalancedAcrossPools(t *testing.T) {
	f := balancedFrame(t, scheduling.Balanced, 0, 1)
	a := f.pools["default"]
	a.sums.Price, a.sums.Cost = 1000, 10
	other := func(policy scheduling.ConsolidationPolicy) *pricing.Pool {
		return &pricing.Pool{Name: "other", Balanced: policy == scheduling.Balanced, Price: 1000, Cost: 10}
	}
	// Of a saving of 100, 75 count for default and 25 for the other pool.
	m := func(b *pricing.Pool, cost float64) *pricing.Move {
		return &pricing.Move{Pools: []*pricing.Share{{Pool: &a.sums, Price: 150, Cost: 1}, {Pool: b, Price: 50, Cost: cost}}, Price: 200, Cost: 1 + cost}
	}
	score, of := scoreOf(f, m(other(scheduling.Balanced), 1), 100)
	assert.InDelta(t, 0.25, score, 1e-9)
	assert.Equal(t, "other", of.Name)
	assert.NotNil(t, scoreCause(f, m(other(scheduling.Balanced), 1), 100))
	assert.Nil(t, scoreCause(f, m(other(scheduling.Balanced), 0.5), 100))

	alone := m(other(scheduling.Balanced), 1)
	alone.Pools, alone.Price = alone.Pools[:1], 300 // another node goes that no pool owns
	score, _ = scoreOf(f, alone, 100)
	assert.InDelta(t, 0.5, score, 1e-9)

	score, of = scoreOf(f, m(other(scheduling.WhenEmptyOrUnderutilized), 1), 100)
	assert.InDelta(t, 0.75, score, 1e-9)
	assert.Equal(t, "default", of.Name)
	assert.Nil(t, scoreCause(f, m(other(scheduling.WhenEmptyOrUnderutilized), 1), 100))
}

// D81: a move of nothing is worth nothing, and so is one in a pool of which nothing is known.
func TestBalancedNothing(t *testing.T) {
	f := balancedFrame(t, scheduling.Balanced, 0, 1)
	p := f.pools["default"]
	p.sums.Price, p.sums.Cost = 0, 0
	assert.NotNil(t, scoreCause(f, moveOf(f, []string{"n0"}), 100))
	score, of := scoreOf(f, moveOf(f, nil), 0)
	assert.Zero(t, score)
	assert.Nil(t, of)
	_, cause := admit(f, Underutilized, &outcome{})
	require.NotNil(t, cause)
	assert.Equal(t, CauseNoSaving, cause.Code)
}
