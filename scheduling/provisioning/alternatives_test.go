package provisioning_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// served returns the alternative that serves a goal.
func served(t *testing.T, list []provisioning.Alternative, goal provisioning.Goal) *provisioning.Alternative {
	t.Helper()
	at := slices.IndexFunc(list, func(a provisioning.Alternative) bool { return slices.Contains(a.Goals, goal) })
	require.GreaterOrEqual(t, at, 0, "nothing serves %s", goal)
	return &list[at]
}

func without(goals []provisioning.Goal, goal provisioning.Goal) []provisioning.Goal {
	return slices.DeleteFunc(goals, func(g provisioning.Goal) bool { return g == goal })
}

// The price of flexibility among spot machines is the difference between two alternatives.
func TestAlternativesTellWhatFlexibilityCosts(t *testing.T) {
	s := scheduling.Policy{Flexibility: scheduling.Flexibility{Options: 2}}
	p := spotShop()
	p.Pods = append(p.Pods, st.Pod("large", st.Requests(st.Cores(16)), st.Select(offerings.CapacityTypeLabel, "spot")))
	list, err := provisioning.Planner{Policy: s}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	free, held := served(t, list, provisioning.GoalNotDiversified), served(t, list, provisioning.GoalCheapest)
	assert.Same(t, &list[0], free, "it places the pod that too few spot machines hold")
	assert.Equal(t, 5, free.Plan.Summary.Placed)
	assert.Equal(t, 4, held.Plan.Summary.Placed)
	assert.Equal(t, "0.72", free.Plan.Summary.PricePerHour.String())
	assert.Equal(t, "0.12", held.Plan.Summary.PricePerHour.String())
	assert.Contains(t, held.Goals, provisioning.GoalDiversified)
	assert.False(t, slices.Contains(free.Goals, provisioning.GoalCheapest))
}

// spotShop has spot machines of several rates, a large machine that is dearer than
// several small ones, and prices on demand.
func spotShop() scheduling.Problem {
	spot := func(zone, price string, rate float64) st.TypeOption {
		return st.Offer(offerings.Offering{Zone: zone, CapacityType: offerings.Spot, Price: offerings.MustPrice(price), InterruptionRate: rate})
	}
	onDemand := func(price string) st.TypeOption {
		return st.Offer(offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice(price)})
	}
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), spot("a", "0.03", 0.25), spot("b", "0.04", 0.05), onDemand("0.10")),
			st.Type("large", st.Capacity(st.Cores(16), st.GiB(64)), spot("a", "0.60", 0.20), onDemand("1.50")),
		),
		Pods: st.Pods(4, "web", st.Requests(st.Cores(2), st.GiB(4))),
	}
}

func TestAlternatives(t *testing.T) {
	p := spotShop()
	list, err := provisioning.Planner{}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	type row struct {
		goals         []provisioning.Goal
		price         string
		nodes         int
		interruptions float64
	}
	var got []row
	for _, a := range list {
		got = append(got, row{a.Goals, a.Plan.Summary.PricePerHour.String(), a.Plan.Summary.Nodes, a.InterruptionsPerMonth})
	}
	assert.Equal(t, []row{
		{[]provisioning.Goal{provisioning.GoalCheapest}, "0.12", 4, 1},
		{[]provisioning.Goal{provisioning.GoalLowInterruption}, "0.16", 4, 0.2},
		{[]provisioning.Goal{provisioning.GoalOnDemand, provisioning.GoalFewestInterruptions, provisioning.GoalDiversified}, "0.4", 4, 0},
		{[]provisioning.Goal{provisioning.GoalFewestNodes}, "0.6", 1, 0.2},
	}, got)
	onDemand := served(t, list, provisioning.GoalOnDemand)
	assert.True(t, onDemand.Policy.NoSpot)
	assert.Equal(t, "0.4", onDemand.Plan.Summary.LowerBoundPerHour.String(), "the bound is about plans without spot")
}

// Where pods ask for spot, the plan without spot leaves them out, and comes last.
func TestAlternativesForPodsThatAskForSpot(t *testing.T) {
	p := spotShop()
	p.Pods = append(p.Pods, st.Pod("batch", st.Requests(st.Cores(1)), st.Select(offerings.CapacityTypeLabel, "spot")))
	list, err := provisioning.Planner{}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	last := list[len(list)-1]
	assert.Equal(t, []provisioning.Goal{provisioning.GoalOnDemand, provisioning.GoalDiversified}, last.Goals)
	require.Len(t, last.Plan.Unschedulable, 1)
	assert.Equal(t, scheduling.ReasonNoSpot, last.Plan.Unschedulable[0].Reasons[0].Code)
	calmest := served(t, list, provisioning.GoalFewestInterruptions)
	assert.Equal(t, 5, calmest.Plan.Summary.Placed)
	assert.InDelta(t, 0.05, calmest.InterruptionsPerMonth, 1e-12, "on demand but for the pod that asks for spot, and that in the calmest zone")
}

