package provisioning

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Goal names the quality in which a plan is best; the set is closed, and the names are stable.
type Goal string

// The goals.
const (
	// GoalCheapest is the lowest price, or the lowest expected price where
	// interruptions cost something; Planner.Plan looks for it.
	GoalCheapest Goal = "cheapest"
	// GoalFewestNodes is the smallest number of nodes, then the price.
	GoalFewestNodes Goal = "fewest-nodes"
	// GoalLowInterruption weighs price and interruptions as [offerings.CapacityOptimized] does:
	// it pays for fewer interruptions, but not any price.
	GoalLowInterruption Goal = "low-interruption"
	// GoalOnDemand launches no spot nodes. Pods that ask for spot are left out.
	GoalOnDemand Goal = "on-demand"
	// GoalFewestInterruptions is the smallest number of interruptions, at almost any
	// price: see [offerings.FewestInterruptions].
	GoalFewestInterruptions Goal = "fewest-interruptions"
	// GoalDiversified leaves much choice to launches that may become spot nodes: 15
	// types, as Karpenter's spot-to-spot rule requires, of 3 families, or the choice that
	// [Policy.Flexibility] requires.
	GoalDiversified Goal = "diversified"
	// GoalNotDiversified requires no such choice. The difference to the policy's own plan is the
	// price of Policy.Flexibility.
	GoalNotDiversified Goal = "not-diversified"
)

// Goals returns the goals in the order in which they are documented.
func Goals() []Goal {
	return []Goal{GoalCheapest, GoalFewestNodes, GoalLowInterruption, GoalOnDemand, GoalFewestInterruptions, GoalDiversified, GoalNotDiversified}
}

// Apply returns the settings that look for a plan of the goal: s with the settings that the goal
// decides. An unknown goal is an error that lists the goals.
func (goal Goal) Apply(s scheduling.Policy) (scheduling.Policy, error) {
	switch goal {
	case GoalCheapest:
	case GoalFewestNodes:
		s.FewestNodes = true
	case GoalLowInterruption:
		s.Ranking.Strategy = offerings.CapacityOptimized
	case GoalFewestInterruptions:
		s.Ranking.Strategy = offerings.FewestInterruptions
	case GoalOnDemand:
		s.NoSpot = true
	case GoalDiversified:
		if !offers.On(s.Flexibility) {
			s.Flexibility = offers.FlexibleByDefault()
		}
	case GoalNotDiversified:
		s.Flexibility = scheduling.Flexibility{}
	default:
		return s, fmt.Errorf("goal %q: want one of %s", goal, joined(Goals()))
	}
	return s, nil
}

// Alternative is a whole plan with the goals that it serves best.
type Alternative struct {
	// Goals are the goals that this alternative serves best, in the order of [Goals]; of equal alternatives the first
	// serves a goal.
	Goals []Goal `json:"goals"`
	// InterruptionsPerMonth is how many of the plan's launches are expected to be
	// interrupted in a month: the sum of the rates of their first options.
	InterruptionsPerMonth float64 `json:"interruptionsPerMonth"`
	// UnratedLaunches are spot launches whose offerings state no interruption rate.
	// They are not in InterruptionsPerMonth.
	UnratedLaunches int `json:"unratedLaunches,omitempty"`
	// Plan is complete in itself: its price, bound and nodes are in its summary.
	Plan *scheduling.Plan `json:"plan"`
	// Policy holds the settings under which the plan was made, and under which
	// verify.Checker passes it.
	Policy scheduling.Policy `json:"-"`
}

// Alternatives plans p for every goal and returns the plans that differ: plans that place more pods first, then cheaper
// ones. Every goal is served by one of them, but [GoalNotDiversified] only where [Policy.Flexibility] requires options. The
// plan of [GoalCheapest] is that of [Planner.Plan], unless the search for another goal found a cheaper one. A goal that
// must lead to the plan of another one is not planned, e.g. [GoalLowInterruption] where the cheapest plan launches no spot nodes.
//
// Errors are those of [Planner.Plan]. Once the deadline of ctx has passed no further goal is planned, so that there is
// at least one alternative, and the remaining goals are not served. Without a deadline the same problem and settings
// give the same alternatives.
func (s Planner) Alternatives(ctx context.Context, p scheduling.Problem) ([]Alternative, error) {
	var found []Alternative
	var sought []Goal
	for _, goal := range goals(&s.Policy) {
		if len(found) > 0 {
			if err := cancelled(ctx); err != nil {
				return nil, err
			}
			if late(ctx) {
				break
			}
		}
		sought = append(sought, goal)
		if len(found) > 0 && spares(&s.Policy, goal, found[0].Plan) {
			continue
		}
		solver, err := goal.Apply(s.Policy)
		if err != nil {
			return nil, err
		}
		plan, err := Planner{Policy: solver}.Plan(ctx, p)
		if err != nil {
			return nil, err
		}
		a := Alternative{Plan: plan, Policy: solver}
		a.InterruptionsPerMonth, a.UnratedLaunches = interruptions(plan)
		switch at := slices.IndexFunc(found, func(b Alternative) bool { return samePlan(b.Plan, plan) }); {
		case at < 0 || at == 0 && !serves(&s.Policy, goal, found[at].Plan):
			found = append(found, a)
		case !serves(&s.Policy, goal, found[at].Plan):
			found[at] = a // the same machines, with options that suit both goals
		}
	}
	award(&s.Policy, found, sought, s.HasPreferences(p))
	found = slices.DeleteFunc(found, func(a Alternative) bool { return len(a.Goals) == 0 })
	slices.SortStableFunc(found, func(a, b Alternative) int {
		return cmp.Or(compareBy(&a, &b, objective), cmp.Compare(a.Plan.Summary.Nodes, b.Plan.Summary.Nodes))
	})
	return found, nil
}

