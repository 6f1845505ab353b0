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

// Proofs keeps the bounds on plans of one compiled problem, so that none is worked out twice: the search asks for
// bounds, and the certificate of its plan is of the last one. Methods must not be called concurrently.
type Proofs struct {
	problem   *instance.Instance
	effort    scheduling.Effort
	resource  *resourceBound // the last one; nil before the first
	last      *proven        // nil before a bound was proven within the deadline
	less      *proven        // the last one of less effort; nil for none
	byDomains *domainsProven // the same, domain by domain
}

// NewProofs is an empty Proofs for plans of a compiled problem, with the effort of its policy.
func NewProofs(c *instance.Instance) *Proofs {
	return &Proofs{problem: c, effort: scheduling.Effort(instance.Effort(c.Facts.Solver))}
}

// SetEffort makes further bounds with another effort. They are at least the last one where they are for the same pods.
func (p *Proofs) SetEffort(effort scheduling.Effort) {
	if p.last != nil {
		p.less = p.last
	}
	p.effort, p.last, p.byDomains = effort, nil, nil
}

// Prove is the lower bound on every plan that places at least pods.Placed, with its certificate; price is the plan's.
// The work ends near the price, where a higher bound does not matter. Past the deadline the bound is the best so far.
// plan may be nil.
func (p *Proofs) Prove(ctx context.Context, plan *scheduling.Plan, pods Scope, price offerings.Price) (offerings.Price, *certificate.Certificate) {
	if price == 0 {
		return 0, nil // because no plan is cheaper
	}
	near := p.nearBound(price)
	if k := p.last; k != nil && k.equal(&pods) && !k.certificate.Spreading() {
		return k.balanced(ctx, p.effort, plan, near)
	}
	k := &proven{Scope: pods}
	defer func() { k.Machines = nil }() // because they are large and used once
	k.Placed = slices.Clone(pods.Placed)
	k.bound, k.certificate = p.proveFromScratch(ctx, plan, near, price, k)
	if less := p.less; less != nil && less.bound > k.bound && less.equal(&pods) && !less.certificate.Spreading() {
		k.bound, k.certificate = less.bound, less.certificate
	}
	if ctx.Err() == nil { // else a later call may have more time
		p.last = k
	}
	return k.balanced(ctx, p.effort, plan, near)
}

// Again is [Proofs.Prove] for another plan that places the same pods as the last one. Without a last bound it is 0
// without a certificate.
func (p *Proofs) Again(ctx context.Context, plan *scheduling.Plan, price offerings.Price) (offerings.Price, *certificate.Certificate) {
	if p.last == nil {
		return 0, nil
	}
	return p.Prove(ctx, plan, p.last.Scope, price)
}

// proven is a bound that does not depend on a plan. Bounds by domains do: they leave out the rules that the plan does
// not satisfy.
type proven struct {
	Scope
	bound       offerings.Price
	certificate *certificate.Certificate
	// prover, start and assigned are the state from which further bounds start; nil for none.
	prover   *prover
	start    []*big.Int
	assigned bound.Assigned
	level    *levelled
}

// Refill raises the last bound by patterns that have become known since: the pods on machines. price is that of the best
// plan. It does nothing where the bound is near, or is one by domains.
func (p *Proofs) Refill(ctx context.Context, machines [][]instance.Member, price offerings.Price) {
	k := p.last
	if k == nil || k.prover == nil || k.certificate.Spreading() || int64(k.bound) >= p.nearBound(price) || ctx.Err() != nil {
		return
	}
	effort := boundEffort(ctx, p.effort, len(k.prover.classes), len(k.prover.market.Options))
	effort.Seen = patternsOf(k.prover, machines)
	if a := k.assigned.Refilled(effort); a.Bound > int64(k.bound) {
		k.assigned, k.bound, k.certificate = a, offerings.Price(a.Bound), assignmentCertificate(k.prover, a)
	}
}

