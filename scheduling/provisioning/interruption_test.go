package provisioning_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestBadInterruptions(t *testing.T) {
	for want, i := range map[string]scheduling.InterruptionCost{
		`solver.interruption.perNode: is negative: "-0.000000001"`:                                   {PerNode: -1},
		`solver.interruption.perCore: is negative: "-1"`:                                             {PerCore: -1_000_000_000},
		`solver.interruption.unstatedRate: must be a share from 0 to 1: "1.5"`:                       {PerNode: 1, UnstatedRate: 1.5},
		`solver.interruption.unstatedRate: must be a share from 0 to 1: "NaN"`:                       {PerNode: 1, UnstatedRate: math.NaN()},
		`solver.interruption.unstatedRate: counts only where an interruption costs something: "0.1"`: {UnstatedRate: 0.1},
	} {
		_, err := provisioning.Planner{Policy: scheduling.Policy{InterruptionCost: i}}.Plan(t.Context(), scheduling.Problem{})
		require.ErrorIs(t, err, scheduling.ErrInvalid)
		assert.ErrorContains(t, err, want)
	}
}

// One pod gets the offering of the lowest expected price, worked out in floating point.
func TestExpectedPriceOfOneMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	moved := 0
	for range 60 {
		type way struct {
			price, rate float64
			cores       int64
		}
		var ways []way
		var types []st.TypeOption
		for i := range 6 {
			w := way{price: float64(1+r.IntN(2000)) / 1e4, rate: float64(r.IntN(30)) / 100, cores: 4}
			ways = append(ways, w)
			price := offerings.Price(math.Round(w.price * 1e9))
			types = append(types, st.Offer(offerings.Offering{
				Zone: string(rune('a' + i)), CapacityType: offerings.Spot, Price: price, InterruptionRate: w.rate,
			}))
		}
		s := scheduling.Policy{InterruptionCost: scheduling.InterruptionCost{
			PerNode: offerings.Amount(r.Int64N(300) * 1e9), PerCore: offerings.Amount(r.Int64N(50) * 1e9), UnstatedRate: 0.1,
		}}
		if s.InterruptionCost.PerNode+s.InterruptionCost.PerCore == 0 {
			s.InterruptionCost.PerNode = 1e9
		}
		each := float64(s.InterruptionCost.PerNode)/1e9 + 4*float64(s.InterruptionCost.PerCore)/1e9
		best, cheapest := math.Inf(1), math.Inf(1)
		for _, w := range ways {
			rate := w.rate
			if rate == 0 {
				rate = 0.1
			}
			best, cheapest = min(best, w.price+each*rate/730), min(cheapest, w.price)
		}
		p := scheduling.Problem{
			NodePools: []*scheduling.NodePool{st.NodePool("default")}, Pods: st.Pods(1, "p", st.Requests(st.Cores(1))),
			Catalog: st.MustCatalog(st.Type("m", append(types, st.Capacity(st.Cores(4), st.GiB(16)))...)),
		}
		plan, err := st.Audit(t.Context(), s, p)
		require.NoError(t, err)
		assert.InDelta(t, best, plan.Summary.ExpectedPerHour.USD(), 1e-8)
		assert.Equal(t, scheduling.StatusOptimal, plan.Summary.Status, "the bound is about the expected price")
		if plan.Summary.PricePerHour.USD() > cheapest+1e-9 {
			moved++
		}
	}
	assert.Greater(t, moved, 6)
}

// Every promise about plans holds with interruptions that cost something, and a plan
// that knows of them is no dearer, all in all, than one that does not.
func TestInterruptionsOfRandomProblems(t *testing.T) {
	_, n := soak.Window(15)
	moved, dearer := 0, 0
	for seed := range soak.Cases(15) {
		p := st.Random(seed, st.Size{Pods: 30, TopologyTerms: seed%3 == 0})
		s := scheduling.Policy{
			Effort: scheduling.EffortFast,
			InterruptionCost: scheduling.InterruptionCost{
				PerNode: offerings.Amount(seed%5) * 4e9, PerCore: offerings.Amount(1+seed%7) * 5e8, UnstatedRate: float64(seed%4) / 20,
			},
			Ranking: offerings.Ranking{Strategy: offerings.Strategies()[int(seed)%len(offerings.Strategies())]},
		}
		with, err := st.Audit(t.Context(), s, p)
		require.NoError(t, err, "seed %d", seed)
		assert.GreaterOrEqual(t, with.Summary.ExpectedPerHour, with.Summary.PricePerHour)
		if with.Summary.ExpectedPerHour > with.Summary.PricePerHour {
			moved++
		}
		if with.Summary.LowerBoundPerHour > with.Summary.PricePerHour {
			dearer++
		}
	}
	assert.Greater(t, moved, n/4)
	assert.Positive(t, dearer, "bounds that only the expected price can have")
}