// A plan that is best at everything stands once.
func TestOneAlternative(t *testing.T) {
	p := spotShop()
	p.Pods = p.Pods[:1]
	p.NodePools = []*scheduling.NodePool{st.NodePool("default", st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")))}
	list, err := provisioning.Planner{}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, without(provisioning.Goals(), provisioning.GoalNotDiversified), list[0].Goals)
	p.Pods = nil
	list, err = provisioning.Planner{}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Empty(t, list[0].Plan.Launches)
}

func TestUnratedSpotIsNotCalm(t *testing.T) {
	p := spotShop()
	p.Catalog = st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)),
		st.Offer(offerings.Offering{Zone: "a", CapacityType: offerings.Spot, Price: offerings.MustPrice("0.01")}),
		st.Offer(offerings.Offering{Zone: "b", CapacityType: offerings.Spot, Price: offerings.MustPrice("0.05"), InterruptionRate: 0.2})))
	list, err := provisioning.Planner{}.Alternatives(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, 4, served(t, list, provisioning.GoalCheapest).UnratedLaunches)
	calmest := served(t, list, provisioning.GoalFewestInterruptions)
	assert.Equal(t, "0.2", calmest.Plan.Summary.PricePerHour.String())
	assert.Zero(t, calmest.UnratedLaunches)
}

func TestAlternativesOfBadSettings(t *testing.T) {
	_, err := provisioning.Planner{Policy: scheduling.Policy{Effort: -1}}.Alternatives(t.Context(), spotShop())
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	_, err = provisioning.Goal("best").Apply(scheduling.Policy{})
	require.EqualError(t, err, `goal "best": want one of cheapest, fewest-nodes, low-interruption, on-demand, fewest-interruptions, diversified, not-diversified`)
}

func TestAlternativesStopInTime(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: ec2.MustCatalog("us-east-1"), Pods: st.Diverse(300, 1),
	}
	list, err := provisioning.Planner{}.Alternatives(late, p)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, []provisioning.Goal{provisioning.GoalCheapest}, list[0].Goals)
	require.NoError(t, verify.Checker{Policy: list[0].Policy}.Plan(p, list[0].Plan))

	ended, stop := context.WithCancel(t.Context())
	stop()
	_, err = provisioning.Planner{}.Alternatives(ended, p)
	require.ErrorIs(t, err, context.Canceled)
}

// For random problems, every goal is served once, every plan obeys its own settings, no plan is better at a goal than
// the plan that serves it, and the order of the input does not matter.
func TestAlternativesOfRandomProblems(t *testing.T) {
	_, n := soak.Window(10)
	several := 0
	for seed := range soak.Cases(10) {
		p := st.Random(seed, st.Size{Pods: 25, TopologyTerms: seed%2 == 0})
		s := scheduling.Policy{Effort: scheduling.EffortFast}
		list, err := provisioning.Planner{Policy: s}.Alternatives(t.Context(), p)
		require.NoError(t, err, "seed %d", seed)
		times := map[provisioning.Goal]int{}
		for _, a := range list {
			require.NotEmpty(t, a.Goals)
			for _, g := range a.Goals {
				times[g]++
			}
			require.NoError(t, verify.Checker{Policy: a.Policy, SkipRefusals: a.Policy.NoSpot && seed%2 == 0}.Plan(p, a.Plan), "seed %d: %v", seed, a.Goals)
			assert.LessOrEqual(t, a.Plan.Summary.Placed, list[0].Plan.Summary.Placed)
			if a.Plan.Summary.Placed == list[0].Plan.Summary.Placed {
				assert.GreaterOrEqual(t, a.Plan.Summary.Nodes, served(t, list, provisioning.GoalFewestNodes).Plan.Summary.Nodes, "seed %d", seed)
			}
		}
		for _, g := range provisioning.Goals() {
			switch g {
			case provisioning.GoalOnDemand:
				assert.LessOrEqual(t, times[g], 1, "seed %d: %s", seed, g)
			case provisioning.GoalNotDiversified:
				assert.Zero(t, times[g])
			default:
				assert.Equal(t, 1, times[g], "seed %d: %s", seed, g)
			}
		}
		if len(list) > 1 {
			several++
		}
		want, err := json.Marshal(list)
		require.NoError(t, err)
		again, err := provisioning.Planner{Policy: s}.Alternatives(t.Context(), st.Shuffle(p, seed))
		require.NoError(t, err)
		got, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "seed %d", seed)
	}
	assert.Greater(t, several, n/3)
}