// proveFromScratch tries the bounds from the fastest on until one is at least near, and returns the highest. Its state is kept
// in k.
func (p *Proofs) proveFromScratch(ctx context.Context, plan *scheduling.Plan, near int64, price offerings.Price, k *proven) (offerings.Price, *certificate.Certificate) {
	c := p.problem
	r := p.byResources(k.Placed)
	if r == nil {
		return 0, nil
	}
	if r.proof.Bound < near && ctx.Err() == nil {
		r.addSteps()
	}
	pr, resource := r.prover, r.proof
	covered := int64(0)
	if resource.Bound < near && !k.joined && ctx.Err() == nil {
		covered = covering.Cover(pr.input.Tighten(), resource.Values, int64(price), coverChoices(p.effort))
	}
	if best := max(resource.Bound, covered); best < near {
		least, spread := p.proveByDomains(ctx, pr, plan, resource.Values, best, near, min(near, int64(float64(price)*(1-EnoughWithTerms))))
		if least < near && (spread == nil || len(pr.classes) <= mostPatternClasses) {
			effort := boundEffort(ctx, p.effort, len(pr.classes), len(pr.market.Options))
			effort.Wanted = min(near, int64(float64(price)*(1-farEnough)))
			switch {
			case c.HasTopologyTerms():
				if effort.Further = 0; spread != nil {
					effort.Cases = 0 // because the bound by domains has branched
				}
			case p.effort == scheduling.EffortFast:
				effort.Cases, effort.CasesWanted = casesFast*effort.Work, int64(float64(price)*(1-tooFar))
			}
			if len(pr.in.Offers.Reserved) > 0 {
				effort.Cases = 0 // because branching is on counts of unlimited offers
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

// patternsOf is the pods on some nodes as patterns of the prover's classes, equal ones once.
func patternsOf(pr *prover, machines [][]instance.Member) [][]model.Item {
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

// mostPatternClasses is the number of classes up to which the bound by patterns is tried even if there is one by
// domains.
const mostPatternClasses = 64

// NearEnough is the gap, as a share of the price, at which a bound at fast effort ends.
const NearEnough = 0.02

// farEnough is the gap, as a share of the price, down to which a bound without topology terms gets further work.
const farEnough = 0.0095

// EnoughWithTerms is the gap, as a share of the price, down to which a bound with topology terms gets further work.
const EnoughWithTerms = 0.015

// tooFar is the gap, as a share of the price, above which a bound at fast effort branches.
const tooFar = 0.029

// nearBound is the bound at which to stop, in nano-USD per hour: one at which the search stops, too.
func (p *Proofs) nearBound(price offerings.Price) int64 {
	if share := p.enough(); share > 0 {
		return int64(float64(price) / (1 + share))
	}
	if p.effort == scheduling.EffortFast {
		return int64(float64(price) * (1 - NearEnough))
	}
	return int64(price)
}

// The work of a bound, in elementary operations: a base, an amount for each class, option and unit of effort, and a cap
// on the amount for effort. Further is work spent only while a bound is far from the price, Cases that of branching,
// Filling that of the pattern bound. At fast effort the factors furtherFast and casesFast apply instead.
const (
	leastBoundWork       = 500_000
	boundWorkPerClass    = 40_000
	boundWorkPerOption   = 2_000
	boundWorkPerEffort   = 50_000
	furtherWorkPerEffort = 450_000
	furtherFast          = 16
	mostBoundWork        = 200_000_000
	mostFurtherWork      = 450_000_000
	leastFillingWork     = 12_000_000
	fillingWorkPerEffort = 72_000
	mostFillingWork      = 400_000_000
	casesFast            = 3
	caseWorkPerEffort    = 3_000_000
	mostCaseWork         = 4_000_000_000
)

// The number of choices of machines that a set cover bound may try: at fast effort, for each further unit of effort, and
// the cap on the latter.
const (
	leastChoices     = 2_000
	choicesPerEffort = 20
	mostChoices      = 400_000
)

// coverChoices is the number of choices of machines that a set cover bound may try.
func coverChoices(effort scheduling.Effort) int {
	return leastChoices + int(min(effort-scheduling.EffortFast, mostChoices/choicesPerEffort))*choicesPerEffort
}

// boundEffort is the work for a bound with a number of classes and options, in elementary operations.
func boundEffort(ctx context.Context, of scheduling.Effort, classes, options int) bound.Effort {
	effort := int64(of)
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
