package prove

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Proofs holds the bounds that have been proven for plans of one compiled problem. A search asks for bounds while it
// goes on; because the certificate of its plan then rests on the last of them, no bound is worked out twice.
// Methods must not be called at the same time.
type Proofs struct {
	problem   *instance.Instance
	early     *earlyBound    // nil unless a bound was asked for before there was a plan
	last      *proven        // nil until a bound was proven in time
	byDomains *domainsProven // the same, domain by domain
}

// NewProofs returns proofs of nothing, for plans of a compiled problem.
func NewProofs(c *instance.Instance) *Proofs { return &Proofs{problem: c} }

// Prove computes the lower bound on every plan that places at least the placed pods, and
// what proves it, looking at some of them. It goes on until it comes near the price of the
// plan. Past the deadline it makes do with what it has.
func (p *Proofs) Prove(ctx context.Context, plan *scheduling.Plan, pods AtStake, price offerings.Price) (offerings.Price, *certificate.Certificate) {
	if price == 0 {
		return 0, nil // nothing to prove: no plan is cheaper
	}
	near := nearBound(p.problem, price)
	if k := p.last; k != nil && k.equal(&pods) && !k.certificate.Spreading() {
		return k.balanced(ctx, plan, near)
	}
	k := &proven{AtStake: pods}
	defer func() { k.Machines = nil }() // what it is made from need not be kept
	k.Placed = slices.Clone(pods.Placed)
	k.bound, k.certificate = p.proveAnew(ctx, plan, near, price, k)
	if ctx.Err() == nil { // else there may be time for more another time
		p.last = k
	}
	return k.balanced(ctx, plan, near)
}

// Again proves for another plan that places the same pods as the plan of the last proof. Where nothing was proven, it
// returns a bound of 0 and no certificate.
func (p *Proofs) Again(ctx context.Context, plan *scheduling.Plan, price offerings.Price) (offerings.Price, *certificate.Certificate) {
	if p.last == nil {
		return 0, nil
	}
	return p.Prove(ctx, plan, p.last.AtStake, price)
}

// proven is what was proven of plans that place some pods, where that does not hang on a
// plan: spreads are left out of it that the plan itself does not keep.
type proven struct {
	AtStake
	bound       offerings.Price
	certificate *certificate.Certificate
	// prover, start and assigned are what there is to go on from; nil for nothing.
	prover   *prover
	start    []*big.Int
	assigned bound.Assigned
	level    *levelled
}

// proveAnew notes in k what there is to go on from.
func (p *Proofs) proveAnew(ctx context.Context, plan *scheduling.Plan, near int64, price offerings.Price, k *proven) (offerings.Price, *certificate.Certificate) {
	c := p.problem
	pr, resource, known := p.foreseen(k.Placed)
	if !known {
		if pr = newProver(c, k.Placed); len(pr.classes) == 0 {
			return 0, nil
		}
		if resource = covering.Resource(pr.input.Tighten()); resource.Bound < near && ctx.Err() == nil {
			resource = pr.withSteps(resource)
		}
	}
	covered := int64(0)
	if resource.Bound < near && !k.joined && ctx.Err() == nil {
		covered = covering.Cover(pr.input.Tighten(), resource.Values, int64(price), coverChoices(c.Solver))
	}
	if best := max(resource.Bound, covered); best < near {
		least, spread := p.proveByDomains(ctx, pr, plan, resource.Values, best, near, min(near, int64(float64(price)*(1-TiedEnough))))
		if least < near && (spread == nil || len(pr.classes) <= mostPatternClasses) {
			effort := boundEffort(ctx, c.Solver, len(pr.classes), len(pr.market.Options))
			effort.Wanted = min(near, int64(float64(price)*(1-farEnough)))
			switch {
			case c.Tied():
				if effort.Further = 0; spread != nil {
					effort.Cases = 0 // they have been told apart domain by domain
				}
			case c.Solver.Effort == scheduling.EffortFast:
				effort.Cases, effort.CasesWanted = casesFast*effort.Work, int64(float64(price)*(1-tooFar))
			}
			if len(pr.in.Offers.Reserved) > 0 {
				effort.Cases = 0 // only machines that may be bought in any number are counted
			}
			switch {
			case plan != nil:
				effort.Seen = patternsOf(pr, launched(c, plan))
			case k.Machines != nil:
				effort.Seen = patternsOf(pr, k.Machines())
			}
			a := bound.Pattern(pr.market, resource.Values, effort)
			k.prover, k.start, k.assigned = pr, resource.Values, a
			if a.Bound > max(best, least) {
				return offerings.Price(a.Bound), assignmentCertificate(pr, a)
			}
		}
		if least > best {
			return offerings.Price(least), spread
		}
	}
	if covered > resource.Bound {
		cert := &certificate.Certificate{Kind: certificate.CoverKind, Values: namedValues(pr, resource.Values), Scale: fixed.Scale}
		nameSurrogateResources(pr, cert)
		return offerings.Price(covered), cert
	}
	if resource.Bound == 0 {
		return 0, nil
	}
	return offerings.Price(resource.Bound), resourceCertificate(pr, resource, k.all)
}

