package disruption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/wave"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// admit makes a step of an outcome, or returns the cause against it. Outcome and state stay as they are.
func admit(f *state, reason Reason, o *outcome) (*Step, *Cause) {
	m := moveOf(f, o.nodes)
	if cause := noPlaceCause(reason, o); cause != nil {
		return nil, cause
	}
	forced := reason == Interrupted || reason == Expired
	if !forced {
		for _, x := range m.Pools {
			if cause := f.poolBudgetCause(f.pools[x.Pool.Name], reason, x.Nodes); cause != nil {
				return nil, cause
			}
		}
	}
	launches := slices.Clone(o.launches)
	if reason == Underutilized {
		if cause := savingCause(f, o, m, launches); cause != nil {
			return nil, cause
		}
	}
	for i := range launches {
		if cause := spotChoiceCause(f, &launches[i]); cause != nil {
			return nil, cause
		}
	}
	step := &Step{
		Reason: reason, Drain: slices.Sorted(slices.Values(o.nodes)), Launches: append([]scheduling.Launch{}, launches...), Evictions: evictionsOf(o.moves),
		SavingPerHour: m.Price - f.prices().Launches(launches), DisruptionCost: m.Cost,
	}
	step.Score, _ = scoreOf(f, m, step.SavingPerHour)
	if f.searching {
		return step, nil
	}
	uses, ok := assignWaves(f, step, o.early)
	switch {
	case !ok && f.outOfTime():
		return nil, &Cause{Code: CauseDeadline, Detail: "the deadline passed before an eviction order was found"}
	case !ok:
		return nil, noOrderCause(uses)
	}
	step.PodDisruptionBudgets = uses
	if !forced {
		for _, x := range m.Pools {
			pool := f.pools[x.Pool.Name]
			step.NodePools = append(step.NodePools, PoolUse{NodePool: x.Pool.Name, Nodes: x.Nodes, Allowed: min(f.poolAllowance(pool, reason), pool.nodes)})
		}
	}
	return step, nil
}

// noPlaceCause is the cause if a pod of an outcome has no node; nil if all have one, and for interruption, where the
// machine is lost anyway.
func noPlaceCause(reason Reason, o *outcome) *Cause {
	if len(o.unschedulable) == 0 || reason == Interrupted {
		return nil
	}
	first := &o.unschedulable[0]
	cause := withPodCount(Cause{Code: CauseNoPlace, Object: "pod/" + first.Pod, Detail: first.Message}, len(o.unschedulable))
	if cause.Detail == "" {
		cause.Detail = "the pod fits on no other node"
	}
	return &cause
}

// noOrderCause is the cause if pods that a PodDisruptionBudget lets go only one after the other must leave together.
func noOrderCause(uses []BudgetUse) *Cause {
	cause := &Cause{Code: CauseBudget, Detail: "its pods may only be evicted one after the other, and the remaining pods block the scheduling of the evicted ones"}
	if len(uses) > 0 {
		cause.Object = "poddisruptionbudget/" + uses[0].Budget
	}
	return cause
}

// savingCause is the cause if a move saves too little; nil if it saves enough. Then launches keep only the options
// with each of which it saves enough, because the provider chooses among them.
func savingCause(f *state, o *outcome, m *pricing.Move, launches []scheduling.Launch) *Cause {
	if m.Unpriced {
		return &Cause{Code: CauseUnknownPrice, Detail: "the price of a node is not known"}
	}
	saving := m.Price - f.prices().Launches(launches)
	asked := f.rules.leastSaving(m.Price)
	switch {
	case saving <= 0:
		return &Cause{Code: CauseNoSaving, Detail: fmt.Sprintf("costs %s, and the cheapest replacement found costs %s", perHour(m.Price), perHour(f.prices().Launches(launches)))}
	case saving < asked:
		return &Cause{Code: CauseSmallSaving, Detail: fmt.Sprintf("saves %s, below the minimum of %s", perHour(saving), perHour(asked))}
	}
	if cause := scoreCause(f, m, saving); cause != nil {
		return cause
	}
	if len(launches) == 0 {
		return nil
	}
	slack := (saving - asked) / offerings.Price(len(launches))
	// A step with as many launches as removed nodes, and spot among both, replaces spot by spot, even if it exchanges
	// other nodes as well.
	fewer := len(launches) < len(o.nodes)
	spot := spotAmong(f, o.nodes)
	for i := range launches {
		l := &launches[i]
		most := offerings.Sum(f.prices().Launch(l), slack)
		l.Options = pricing.KeepOptions(l.Options, func(x *scheduling.LaunchOption) bool { return f.prices().Option(l, x) <= most })
		if replaced := spot == len(o.nodes) || spot > 0 && !fewer; replaced && l.Options[0].CapacityType == offerings.Spot {
			if cause := spotToSpot(f, l, fewer); cause != nil {
				return cause
			}
		}
		if cause := minValuesCause(f, l); cause != nil {
			return cause
		}
	}
	return nil
}

