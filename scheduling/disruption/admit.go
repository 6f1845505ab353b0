package disruption

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// hoursPerMonth is what [Saving.PerMonth] is divided by.
const hoursPerMonth = 730

// admit turns what would become of nodes into a step, or says why that must not be. It
// only reads, and leaves the outcome as it is.
func (f *state) admit(reason Reason, o *outcome) (*Step, *Cause) {
	m := f.moveOf(o.nodes)
	if cause := noPlaceCause(reason, o); cause != nil {
		return nil, cause
	}
	forced := reason == Interrupted || reason == Expired
	if !forced {
		for _, x := range m.pools {
			if cause := f.poolBudgetCause(x.pool, reason, x.nodes); cause != nil {
				return nil, cause
			}
		}
	}
	launches := slices.Clone(o.launches)
	if reason == Underutilized {
		if cause := f.savingCause(o, m, launches); cause != nil {
			return nil, cause
		}
	}
	for i := range launches {
		if cause := f.spotChoiceCause(&launches[i]); cause != nil {
			return nil, cause
		}
	}
	step := &Step{
		Reason: reason, Drain: slices.Sorted(slices.Values(o.nodes)), Launches: append([]scheduling.Launch{}, launches...), Evictions: append([]Eviction{}, o.evictions...),
		SavingPerHour: m.price - f.launchesPrice(launches), DisruptionCost: m.cost,
	}
	score, _ := f.score(m, step.SavingPerHour)
	step.Score = finite(score)
	if f.searching {
		return step, nil
	}
	uses, ok := f.assignWaves(step, o.early)
	switch {
	case !ok && f.outOfTime():
		return nil, &Cause{Code: CauseDeadline, Detail: "the deadline passed before an order was found in which its pods may leave"}
	case !ok:
		return nil, noOrderCause(uses)
	}
	step.PodDisruptionBudgets = uses
	if !forced {
		for _, x := range m.pools {
			step.NodePools = append(step.NodePools, PoolUse{NodePool: x.pool.pool.Name, Nodes: x.nodes, Allowed: min(f.poolAllowance(x.pool, reason), x.pool.nodes)})
		}
	}
	return step, nil
}

// stuck says that a pod has nowhere to go. That holds nothing back where the machine is
// taken away anyway.
func noPlaceCause(reason Reason, o *outcome) *Cause {
	if len(o.unschedulable) == 0 || reason == Interrupted {
		return nil
	}
	first := &o.unschedulable[0]
	cause := withPodCount(Cause{Code: CauseNoPlace, Object: "pod/" + first.Pod, Detail: first.Message}, len(o.unschedulable))
	if cause.Detail == "" {
		cause.Detail = "the pod has nowhere else to go"
	}
	return &cause
}

// outOfTurn says that pods would have to leave together that budgets keep apart.
func noOrderCause(uses []BudgetUse) *Cause {
	cause := &Cause{Code: CauseBudget, Detail: "its pods may only leave one after the other, and where they may land depends on those that have not left"}
	if len(uses) > 0 {
		cause.Object = "poddisruptionbudget/" + uses[0].Budget
	}
	return cause
}

// worthwhile says why a move does not pay, or trims its launches to the options by which
// it pays whichever of them is bought.
func (f *state) savingCause(o *outcome, m *move, launches []scheduling.Launch) *Cause {
	if m.unpriced {
		return &Cause{Code: CauseUnknownPrice, Detail: "the price of some node is not known"}
	}
	saving := m.price - f.launchesPrice(launches)
	asked := f.leastSaving(m.price)
	switch {
	case saving <= 0:
		return &Cause{Code: CauseNoSaving, Detail: fmt.Sprintf("costs %s, and the cheapest replacement that was found costs %s", perHour(m.price), perHour(f.launchesPrice(launches)))}
	case saving < asked:
		return &Cause{Code: CauseSmallSaving, Detail: fmt.Sprintf("saves %s, and has to save %s", perHour(saving), perHour(asked))}
	}
	if cause := f.scoreCause(m, saving); cause != nil {
		return cause
	}
	if len(launches) == 0 {
		return nil
	}
	slack := (saving - asked) / offerings.Price(len(launches))
	// As many machines as go, and spot among both, are spot that is replaced by spot, whatever
	// else is exchanged in the same step.
	fewer := len(launches) < len(o.nodes)
	spot := f.spotAmong(o.nodes)
	for i := range launches {
		l := &launches[i]
		most := addPrices(f.launchPrice(l), slack)
		l.Options = keepOptions(l.Options, func(x *scheduling.Option) bool { return f.optionPrice(l, x) <= most })
		if replaced := spot == len(o.nodes) || spot > 0 && !fewer; replaced && l.Options[0].CapacityType == offerings.Spot {
			if cause := f.spotToSpot(l, fewer); cause != nil {
				return cause
			}
		}
		if cause := f.minValuesCause(l); cause != nil {
			return cause
		}
	}
	return nil
}

// perHour writes a price for people.
func perHour(p offerings.Price) string { return fmt.Sprintf("$%.4f per hour", p.USD()) }

