package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func TestBadFlexibility(t *testing.T) {
	_, err := provisioning.Planner{Policy: scheduling.Policy{Flexibility: scheduling.Flexibility{Options: -1, Zones: -2}}}.Plan(t.Context(), scheduling.Problem{})
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	require.ErrorContains(t, err, `solver.flexibility.options: is negative: "-1"`)
	require.ErrorContains(t, err, `solver.flexibility.zones: is negative: "-2"`)
}

func TestFlexibilityInWords(t *testing.T) {
	for want, f := range map[string]scheduling.Flexibility{
		"":                       {Options: 1, Zones: 1},
		"15 types":               {Types: 15},
		"20 options, 3 families": {Options: 20, Types: 1, Families: 3},
		"4 options, 3 types, 2 families, 2 zones": {Options: 4, Types: 3, Families: 2, Zones: 2},
	} {
		assert.Equal(t, want, f.String())
	}
}

// held reports whether a launch has the options that a flexibility requires. It counts on its own.
func held(f scheduling.Flexibility, l *scheduling.Launch) bool {
	n, types, families, zones := 0, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range l.Options {
		if o.CapacityType == offerings.Spot {
			n++
			types[o.InstanceType], families[offerings.Family(o.InstanceType)], zones[o.Zone] = true, true, true
		}
	}
	return n == 0 || n >= f.Options && len(types) >= f.Types && len(families) >= f.Families && len(zones) >= f.Zones
}

// With a whole catalog on sale, much choice costs little.
func TestFlexibilityOnEC2(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("a thousand types, three times")
	}
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: ec2.MustCatalog("us-east-1"), Pods: st.Diverse(120, 3),
	}
	fast := scheduling.Policy{Effort: scheduling.EffortFast}
	free, err := provisioning.Planner{Policy: fast}.Plan(t.Context(), p)
	require.NoError(t, err)
	for _, f := range []scheduling.Flexibility{{Types: 15, Families: 3}, {Options: 40, Types: 30, Families: 8}} {
		plan, err := st.Audit(t.Context(), scheduling.Policy{Effort: fast.Effort, Flexibility: f}, p)
		require.NoError(t, err)
		assert.Equal(t, free.Summary.Placed, plan.Summary.Placed)
		for i := range plan.Launches {
			assert.True(t, held(f, &plan.Launches[i]), "%s: %s", f, plan.Launches[i].Name)
		}
		assert.InDelta(t, free.Summary.PricePerHour.USD(), plan.Summary.PricePerHour.USD(), 0.1*free.Summary.PricePerHour.USD())
	}
}

// Plans obey every rule under any flexibility, and only pods that require spot may lose a place by it, limits and
// minValues aside.
func TestFlexibilityOfRandomProblems(t *testing.T) {
	bound, spot := 0, 0
	for seed := range soak.Cases(60) {
		p := st.Random(seed, st.Size{Pods: 25, Types: 16, TopologyTerms: seed%3 == 0})
		f := scheduling.Flexibility{Options: int(seed % 6), Types: int(seed / 2 % 5), Families: int(seed / 5 % 3), Zones: int(seed / 3 % 3)}
		s := scheduling.Policy{Effort: scheduling.EffortFast, Flexibility: f, MaxOptions: int(seed % 4 * 3)}
		if seed%4 == 1 {
			s.MinValues = scheduling.MinValuesBestEffort
		}
		if seed%5 == 2 {
			s.Ranking.Strategy = offerings.Diversified
		}
		plan, err := st.Audit(t.Context(), s, p)
		require.NoError(t, err, "seed %d: %s", seed, f)
		for i := range plan.Launches {
			l := &plan.Launches[i]
			assert.True(t, held(f, l), "seed %d: %s: %s", seed, f, l.Name)
			if l.Options[0].CapacityType == offerings.Spot {
				spot++
			}
		}
		for _, u := range plan.Unschedulable {
			for _, r := range u.Reasons {
				if r.Code == scheduling.ReasonFlexibility {
					bound++
				}
			}
		}
	}
	if !race.Enabled { // else the problems are few
		assert.Positive(t, bound, "pods for which too little choice remains")
		assert.Greater(t, spot, 15)
	}
}
