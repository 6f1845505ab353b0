package scheduling

import (
	"context"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
)

// byZones is the bound on plans in which pods that are spread over zones are where they may
// be, 0 where it gains nothing.
func (pr *prover) byZones(ctx context.Context, plan *Plan, start []*big.Int, near int64) (int64, *Certificate) {
	b := pr.newZoneBook(plan)
	if b == nil {
		return 0, nil
	}
	if x := pr.compiler.zonal; x != nil && slices.Equal(x.placed, pr.placed) && slices.Equal(x.spread, b.ruled()) {
		return x.bound, x.certificate
	}
	x := &provenByZones{placed: slices.Clone(pr.placed), spread: b.ruled()}
	x.bound, x.certificate = b.prove(ctx, start, near)
	if pr.compiler.zonal = x; ctx.Err() != nil {
		pr.compiler.zonal = nil // another time there may be time for more
	}
	return x.bound, x.certificate
}

// provenByZones is what was proven of plans that place some pods and keep some rules.
type provenByZones struct {
	placed      []int64
	spread      []*corev1.Pod // a pod of each rule
	bound       int64
	certificate *Certificate
}

// ruled are pods of which each stands for a rule.
func (b *zoneBook) ruled() (out []*corev1.Pod) {
	for i := range b.rules {
		out = append(out, b.rules[i].spokesman)
	}
	return out
}

// prove computes the bound on plans that keep the rules of the book.
func (b *zoneBook) prove(ctx context.Context, start []*big.Int, near int64) (best int64, c *Certificate) {
	pr := b.prover
	for _, apart := range []bool{false, true} {
		if !apart && len(pr.classes) > mostPatternClasses || best >= near || ctx.Err() != nil {
			continue
		}
		m := b.zoned(apart)
		effort := pr.solver.boundEffort(ctx, len(m.Classes), len(m.Options))
		if pr.solver.Effort != EffortFast {
			effort.Work *= zonesWork
		}
		if a := bound.Pattern(m.Market, start, effort); a.Bound > best {
			best, c = a.Bound, m.certificate(a)
		}
	}
	return best, c
}

// zonesWork is how many times the work of a bound is spent where zones are told apart:
// there are as many more machines to look at.
const zonesWork = 4
