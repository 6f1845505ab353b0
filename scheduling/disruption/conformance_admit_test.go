package disruption

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// option is a way to buy: a type, a zone, a capacity type and a price.
func option(instanceType, zone string, by offerings.CapacityType, price string) scheduling.LaunchOption {
	return scheduling.LaunchOption{InstanceType: instanceType, Zone: zone, CapacityType: by, Price: offerings.MustPrice(price)}
}

// bought is a launch with options, the first of which counts.
func bought(options ...scheduling.LaunchOption) scheduling.Launch {
	return scheduling.Launch{Name: "default-1", NodePool: "default", Options: options, Price: options[0].Price}
}

func kept(l *scheduling.Launch) []string {
	var out []string
	for i := range l.Options {
		out = append(out, l.Options[i].InstanceType+"/"+l.Options[i].Zone+"/"+string(l.Options[i].CapacityType))
	}
	return out
}

// admitWorld has nodes od-1 and od-2 (0.1 each), spot-1 and spot-2 (0.03), and big (spot, 0.08).
func admitWorld(t *testing.T, p Planner) *state {
	t.Helper()
	c := world(t, pool(), []*corev1.Node{
		machine(t, "od-1", "m.large", od), machine(t, "od-2", "m.large", od),
		machine(t, "spot-1", "m.large", offerings.Spot), machine(t, "spot-2", "m.large", offerings.Spot), machine(t, "big", "m.xlarge", offerings.Spot),
	})
	p.Now = noon()
	return newState(p, &c)
}

