package provisioning

import (
	"context"
	"errors"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/search"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/volumes"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/nominated"
)

// Planner plans by a policy. The zero value works.
type Planner struct {
	// Policy has the settings; the zero Policy looks for the lowest price.
	Policy scheduling.Policy
	// Observer gets the progress of Plan; nil for none. The other methods do not use it.
	Observer scheduling.Observer
}

// Plan places the pods of p. An error means a malformed problem or policy (every fault at once, see [Validate]) or a
// cancelled context. A deadline is no error: past it Plan returns the best complete plan found, marked
// [scheduling.StatusDeadline]. Pods that fit nowhere are listed in the plan. The same problem and effort give the same
// plan, whatever the order of its slices and the number of processors.
func (s Planner) Plan(ctx context.Context, p scheduling.Problem) (*scheduling.Plan, error) {
	facts, err := instance.NewFacts(&p, &s.Policy)
	if err != nil {
		return nil, err
	}
	facts.Observer = s.Observer
	plan, err := solve(ctx, facts)
	if err != nil {
		return nil, err
	}
	if err := stateShares(ctx, &p, facts, plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// solve places the pods, nominated ones first, and tries changes that would give a place to pods
// without one.
func solve(ctx context.Context, asked *instance.Facts) (*scheduling.Plan, error) {
	plan, f, err := withNominated(ctx, asked)
	if err != nil {
		return nil, err
	}
	s := &plan.Summary
	now := scheduling.Progress{
		Phase: scheduling.PhaseFixes, Placed: s.Placed, PricePerHour: offers.Objective(f.Solver, s), LowerBoundPerHour: s.LowerBoundPerHour,
	}
	if !f.Terse {
		f.Observer.Tell(now)
	}
	if err = tryFixes(ctx, f, plan); err == nil {
		s.RoomKept, err = roomKept(ctx, asked, plan)
	}
	if now.Phase = scheduling.PhaseDone; !f.Terse && err == nil {
		f.Observer.Tell(now)
	}
	return plan, err
}

// withNominated plans with the nominated pods that their nodes admit on these nodes. Where a pod has no place, and
// would have one without nominated pods of lower priority, these lose their nomination. It also returns the problem in
// which the admitted nominated pods run on their nodes.
func withNominated(ctx context.Context, f *instance.Facts) (*scheduling.Plan, *instance.Facts, error) {
	n := nominated.Read(f)
	for {
		f = n.Facts()
		plan, err := settled(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		more, err := n.GiveWay(plan, func(f *instance.Facts) (*scheduling.Plan, error) { return settled(ctx, f) })
		if err != nil {
			return nil, nil, err
		}
		if more {
			continue
		}
		n.Restore(plan)
		if s := &plan.Summary; n.GaveWay && !f.Terse {
			// The proof was made for the pods that were placed before nominated pods of lower priority lost their
			// place.
			conclude(s, proof{}, offers.Objective(f.Solver, s), s.Status == scheduling.StatusDeadline)
		}
		return plan, f, nil
	}
}

// settled places the pods, and chooses the zones of volumes that pods share or that are not made yet.
func settled(ctx context.Context, f *instance.Facts) (*scheduling.Plan, error) {
	plan, err := place(ctx, f)
	if err != nil {
		return nil, err
	}
	return volumes.Resolve(ctx, f, plan, place)
}

// place places the pods as is chosen about volumes.
func place(ctx context.Context, f *instance.Facts) (*scheduling.Plan, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	plan, bold, err := attempt(ctx, f, false)
	if err != nil || !bold.short && !bold.outbid {
		return plan, err
	}
	careful, _, err := attempt(ctx, f, true)
	if err != nil || bold.short || volumes.CompareLeft(f, careful, plan) < 0 {
		plan = careful
	}
	return plan, err
}

// boldness says how an attempt without caution ended.
type boldness struct {
	short  bool // a launch was left with too few options for its pool's minValues
	outbid bool // more pods would be placed, were it not for such launches
}

// attempt plans once. A cautious attempt excludes launches that would have too few options for their pool's minValues.
func attempt(ctx context.Context, f *instance.Facts, cautious bool) (_ *scheduling.Plan, bold boldness, err error) {
	if !f.Terse {
		f.Observer.Tell(scheduling.Progress{Phase: scheduling.PhaseSearch})
	}
	base := f.Compile(cautious)
	x := searched(ctx, base)
	bold.outbid = x.found.Outbid()
	if err := cancelled(ctx); err != nil {
		return nil, bold, err
	}
	found, proofs := x.found, x.proofs
	plan, ok := search.Decode(found)
	bold.short = !ok
	if !ok && !cautious {
		return nil, bold, nil
	}
	placed := found.Packing.Placed(found.Outcome.Solution)
	if !f.Terse && ok && base.HasTopologyTerms() {
		plan, placed = placeLeftOver(ctx, f, base, plan, placed)
	}
	var realised *scheduling.AfterScheduling
	if !f.Terse && ok && f.Solver.Placement == scheduling.PlacementFree {
		plan, placed, realised = placedFreely(f, base, plan, placed, func() bool { return late(ctx) })
	}
	if !f.Terse && ok && base.HasTopologyTerms() && !late(ctx) && f.Solver.Placement != scheduling.PlacementFree {
		inQueueOrder(base, plan)
	}
	torn := hold(f, plan)
	if f.Terse {
		list(base, plan)
		return plan, bold, nil
	}
	tell(f, scheduling.PhaseProve, found)
	if f.Solver.NoReasons {
		list(base, plan)
	} else {
		explain.Explain(base, plan)
	}
	plan.Warnings = instance.Warnings(base, torn...)
	if f.Solver.Placement == scheduling.PlacementFree && realised == nil {
		why := "too many pods depend on each other"
		if late(ctx) {
			why = "the deadline has passed"
		}
		plan.Warnings = append(plan.Warnings, scheduling.Warning{
			Object: "policy/placement", Message: "the price after kube-scheduler has bound the pods was not estimated: " + why,
		})
	}
	if f.Choice.Settles() {
		base, placed = volumes.Unsettled(f, plan, cautious)
		proofs = prove.NewProofs(base)
	}
	summarise(ctx, base, proofs, plan, placed, found.Outcome.Late)
	plan.Summary.AfterScheduling = realised
	return plan, bold, nil
}

// How many fleets are tried for pods that kube-scheduler places freely, and up to how many pods
// their order is shuffled one by one.
const (
	fleetTries = 96
	fewPods    = 5_000
)

// placedFreely returns a plan with other nodes, if these cost less once kube-scheduler has bound the pods, and the
// estimate of that price.
func placedFreely(f *instance.Facts, c *instance.Instance, plan *scheduling.Plan, placed []int64, late func() bool) (*scheduling.Plan, []int64, *scheduling.AfterScheduling) {
	how := fleetParams(f, late)
	realised, mean := realise(c, plan, how)
	free := fleet.Improve(c, plan, how)
	if free == nil {
		return plan, placed, realised
	}
	other, ok := search.DecodeWhole(free.Packing, free.Solution)
	if !ok {
		return plan, placed, realised
	}
	if r, m := realise(c, other, how); r != nil && m < mean {
		return other, free.Packing.Placed(free.Solution), r
	}
	return plan, placed, realised
}

// fleetParams says how hard to look for machines for pods that are placed freely.
func fleetParams(f *instance.Facts, late func() bool) fleet.Params {
	fast := instance.Effort(f.Solver) <= int64(scheduling.EffortFast)
	out := fleet.Params{Late: late, Brief: fast || len(f.Problem.Pods) > fewPods}
	if !fast {
		out.Tries = fleetTries
	}
	return out
}

// tell passes a plan that was found to the observer.
func tell(f *instance.Facts, phase scheduling.Phase, found *search.Trial) {
	if f.Observer == nil || f.Terse {
		return
	}
	f.Observer(scheduling.Progress{
		Phase: phase, Placed: int(podspec.Sum(found.Packing.Placed(found.Outcome.Solution))), PricePerHour: offerings.Price(found.Packing.Model.Cost(found.Outcome.Solution.Nodes)),
	})
}

// late reports whether the deadline has passed.
func late(ctx context.Context) bool { return ctx.Err() != nil }

// cancelled returns the context's error, unless that is a deadline that passed.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// summarise completes the plan's sums.
func summarise(ctx context.Context, c *instance.Instance, proofs *prove.Proofs, plan *scheduling.Plan, placed []int64, late bool) {
	s := &plan.Summary
	s.Placed = 0
	for _, n := range placed {
		s.Placed += int(n)
	}
	s.Pods = s.Placed + len(plan.Unschedulable)
	s.PodsWithoutRequests = c.Classes.Unrequested
	s.Catalog = c.Facts.Problem.Catalog.Origin()
	if s.NodeOverheadPerHour = c.Facts.Solver.NodeOverhead; offers.Expects(c.Facts.Solver) {
		s.ExpectedPerHour = instance.Expected(c, plan)
	}
	price := offers.Objective(c.Facts.Solver, s)
	least, cert := proofs.Prove(ctx, plan, prove.ScopeOf(c, placed, prove.OnLaunches(plan)), price)
	conclude(s, proof{least, cert}, price, late)
}

// proof is a lower bound and its certificate.
type proof struct {
	bound       offerings.Price
	certificate *certificate.Certificate
}

// conclude fills in the bound, the gap of a price to it, and how the solve ended.
func conclude(s *scheduling.Summary, p proof, price offerings.Price, late bool) {
	s.LowerBoundPerHour, s.Certificate, s.Gap = p.bound, p.certificate, 0
	if p.bound > 0 {
		s.Gap = float64(price-p.bound) / float64(p.bound)
	}
	switch {
	case price == p.bound:
		s.Status = scheduling.StatusOptimal
	case late:
		s.Status = scheduling.StatusDeadline
	default:
		s.Status = scheduling.StatusComplete
	}
}