// patternsOf are what some machines hold, by the prover's classes, equal ones once.
func patternsOf(pr *prover, machines [][]instance.Portion) [][]model.Item {
	number := make([]int, len(pr.in.Planned))
	for i, ids := range pr.classes {
		for _, id := range ids {
			number[id] = i + 1
		}
	}
	known := map[string]bool{}
	var out [][]model.Item
	for _, portions := range machines {
		counts := map[int]int64{}
		for _, p := range portions {
			if n := number[p.Class]; n > 0 {
				counts[n-1] += p.N
			}
		}
		items := make([]model.Item, 0, len(counts))
		for _, class := range slices.Sorted(maps.Keys(counts)) {
			items = append(items, model.Item{Class: model.ClassID(class), N: counts[class]})
		}
		if name := fmt.Sprint(items); !known[name] {
			known[name] = true
			out = append(out, items)
		}
	}
	return out
}

// mostPatternClasses is up to how many classes it is worth looking for a bound by fillings
// where there is one by domains.
const mostPatternClasses = 64

// NearEnough is the share of the price that a fast bound may miss it by.
const NearEnough = 0.02

// farEnough is the share of the price that a bound may miss it by without more being done
// for it where nothing ties the pods. What is far off is so for want of work more often.
const farEnough = 0.0095

// TiedEnough is the same where pods are tied to each other.
const TiedEnough = 0.015

// tooFar is the share of the price that a fast bound may miss it by without cases being told
// apart for it.
const tooFar = 0.029

// nearBound is a bound at which to be content: one at which the search was, too.
func nearBound(c *instance.Instance, price offerings.Price) int64 {
	if share := Enough(c); share > 0 {
		return int64(float64(price) / (1 + share))
	}
	if c.Solver.Effort == scheduling.EffortFast {
		return int64(float64(price) * (1 - NearEnough))
	}
	return int64(price)
}

// The work that a bound may take, in elementary operations: the least, what each class,
// each option and each unit of effort add to it, and the most that effort adds. The
// same for trying fillings. Where the bound is far off it may take further work, at fast
// effort so many times what it took.
const (
	leastBoundWork       = 500_000
	boundWorkPerClass    = 40_000
	boundWorkPerOption   = 2_000
	boundWorkPerEffort   = 50_000
	furtherWorkPerEffort = 450_000
	furtherFast          = 16
	mostBoundWork        = 200_000_000
	mostFurtherWork      = 450_000_000
	leastFillingWork     = 6_000_000
	fillingWorkPerEffort = 72_000
	mostFillingWork      = 400_000_000
	casesFast            = 3
	caseWorkPerEffort    = 3_000_000
	mostCaseWork         = 4_000_000_000
)

// How many choices of machines a bound may look at: at fast effort, what each unit of
// effort adds, and the most that it adds.
const (
	leastChoices     = 2_000
	choicesPerEffort = 20
	mostChoices      = 400_000
)

// coverChoices is how many choices of machines a bound may look at.
func coverChoices(s *scheduling.Policy) int {
	return leastChoices + int(min(instance.Effort(s)-int64(scheduling.EffortFast), mostChoices/choicesPerEffort))*choicesPerEffort
}

// boundEffort is how far to go for a bound on so many classes and options.
func boundEffort(ctx context.Context, s *scheduling.Policy, classes, options int) bound.Effort {
	effort := instance.Effort(s)
	out := bound.Effort{
		Work:    leastBoundWork + boundWorkPerClass*int64(classes) + boundWorkPerOption*int64(options),
		Filling: leastFillingWork,
		Late:    func() bool { return ctx.Err() != nil },
	}
	out.Further = furtherFast * out.Work
	if effort > int64(scheduling.EffortFast) {
		out.Work += min(effort, mostBoundWork/boundWorkPerEffort) * boundWorkPerEffort
		out.Further = max(out.Further, min(effort, mostFurtherWork/furtherWorkPerEffort)*furtherWorkPerEffort)
		out.Cases = min(effort, mostCaseWork/caseWorkPerEffort) * caseWorkPerEffort
		out.Filling += min(effort, mostFillingWork/fillingWorkPerEffort) * fillingWorkPerEffort
	}
	return out
}