// asked is the least saving of a move of nodes at that price: more than nothing, and all
// that the planner asks for.
func (f *state) leastSaving(price offerings.Price) offerings.Price {
	least := max(1, f.planner.MinSaving.PerHour)
	if month := f.planner.MinSaving.PerMonth; month > 0 {
		least = max(least, (month-1)/hoursPerMonth+1)
	}
	if share := f.planner.MinSaving.Share; share > 0 {
		least = max(least, offerings.Price(math.Ceil(share*float64(price)*(1-1e-12))))
	}
	return least
}

// spotAmong is how many of the nodes are spot machines.
func (f *state) spotAmong(nodes []string) int {
	return lo.CountBy(nodes, func(name string) bool {
		s := f.byName[name]
		return s != nil && s.node != nil && instancetypes.OfferingOf(s.node).CapacityType == offerings.Spot
	})
}

// keepOptions returns the options that pass, in a list of its own. The first one passes.
func keepOptions(options []scheduling.Option, pass func(*scheduling.Option) bool) []scheduling.Option {
	return lo.Filter(options, func(x scheduling.Option, i int) bool { return i == 0 || pass(&x) })
}

// defaultSpotTypes is how many cheaper types spot needs to replace spot.
const defaultSpotTypes = 15

// spotToSpot restricts a launch that takes the place of spot machines to spot, or says that
// it must not be. Unless nodes become fewer, they are only replaced where many types are
// cheaper, and by one of the cheapest of them, so that the replacement, whichever the
// provider picks, is not in turn replaced soon. Where they become fewer, that ends by itself.
func (f *state) spotToSpot(l *scheduling.Launch, fewer bool) *Cause {
	want := cmp.Or(f.planner.SpotToSpotTypes, defaultSpotTypes)
	if want < 0 {
		return &Cause{Code: CauseSpotChoice, Detail: "spot is not to be replaced by spot"}
	}
	l.Options = keepOptions(l.Options, func(x *scheduling.Option) bool { return x.CapacityType == offerings.Spot })
	if fewer {
		return nil
	}
	types := cheapestTypes(l.Options)
	if len(types) < want {
		return &Cause{Code: CauseSpotChoice, Detail: fmt.Sprintf("%d cheaper types could take its place, and spot is only replaced by spot where there are %d", len(types), want)}
	}
	all := l.Options
	for ; ; want++ {
		kept := types[:min(want, len(types))]
		l.Options = keepOptions(all, func(x *scheduling.Option) bool { return slices.Contains(kept, x.InstanceType) })
		if want >= len(types) || f.minValuesCause(l) == nil {
			return nil
		}
	}
}

// choice says that a launch leaves less choice of spot machines than the policy asks for, now that it has lost
// options; one that need not become a spot machine is left without them instead.
func (f *state) spotChoiceCause(l *scheduling.Launch) *Cause {
	asked := f.planner.Policy.Flexibility
	if !offers.On(asked) || offers.Choice(asked, l.Options) {
		return nil
	}
	if l.Options[0].CapacityType == offerings.Spot {
		return &Cause{Code: CauseSpotChoice, Detail: fmt.Sprintf("the replacement would leave too little choice of spot machines (%s are asked for)", asked)}
	}
	l.Options = keepOptions(l.Options, func(x *scheduling.Option) bool { return x.CapacityType != offerings.Spot })
	if l.MinValuesRelaxed {
		return nil
	}
	return f.minValuesCause(l)
}

// cheapestTypes are the instance types of options, the cheapest first.
func cheapestTypes(options []scheduling.Option) []string {
	sorted := slices.Clone(options)
	slices.SortStableFunc(sorted, func(a, b scheduling.Option) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.InstanceType, b.InstanceType))
	})
	return lo.Uniq(lo.Map(sorted, func(x scheduling.Option, _ int) string { return x.InstanceType }))
}

// flexible says that the options of a launch do not leave as many values open as its
// requirements ask for. What the solver relaxed for pods that wait is not relaxed to save.
func (f *state) minValuesCause(l *scheduling.Launch) *Cause {
	if l.MinValuesRelaxed {
		return &Cause{Code: CauseMinValues, Object: "nodepool/" + l.NodePool, Detail: "the replacement would fall short of the pool's minValues"}
	}
	if r, n := f.stock.TooFewValues(l); r != nil {
		return &Cause{
			Code: CauseMinValues, Object: "nodepool/" + l.NodePool,
			Detail: fmt.Sprintf("%d values of %s would be left open, and minValues asks for %d", n, r.Key, *r.MinValues),
		}
	}
	return nil
}

// labelsOf are the labels that an option brings by its type and offering; nil where the
// catalog does not have it.
func labelsOf(p *scheduling.Problem, l *scheduling.Launch, x *scheduling.Option) map[string]string {
	t, o := lookupOffering(p.CatalogOf(l.NodePool), x.Key())
	if t == nil {
		return nil
	}
	return t.NodeLabels(*o)
}
