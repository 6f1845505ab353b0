package scheduling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// Effort says how hard to search, in units of work that do not depend on the
// machine. 0 is EffortDefault.
type Effort int64

// The named efforts.
const (
	// EffortFast settles for the first good plan: for loops that ask every few seconds, and
	// for very many pods.
	EffortFast Effort = 1
	// EffortDefault searches until more would rarely pay.
	EffortDefault Effort = 1_000
	// EffortThorough goes on for small gains, at many times the time: for plans that are
	// carried out once and run long. No effort above the default ends with a worse plan
	// than the default does.
	EffortThorough Effort = 20_000
)

// MinValuesPolicy says what happens when a pool's minValues cannot be met.
type MinValuesPolicy string

// The policies on minValues.
const (
	// MinValuesStrict, the zero value's meaning, places no pod against minValues.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort lowers minValues to what can be had before it turns to
	// a pool of lower weight.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// WeightPolicy says what NodePool weights mean.
type WeightPolicy string

// The policies on weights.
const (
	// WeightStrict, the zero value's meaning, places each pod in the pool of the
	// highest weight that can hold it.
	WeightStrict WeightPolicy = "Strict"
	// WeightIgnore lets price alone choose the pool.
	WeightIgnore WeightPolicy = "Ignore"
)

// PreferencePolicy says what the wishes of pods count for: preferred node affinity,
// preferred pod affinity and anti-affinity, and topology spread that may be broken
// (ScheduleAnyway).
type PreferencePolicy string

// The policies on preferences.
const (
	// PreferencesRespect, the zero value's meaning, grants as many wishes as can be,
	// by weight, whatever that costs; no wish ever keeps a pod from being placed.
	PreferencesRespect PreferencePolicy = "Respect"
	// PreferencesIgnore plans as if there were no wishes.
	PreferencesIgnore PreferencePolicy = "Ignore"
	// PreferencesPrice grants a wish where that costs at most what it is worth.
	PreferencesPrice PreferencePolicy = "Price"
)

// Policy says how to decide. The zero value works.
type Policy struct {
	// Effort bounds the search; 0 is EffortDefault.
	Effort Effort
	// Ranking orders the options of a launch and says what price means; the zero
	// value is the lowest price.
	Ranking offerings.Ranking
	// MaxOptions bounds the options of a launch; 0 is 60. minValues may exceed it.
	MaxOptions int
	// MinValues says what happens when minValues cannot be met; "" is Strict.
	MinValues MinValuesPolicy
	// Weights says what NodePool weights mean; "" is Strict.
	Weights WeightPolicy
	// Preferences says what the wishes of pods count for; "" is Respect.
	Preferences PreferencePolicy
	// PreferencePrice is what a wish of weight 100 is worth per pod and hour under
	// PreferencesPrice; lighter ones are worth their share. ScheduleAnyway weighs 100.
	PreferencePrice offerings.Price
	// NoSpot buys no spot machines, whatever NodePools allow.
	NoSpot bool
	// Filters leave out of what may be bought each offering that one of them does not keep,
	// whatever NodePools allow. It stays in the catalog, and nodes that run there keep their
	// price, as they do with NoSpot and Size.
	Filters []instancetypes.Filter
	// Size bounds the machines that may be bought; the zero value allows all sizes.
	Size NodeSize
	// NodeOverhead is what a node costs per hour beside the price of its machine, such as its
	// root volume, its address, and agents that are paid for by the host. It counts for every
	// machine as a part of its expected price (see [Policy.ExpectedPrice]), so that two small
	// machines have to be cheaper than a large one by that much; 0 is nothing.
	NodeOverhead offerings.Price
	// Interruption says what it costs when a spot machine is taken away, which is a part of
	// the expected price, too; the zero value is nothing.
	Interruption Interruption
	// Flexibility is how much choice launches have to leave that may become spot
	// machines; the zero value asks for nothing.
	Flexibility Flexibility
	// WorkloadShare is the largest share of a workload's pods, in percent, that one
	// machine may hold, so that losing the machine loses no more: rounded down to whole
	// pods, and at least one. 0 is no bound. A workload is the pods of one controller
	// (a ReplicaSet, a StatefulSet, a Job), or where they have none, those that the same
	// Services of the problem select; DaemonSets are left out. Counted are pods that
	// wait and pods that run and are not being deleted. Pods that already run too close
	// together stay where they are; no more of them join.
	WorkloadShare int
	// NoReasons lists pods without a place by their names alone, for those who only count
	// them: the plan has no reasons, and nothing is tried that would place them.
	NoReasons bool
	// FewestNodes looks for few machines before it looks at prices.
	FewestNodes bool
}

// ErrInvalid is the error that every malformed problem wraps; errors.As finds the
// *FieldErrors behind it.
var ErrInvalid = errors.New("invalid problem")

// Planner plans by a policy. The zero value works.
type Planner struct{ Policy }

// Plan places the pods of p. An error means a malformed problem or setting of the solver (every fault at
// once, see [Problem.Validate]) or a cancelled context. A deadline is no error:
// past it the best complete plan so far comes back, marked [StatusDeadline]. Pods
// that fit nowhere are listed in the plan. The same problem and effort give the
// same plan, whatever the order of its slices and the number of processors.
func (s Planner) Plan(ctx context.Context, p Problem) (*Plan, error) {
	facts, err := newFacts(&p, &s.Policy)
	if err != nil {
		return nil, err
	}
	return facts.solve(ctx)
}

// settled places the pods, and settles what their volumes depend on.
func (f *facts) settled(ctx context.Context) (*solved, error) {
	x, err := f.place(ctx)
	if err != nil {
		return nil, err
	}
	return f.settleVolumes(ctx, x)
}

// place places the pods as is chosen about volumes.
func (f *facts) place(ctx context.Context) (*solved, error) {
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	x, bold, err := f.attempt(ctx, false)
	if err != nil || !bold.short && !bold.outbid {
		return x, err
	}
	careful, _, err := f.attempt(ctx, true)
	if err != nil || bold.short || f.fewerLeft(careful.Plan, x.Plan) < 0 {
		x = careful
	}
	return x, err
}

// boldness is what came of an attempt that is not cautious.
type boldness struct {
	short  bool // a launch was left with too few options for its pool's minValues
	outbid bool // more pods would be placed, were it not for such launches
}

// attempt solves once. What launches are left with too few options for their pool's
// minValues a cautious attempt rules out.
func (f *facts) attempt(ctx context.Context, cautious bool) (_ *solved, bold boldness, err error) {
	base := f.compile(cautious)
	params := pack.Params{Snug: !f.loose, Work: f.solver.work(), Late: func() bool { return ctx.Err() != nil }}
	c := base
	var outcome pack.Outcome
	if base.tied() {
		t := newTies(base)
		params.Enough = t.outlook(ctx)
		c, outcome = t.solve(params)
		if !f.terse {
			x := newTrial(c, outcome)
			x.afresh(ctx, base, params)
			c, outcome = x.compiler, x.Outcome
		}
	} else {
		params = c.remembering(params)
		outcome = pack.Ration(c.model, pack.Search(c.model, params), params)
	}
	if err := cancelled(ctx); err != nil {
		return nil, bold, err
	}
	from := &solved{late: outcome.Late}
	if f.judged {
		from.score = newTrial(c, outcome).score()
	}
	plan, ok := c.decode(outcome.Solution)
	bold = boldness{short: !ok, outbid: base.outbid}
	if !ok && !cautious {
		return nil, bold, nil
	}
	from.Plan = plan
	if f.terse {
		c.list(plan)
		return from, bold, nil
	}
	if f.solver.NoReasons {
		c.list(plan)
	} else {
		c.explain(plan)
	}
	plan.Warnings = base.warnings()
	placed := c.placed(outcome.Solution)
	if f.choice.settles() {
		base, placed = f.unsettled(plan, cautious)
	}
	base.summarise(ctx, plan, placed, outcome.Late)
	from.prover, from.placed = base, placed
	return from, bold, nil
}

// cancelled returns the context's error, unless that is a deadline that passed.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// validate reports what is wrong with the solver's own settings, as [*FieldErrors].
func (s *Policy) validate() error {
	f := faults{list: s.faults()}
	return f.err()
}

// faults are what is wrong with the solver's own settings.
func (s *Policy) faults() []*FieldError {
	f := &faults{}
	negative := func(is bool, value any, path string) {
		if is {
			f.add(fmt.Sprint(value), "is negative", "solver."+path)
		}
	}
	policy := func(value, path string, of ...string) {
		if value != "" && !slices.Contains(of, value) {
			f.add(value, "is none of "+strings.Join(of, ", "), "solver."+path)
		}
	}
	negative(s.Effort < 0, s.Effort, "effort")
	negative(s.MaxOptions < 0, s.MaxOptions, "maxOptions")
	negative(s.PreferencePrice < 0, s.PreferencePrice, "preferencePrice")
	negative(s.NodeOverhead < 0, s.NodeOverhead, "nodeOverhead")
	policy(string(s.MinValues), "minValues", string(MinValuesStrict), string(MinValuesBestEffort))
	policy(string(s.Weights), "weights", string(WeightStrict), string(WeightIgnore))
	policy(string(s.Preferences), "preferences", string(PreferencesRespect), string(PreferencesIgnore), string(PreferencesPrice))
	if s.WorkloadShare < 0 || s.WorkloadShare > 100 {
		f.add(strconv.Itoa(s.WorkloadShare), "must be a percentage from 1 to 100, or 0 for no bound", "solver.workloadShare")
	}
	for _, k := range s.Flexibility.all() {
		negative(k.least < 0, k.least, "flexibility."+k.name)
	}
	s.Size.check(f)
	s.Interruption.check(f)
	for _, err := range unjoin(s.Ranking.Validate()) {
		field, message, _ := strings.Cut(err.Error(), ": ")
		f.add("", message, "solver.ranking."+field)
	}
	return f.list
}

// workPerEffort turns effort into what the engine counts.
const workPerEffort = 10_000

// work is the engine's budget.
func (s *Policy) work() int64 {
	effort := s.Effort
	if effort == 0 {
		effort = EffortDefault
	}
	if effort <= EffortFast {
		return 0
	}
	return min(int64(effort), math.MaxInt64/workPerEffort) * workPerEffort
}

// summarise completes the plan's sums.
func (c *compiler) summarise(ctx context.Context, plan *Plan, placed []int64, late bool) {
	s := &plan.Summary
	s.Placed = 0
	for _, n := range placed {
		s.Placed += int(n)
	}
	s.Pods = s.Placed + len(plan.Unschedulable)
	s.PodsWithoutRequests = c.classes.unrequested
	s.Catalog = c.problem.Catalog.Origin()
	if s.NodeOverheadPerHour = c.solver.NodeOverhead; c.solver.expects() {
		s.ExpectedPerHour = c.expected(plan)
	}
	price := c.solver.objective(s)
	least, certificate := c.prove(ctx, plan, c.deciding(placed, plan.onLaunches()), price)
	s.conclude(proof{least, certificate}, price, late)
}

// proof is a lower bound and what proves it.
type proof struct {
	bound       offerings.Price
	certificate *Certificate
}

// conclude says how near a price comes to what is proven, and how the solve ended.
func (s *Summary) conclude(p proof, price offerings.Price, late bool) {
	s.LowerBoundPerHour, s.Certificate, s.Gap = p.bound, p.certificate, 0
	if p.bound > 0 {
		s.Gap = float64(price-p.bound) / float64(p.bound)
	}
	switch {
	case price == p.bound:
		s.Status = StatusOptimal
	case late:
		s.Status = StatusDeadline
	default:
		s.Status = StatusComplete
	}
}