func TestAdmit(t *testing.T) {
	small, smallB := option("m.small", "a", od, "0.05"), option("m.small", "b", od, "0.055")
	smallSpot, largeSpot, large := option("m.small", "a", offerings.Spot, "0.02"), option("m.large", "a", offerings.Spot, "0.03"), option("m.large", "a", od, "0.1")
	reserved := scheduling.LaunchOption{InstanceType: "m.large", Zone: "a", CapacityType: offerings.Reserved, Price: offerings.MustPrice("0.001"), ReservationID: "cr-1"}
	for name, tc := range map[string]struct {
		planner  Planner
		nodes    []string
		launches []scheduling.Launch
		cause    CauseCode
		saving   string
		kept     []string // of the first launch
	}{
		"D3 nodes alone are deleted":                        {nodes: []string{"od-1"}, saving: "0.1"},
		"D3 with launches they are replaced":                {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, saving: "0.05", kept: []string{"m.small/a/on-demand"}},
		"D21 D70 saved is what goes less what is bought":    {nodes: []string{"od-1", "od-2"}, launches: []scheduling.Launch{bought(small), bought(smallB)}, saving: "0.095", kept: []string{"m.small/a/on-demand"}},
		"D52 one node may become two":                       {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(smallSpot), bought(largeSpot)}, saving: "0.05", kept: []string{"m.small/a/spot"}},
		"D53 at the same price nothing is won":              {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(large)}, cause: CauseNoSaving},
		"D53 options that cost as much are left out":        {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small, smallB, large)}, saving: "0.05", kept: []string{"m.small/a/on-demand", "m.small/b/on-demand"}},
		"D54 on-demand may stay beside spot if it is cheap": {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(smallSpot, small, large)}, saving: "0.08", kept: []string{"m.small/a/spot", "m.small/a/on-demand"}},
		"D55 each option is judged by its own zone":         {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small, option("m.large", "b", od, "0.11"))}, saving: "0.05", kept: []string{"m.small/a/on-demand"}},
		"D56 on-demand becomes reserved":                    {nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(reserved)}, saving: "0.099", kept: []string{"m.large/a/reserved"}},
		"D56 so does spot":                                  {nodes: []string{"spot-1"}, launches: []scheduling.Launch{bought(reserved)}, saving: "0.029", kept: []string{"m.large/a/reserved"}},
		"D58 spot for spot needs choice by default":         {nodes: []string{"spot-1"}, launches: []scheduling.Launch{bought(smallSpot)}, cause: CauseFewSpotTypes},
		"D58 spot for spot may be forbidden":                {planner: Planner{SpotToSpotTypes: -1}, nodes: []string{"spot-1", "spot-2"}, launches: []scheduling.Launch{bought(smallSpot)}, cause: CauseFewSpotTypes},
		"D59 as many cheaper types as are asked for":        {planner: Planner{SpotToSpotTypes: 1}, nodes: []string{"spot-1"}, launches: []scheduling.Launch{bought(smallSpot)}, saving: "0.01", kept: []string{"m.small/a/spot"}},
		"D59 one too few":                                   {planner: Planner{SpotToSpotTypes: 3}, nodes: []string{"big"}, launches: []scheduling.Launch{bought(smallSpot, largeSpot)}, cause: CauseFewSpotTypes},
		"D59 types that are not cheaper do not count":       {planner: Planner{SpotToSpotTypes: 3}, nodes: []string{"big"}, launches: []scheduling.Launch{bought(smallSpot, largeSpot, option("m.xlarge", "b", offerings.Spot, "0.09"))}, cause: CauseFewSpotTypes},
		"D60 the launch is cut to the cheapest types":       {planner: Planner{SpotToSpotTypes: 1}, nodes: []string{"big"}, launches: []scheduling.Launch{bought(smallSpot, largeSpot)}, saving: "0.06", kept: []string{"m.small/a/spot"}},
		"D60 all zones of a type stay":                      {planner: Planner{SpotToSpotTypes: 1}, nodes: []string{"big"}, launches: []scheduling.Launch{bought(smallSpot, largeSpot, option("m.small", "b", offerings.Spot, "0.04"))}, saving: "0.06", kept: []string{"m.small/a/spot", "m.small/b/spot"}},
		"D58 only spot replaces spot":                       {planner: Planner{SpotToSpotTypes: 1}, nodes: []string{"big"}, launches: []scheduling.Launch{bought(smallSpot, small)}, saving: "0.06", kept: []string{"m.small/a/spot"}},
		"D61 several become one without a choice":           {nodes: []string{"spot-1", "spot-2"}, launches: []scheduling.Launch{bought(largeSpot, smallSpot)}, saving: "0.03", kept: []string{"m.large/a/spot", "m.small/a/spot"}},
		"D62 with on-demand among them choice is not asked": {nodes: []string{"spot-1", "od-1"}, launches: []scheduling.Launch{bought(smallSpot)}, saving: "0.11", kept: []string{"m.small/a/spot"}},
		"D61 two for two need it, as one for one does":      {nodes: []string{"spot-1", "spot-2"}, launches: []scheduling.Launch{bought(smallSpot), bought(smallSpot)}, cause: CauseFewSpotTypes},
		"D62 nor is it evaded by what goes beside":          {nodes: []string{"spot-1", "od-1"}, launches: []scheduling.Launch{bought(small), bought(smallSpot)}, cause: CauseFewSpotTypes},
		"D57 spot becomes on-demand without a choice":       {nodes: []string{"big"}, launches: []scheduling.Launch{bought(small)}, saving: "0.03", kept: []string{"m.small/a/on-demand"}},
		"a saving per hour that is asked for":               {planner: Planner{MinSaving: Saving{PerHour: offerings.MustPrice("0.05")}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small, smallB)}, saving: "0.05", kept: []string{"m.small/a/on-demand"}},
		"and one that is not reached":                       {planner: Planner{MinSaving: Saving{PerHour: offerings.MustPrice("0.051")}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, cause: CauseSmallSaving},
		"a saving per month":                                {planner: Planner{MinSaving: Saving{PerMonth: offerings.MustPrice("36.5")}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, saving: "0.05", kept: []string{"m.small/a/on-demand"}},
		"a saving per month that is not reached":            {planner: Planner{MinSaving: Saving{PerMonth: offerings.MustPrice("36.500000001")}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, cause: CauseSmallSaving},
		"half of the price":                                 {planner: Planner{MinSaving: Saving{Share: 0.5}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, saving: "0.05", kept: []string{"m.small/a/on-demand"}},
		"more than half of the price":                       {planner: Planner{MinSaving: Saving{Share: 0.51}}, nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(small)}, cause: CauseSmallSaving},
	} {
		t.Run(name, func(t *testing.T) {
			f := admitWorld(t, tc.planner)
			o := &outcome{nodes: tc.nodes, launches: tc.launches}
			var before [][]string
			for i := range tc.launches {
				before = append(before, kept(&tc.launches[i]))
			}
			step, cause := admit(f, Underutilized, o)
			for i := range tc.launches {
				assert.Equal(t, before[i], kept(&o.launches[i]), "the outcome is left as it is")
			}
			if tc.cause != "" {
				require.NotNil(t, cause)
				assert.Equal(t, tc.cause, cause.Code)
				assert.Nil(t, step)
				return
			}
			require.Nil(t, cause)
			assert.Equal(t, offerings.MustPrice(tc.saving), step.SavingPerHour)
			assert.Equal(t, slices.Sorted(slices.Values(tc.nodes)), step.Drain)
			assert.Equal(t, []PoolUse{{NodePool: "default", Nodes: len(tc.nodes), Allowed: 5}}, step.NodePools)
			if tc.kept != nil {
				assert.Equal(t, tc.kept, kept(&step.Launches[0]))
			}
			var worst, price offerings.Price
			for i := range step.Launches {
				dearest := step.Launches[i].Price
				for _, x := range step.Launches[i].Options {
					dearest = max(dearest, x.Price)
				}
				worst += dearest
			}
			for _, name := range tc.nodes {
				price += f.byName[name].price
			}
			assert.Less(t, worst, price, "whichever options are bought, it pays")
		})
	}
}

// D50, D53, D60: minValues hold for what is bought to save, and are not relaxed for it.
func TestAdmitMinValues(t *testing.T) {
	types := func(n int) []requirements.Selector {
		return []requirements.Selector{{Key: corev1.LabelInstanceTypeStable, Operator: requirements.Exists, MinValues: &n}}
	}
	smallSpot, largeSpot, large := option("m.small", "a", offerings.Spot, "0.02"), option("m.large", "a", offerings.Spot, "0.03"), option("m.large", "a", od, "0.1")
	launch := func(n int, options ...scheduling.LaunchOption) *outcome {
		l := bought(options...)
		l.Requirements = types(n)
		return &outcome{nodes: []string{"od-1"}, launches: []scheduling.Launch{l}}
	}
	f := admitWorld(t, Planner{})
	step, cause := admit(f, Underutilized, launch(2, smallSpot, largeSpot, large))
	require.Nil(t, cause)
	assert.Len(t, step.Launches[0].Options, 2)
	_, cause = admit(f, Underutilized, launch(2, smallSpot, large))
	require.NotNil(t, cause, "D53: cheaper types alone are too few")
	assert.Equal(t, CauseMinValues, cause.Code)
	relaxed := launch(1, smallSpot)
	relaxed.launches[0].MinValuesRelaxed = true
	_, cause = admit(f, Underutilized, relaxed)
	require.NotNil(t, cause, "D50")
	assert.Equal(t, CauseMinValues, cause.Code)

	// D60: as many types as minValues ask for, where that is more.
	f = admitWorld(t, Planner{SpotToSpotTypes: 1})
	o := launch(2, smallSpot, largeSpot)
	o.nodes = []string{"big"}
	step, cause = admit(f, Underutilized, o)
	require.Nil(t, cause)
	assert.Equal(t, []string{"m.small/a/spot", "m.large/a/spot"}, kept(&step.Launches[0]))
}

// D46, D90: a pod that has no place keeps its node, unless the machine is taken away.
func TestAdmitStuckPods(t *testing.T) {
	f := admitWorld(t, Planner{})
	o := &outcome{nodes: []string{"od-1"}, unschedulable: []scheduling.Unschedulable{{Pod: "shop/web", Message: "too large"}, {Pod: "shop/api"}}}
	for _, reason := range []Reason{Expired, Drifted, Underutilized} {
		_, cause := admit(f, reason, o)
		require.NotNil(t, cause)
		assert.Equal(t, Cause{Code: CauseNoPlace, Object: "pod/shop/web", Detail: "too large (and 1 more pod)"}, *cause)
	}
	step, cause := admit(f, Interrupted, o)
	require.Nil(t, cause)
	assert.Equal(t, []string{"od-1"}, step.Drain)
}

// D38: budgets bound the nodes of each pool in a step.
func TestAdmitKeepsToBudgets(t *testing.T) {
	f := admitWorld(t, Planner{})
	f.pools["default"].budgets = []scheduling.Budget{{Nodes: "1"}}
	_, cause := admit(f, Underutilized, &outcome{nodes: []string{"od-1", "od-2"}})
	require.NotNil(t, cause)
	assert.Equal(t, CausePoolBudget, cause.Code)
	assert.Equal(t, "nodepool/default", cause.Object)
	step, cause := admit(f, Underutilized, &outcome{nodes: []string{"od-1"}})
	require.Nil(t, cause)
	assert.Equal(t, []PoolUse{{NodePool: "default", Nodes: 1, Allowed: 1}}, step.NodePools)
	_, cause = admit(f, Expired, &outcome{nodes: []string{"od-1", "od-2"}})
	assert.Nil(t, cause, "D92")
}

// D82: a move in a Balanced pool is judged whatever nodes it takes.
func TestAdmitBalanced(t *testing.T) {
	f := admitWorld(t, Planner{})
	p := f.pools["default"]
	p.sums.Balanced = true
	// The pool costs 0.34 for 5 nodes; od-1 is 20 % of the disruption.
	step, cause := admit(f, Underutilized, &outcome{nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(option("m.small", "a", od, "0.05"))}})
	require.Nil(t, cause)
	assert.InDelta(t, (0.05/0.34)/(1.0/5), step.Score, 1e-9)
	_, cause = admit(f, Underutilized, &outcome{nodes: []string{"od-1"}, launches: []scheduling.Launch{bought(option("m.small", "a", od, "0.07"))}})
	require.NotNil(t, cause)
	assert.Equal(t, CauseScore, cause.Code)
	_, cause = admit(f, Underutilized, &outcome{nodes: []string{"od-1", "od-2"}, launches: []scheduling.Launch{bought(option("m.small", "a", od, "0.14"))}})
	require.NotNil(t, cause)
	assert.Equal(t, CauseScore, cause.Code)
}
