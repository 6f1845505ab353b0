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
)

// prove computes the lower bound on every plan that places at least the placed
// pods, and what proves it. Past the deadline it makes do with what it has.
func (c *compiler) prove(ctx context.Context, placed []int64) (offerings.Price, *Certificate) {
	pr := c.newProver(placed)
	if len(pr.classes) == 0 {
		return 0, nil
	}
	resource := bound.Resource(pr.input.Tighten())
	assigned := bound.Assignment(pr.market, resource.Values, c.solver.boundWork(len(pr.classes)), func() bool { return ctx.Err() != nil })
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

// The work that a bound may take, in elementary operations: the least, what each class
// and each unit of effort add to it, and the most that effort adds.
const (
	leastBoundWork     = 1_000_000
	boundWorkPerClass  = 5_000
	boundWorkPerEffort = 25_000
	mostBoundWork      = 200_000_000
)

// boundWork is the budget of the bound for so many classes.
func (s *Solver) boundWork(classes int) int64 {
	effort := s.Effort
	if effort == 0 {
		effort = EffortDefault
	}
	work := leastBoundWork + boundWorkPerClass*int64(classes)
	if effort > EffortFast {
		work += min(int64(effort), mostBoundWork/boundWorkPerEffort) * boundWorkPerEffort
	}
	return work
}
