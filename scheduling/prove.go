package scheduling

import (
	"context"
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
)

// The kinds of certificates.
const (
	resourceKind   = "resource"
	assignmentKind = "assignment"
	patternKind    = "pattern"
)

// prove computes the lower bound on every plan that places at least the placed
// pods, and what proves it. Past the deadline it makes do with what it has.
func (c *compiler) prove(ctx context.Context, placed []int64) (offerings.Price, *Certificate) {
	pr := c.newProver(placed)
	if len(pr.classes) == 0 {
		return 0, nil
	}
	resource := bound.Resource(pr.input.Tighten())
	assigned := bound.Pattern(pr.market, resource.Values, c.solver.boundEffort(ctx, len(pr.classes), len(pr.market.Options)))
	switch {
	case assigned.Bound > resource.Bound:
		return offerings.Price(assigned.Bound), pr.assignment(assigned)
	case resource.Bound > 0:
		return offerings.Price(resource.Bound), &Certificate{Kind: resourceKind, Values: c.named(resource.Values), Scale: bound.Scale}
	default:
		return 0, nil
	}
}

// assignment names the classes by the first pod of each, or by several where their
// volumes say the same in different words.
func (pr *prover) assignment(a bound.Assigned) *Certificate {
	certificate := &Certificate{Kind: assignmentKind, Values: map[string]string{}, Scale: bound.Scale}
	if a.Filled {
		certificate.Kind = patternKind
	}
	for i, ids := range pr.classes {
		if a.Worths[i].Sign() == 0 {
			continue
		}
		for _, id := range ids {
			for _, pod := range pr.spokesmen(pr.planned[id]) {
				certificate.Values[podName(pod)] = a.Worths[i].String()
			}
		}
	}
	for _, v := range a.Vectors {
		certificate.Vectors = append(certificate.Vectors, pr.named(v))
	}
	return certificate
}

// named puts the names of resources to values above 0.
func (c *compiler) named(values []*big.Int) map[string]string {
	out := map[string]string{}
	for d, v := range values {
		if v.Sign() > 0 {
			out[string(c.table.names[d])] = v.String()
		}
	}
	return out
}

// The work that a bound may take, in elementary operations: the least, what each class,
// each option and each unit of effort add to it, and the most that effort adds. The
// same for trying fillings.
const (
	leastBoundWork       = 4_000_000
	boundWorkPerClass    = 8_000
	boundWorkPerOption   = 2_000
	boundWorkPerEffort   = 50_000
	mostBoundWork        = 200_000_000
	leastFillingWork     = 6_000_000
	fillingWorkPerEffort = 18_000
	mostFillingWork      = 400_000_000
)

// boundEffort is how far to go for a bound on so many classes and options.
func (s *Solver) boundEffort(ctx context.Context, classes, options int) bound.Effort {
	effort := int64(s.Effort)
	if effort == 0 {
		effort = int64(EffortDefault)
	}
	out := bound.Effort{
		Work:    leastBoundWork + boundWorkPerClass*int64(classes) + boundWorkPerOption*int64(options),
		Filling: leastFillingWork,
		Late:    func() bool { return ctx.Err() != nil },
	}
	if effort > int64(EffortFast) {
		out.Work += min(effort, mostBoundWork/boundWorkPerEffort) * boundWorkPerEffort
		out.Filling += min(effort, mostFillingWork/fillingWorkPerEffort) * fillingWorkPerEffort
	}
	return out
}