// perHour formats a price.
func perHour(p offerings.Price) string { return fmt.Sprintf("$%.4f per hour", p.USD()) }

// spotAmong counts the spot machines among nodes.
func spotAmong(f *state, nodes []string) int {
	return lo.CountBy(nodes, func(name string) bool {
		s := f.byName[name]
		return s != nil && s.node != nil && instancetypes.OfferingOf(s.node).CapacityType == offerings.Spot
	})
}

// defaultSpotTypes is the default of [Planner.SpotToSpotTypes].
const defaultSpotTypes = 15

// spotToSpot restricts a launch that replaces spot machines to spot, or returns the cause against it. If the number
// of nodes does not fall, there must be enough cheaper types, and only the cheapest of them are kept, so that the
// replacement is not replaced in turn by a still cheaper one, whichever of them the provider picks. If the number of
// nodes falls, a chain of replacements ends by itself.
func spotToSpot(f *state, l *scheduling.Launch, fewer bool) *Cause {
	want := cmp.Or(f.planner.SpotToSpotTypes, defaultSpotTypes)
	if want < 0 {
		return &Cause{Code: CauseFewSpotTypes, Detail: "spot is not to be replaced by spot"}
	}
	l.Options = pricing.KeepOptions(l.Options, func(x *scheduling.LaunchOption) bool { return x.CapacityType == offerings.Spot })
	if fewer {
		return nil
	}
	types := pricing.CheapestTypes(l.Options)
	if len(types) < want {
		return &Cause{Code: CauseFewSpotTypes, Detail: fmt.Sprintf("%d cheaper spot types remain, and spot is only replaced by spot with at least %d", len(types), want)}
	}
	all := l.Options
	for ; ; want++ {
		kept := types[:min(want, len(types))]
		l.Options = pricing.KeepOptions(all, func(x *scheduling.LaunchOption) bool { return slices.Contains(kept, x.InstanceType) })
		if want >= len(types) || minValuesCause(f, l) == nil {
			return nil
		}
	}
}

// spotChoiceCause is the cause if the options of a launch no longer have the flexibility of spot that the policy asks
// for; nil if they have. A launch whose first option is not spot loses its spot options instead.
func spotChoiceCause(f *state, l *scheduling.Launch) *Cause {
	asked := f.planner.Policy.Flexibility
	if !offers.On(asked) || offers.Choice(asked, l.Options) {
		return nil
	}
	if l.Options[0].CapacityType == offerings.Spot {
		return &Cause{Code: CauseFewSpotTypes, Detail: fmt.Sprintf("the replacement would leave too few spot options (%s required)", asked)}
	}
	l.Options = pricing.KeepOptions(l.Options, func(x *scheduling.LaunchOption) bool { return x.CapacityType != offerings.Spot })
	if l.MinValuesRelaxed {
		return nil
	}
	return minValuesCause(f, l)
}

// minValuesCause is the cause if the options of a launch do not meet minValues of its pool; nil if they do. A launch
// for which minValues was relaxed is not accepted, because a saving is no reason to relax it.
func minValuesCause(f *state, l *scheduling.Launch) *Cause {
	if l.MinValuesRelaxed {
		return &Cause{Code: CauseMinValues, Object: "nodepool/" + l.NodePool, Detail: "the replacement would violate the NodePool's minValues"}
	}
	if r, n := f.stock.TooFewValues(l); r != nil {
		return &Cause{
			Code: CauseMinValues, Object: "nodepool/" + l.NodePool,
			Detail: fmt.Sprintf("%d values of %s would remain, and minValues requires %d", n, r.Key, *r.MinValues),
		}
	}
	return nil
}

// assignWaves divides the evictions of a step into waves, sorts them by wave, and returns the use of
// PodDisruptionBudgets. It reports false if there is no order in which the pods may leave. The pods in early leave first.
func assignWaves(f *state, step *Step, early map[string]bool) ([]BudgetUse, bool) {
	s := wave.Step{Moves: movesOf(step.Evictions), Early: early, AtOnce: step.Reason == Interrupted, Unordered: step.Reason == Expired}
	uses, ok := wavesOf(f).Assign(&s, func() *landing.Trial { return f.landing.Try(landingStep(step), f.offered) })
	step.Evictions = evictionsOf(s.Moves)
	return budgetUses(uses), ok
}

// allScheduled reports whether all pods of an outcome can be scheduled where they are expected.
func allScheduled(f *state, o *outcome) bool {
	if !slices.ContainsFunc(o.moves, func(m landing.Move) bool { return f.landing.Follows(m.Pod) }) {
		return true
	}
	s := f.landing.Try(&landing.Step{Launches: o.launches, Moves: o.moves, Drain: o.nodes}, f.offered)
	return s.Possible(lo.Map(o.moves, func(m landing.Move, _ int) *landing.Pod { return s.Pods[m.Pod] }), true)
}