// goals returns the goals that can lead to a plan of their own under the settings; the cheapest is first.
func goals(s *scheduling.Policy) []Goal {
	return slices.DeleteFunc(Goals(), func(g Goal) bool { return g == GoalNotDiversified && !offers.On(s.Flexibility) })
}

// spares reports whether the cheapest plan serves a goal as it is.
func spares(s *scheduling.Policy, goal Goal, cheapest *scheduling.Plan) bool {
	switch goal {
	case GoalLowInterruption, GoalFewestInterruptions, GoalOnDemand:
		return spotLaunches(cheapest) == 0
	case GoalFewestNodes:
		return cheapest.Summary.Nodes <= 1
	case GoalDiversified:
		return serves(s, goal, cheapest)
	}
	return false
}

// serves reports whether a plan is one that a goal allows.
func serves(s *scheduling.Policy, goal Goal, plan *scheduling.Plan) bool {
	switch goal {
	case GoalNotDiversified:
		return true
	case GoalDiversified:
		if !offers.On(s.Flexibility) {
			return offers.HoldsFlexibility(offers.FlexibleByDefault(), plan)
		}
	case GoalOnDemand:
		if spotLaunches(plan) > 0 {
			return false
		}
	}
	return offers.HoldsFlexibility(s.Flexibility, plan)
}

// award gives each goal that was sought to the plan that serves it best, the earlier one of equals. Where pods have
// preferences, the plan of [GoalCheapest] is the one that was sought for it: other plans may be cheaper because they
// meet fewer preferences.
func award(s *scheduling.Policy, found []Alternative, sought []Goal, hasPreferences bool) {
	for _, goal := range sought {
		best := -1
		for i := range found {
			if !serves(s, goal, found[i].Plan) || goal == GoalCheapest && hasPreferences && i > 0 {
				continue
			}
			if best < 0 || compareBy(&found[i], &found[best], measures(goal)...) < 0 {
				best = i
			}
		}
		if best >= 0 {
			found[best].Goals = append(found[best].Goals, goal)
		}
	}
}

// measure is something of which a plan had better have little.
type measure func(a *Alternative) int64

// measures returns the measures by which a goal compares plans, in order.
func measures(goal Goal) []measure {
	switch goal {
	case GoalFewestNodes:
		return []measure{func(a *Alternative) int64 { return int64(a.Plan.Summary.Nodes) }, objective}
	case GoalLowInterruption:
		return []measure{ranked(offerings.CapacityOptimized), objective}
	case GoalFewestInterruptions:
		return []measure{ranked(offerings.FewestInterruptions), objective}
	}
	return []measure{objective}
}

// objective is the price that the search minimises.
func objective(a *Alternative) int64 { return int64(offers.Objective(&a.Policy, &a.Plan.Summary)) }

// ranked is the sum of the costs that a strategy expects of the launches.
func ranked(strategy offerings.Strategy) measure {
	r := offerings.Ranking{Strategy: strategy}
	return func(a *Alternative) int64 {
		sum := offerings.Price(0)
		for i := range a.Plan.Launches {
			o := &a.Plan.Launches[i].Options[0]
			sum = offerings.Sum(sum, r.ExpectedPrice(offerings.Candidate{InstanceType: o.InstanceType, Offering: offerings.Offering{
				CapacityType: o.CapacityType, Price: o.Price, InterruptionRate: o.InterruptionRate,
			}}))
		}
		return int64(sum)
	}
}

// compareBy compares plans: by the number of pods without a place, then by the measures.
func compareBy(a, b *Alternative, by ...measure) int {
	if c := cmp.Compare(len(a.Plan.Unschedulable), len(b.Plan.Unschedulable)); c != 0 {
		return c
	}
	for _, m := range by {
		if c := cmp.Compare(m(a), m(b)); c != 0 {
			return c
		}
	}
	return 0
}

// HasPreferences reports whether a pod of the problem has a preference that the policy respects: ScheduleAnyway, or
// preferred affinity. Lower bounds ignore preferences, so that the gap of a plan includes their price.
func (s Planner) HasPreferences(p scheduling.Problem) bool {
	if s.Policy.Preferences == scheduling.PreferencesIgnore {
		return false
	}
	soft := func(list []corev1.TopologySpreadConstraint) bool {
		return slices.ContainsFunc(list, func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.ScheduleAnyway
		})
	}
	if soft(p.DefaultSpread) {
		return true
	}
	return slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool {
		if pod == nil {
			return false
		}
		a := pod.Spec.Affinity
		return soft(pod.Spec.TopologySpreadConstraints) || a != nil &&
			(a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
				a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
				a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0)
	})
}
