package prove

import (
	"context"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// proveByDomains is the bound on plans that satisfy the domain rules; 0 where it is not tried. best is the bound without
// domains, near the bound at which to stop. With a plan, branching goes on while the bound is below wanted.
func (p *Proofs) proveByDomains(ctx context.Context, pr *prover, plan *scheduling.Plan, start []*big.Int, best, near, wanted int64) (int64, *certificate.Certificate) {
	b := newDomainBook(ctx, pr, plan, best)
	if b == nil || p.effort == scheduling.EffortFast && b.pointless(best, near) {
		return 0, nil
	}
	x := p.byDomains
	if x == nil || x.key != b.key || !slices.Equal(x.placed, pr.placed) || !slices.Equal(x.spread, b.ruled()) {
		x = &domainsProven{placed: slices.Clone(pr.placed), key: b.key, spread: b.ruled()}
		x.domains, x.assigned = b.prove(ctx, p.effort, start, near)
	}
	if plan != nil {
		x.divide(ctx, p, wanted)
	}
	if p.byDomains = x; ctx.Err() != nil {
		p.byDomains = nil // because a later call may have more time
	}
	if x.domains == nil {
		return 0, nil
	}
	c := x.domains.certificate(x.assigned)
	c.TopologyKey = b.key
	return x.assigned.Bound, c
}

// domainsProven is a bound by domains with the inputs that it holds for: placed pods by planned class, and rules.
type domainsProven struct {
	placed   []int64
	key      string
	spread   []*corev1.Pod // a pod of each rule
	domains  *domainMarket // nil without a bound
	assigned bound.Assigned
}

// DivideByDomains branches on the last bound by domains while it is below wanted, and returns the bound, in nano-USD per
// hour. ok is false where there is no such bound for placed. After the deadline the bound is valid but not kept, because
// a later call may have more time.
func (p *Proofs) DivideByDomains(ctx context.Context, placed []int64, wanted int64) (least int64, ok bool) {
	x := p.byDomains
	if x == nil || !slices.Equal(x.placed, placed) || ctx.Err() != nil {
		return 0, false
	}
	if x.divide(ctx, p, wanted); ctx.Err() != nil {
		p.byDomains = nil
	}
	return x.assigned.Bound, true
}

// divide tells cases apart while less than wanted is proven.
func (x *domainsProven) divide(ctx context.Context, p *Proofs, wanted int64) {
	if x.domains == nil || len(p.problem.Offers.Reserved) > 0 {
		return
	}
	effort := boundEffort(ctx, p.effort, len(x.domains.market.Classes), len(x.domains.market.Options))
	effort.Wanted, effort.Cases = wanted, effort.Cases/(2*casePods)*min(podspec.Sum(x.placed), casePods)
	x.assigned = x.assigned.Divided(effort)
}

// ruled is one pod of each rule.
func (b *domainBook) ruled() (out []*corev1.Pod) {
	for i := range b.rules {
		out = append(out, b.rules[i].representative)
	}
	return out
}

// prove is the best bound on plans that satisfy the rules, without and with minimums as classes. start are resource
// duals.
func (b *domainBook) prove(ctx context.Context, of scheduling.Effort, start []*big.Int, near int64) (market *domainMarket, best bound.Assigned) {
	pr := b.prover
	for _, apart := range []bool{false, true} {
		if !apart && len(pr.classes) > mostPatternClasses || best.Bound >= near || ctx.Err() != nil || apart && market != nil && !b.splits() {
			continue
		}
		m := b.marketByDomain(apart)
		effort := boundEffort(ctx, of, len(m.market.Classes), len(m.market.Options))
		effort.Cases = 0
		if of != scheduling.EffortFast {
			effort.Work *= domainsWork
		}
		if a := bound.Pattern(m.market, start, effort); a.Bound > best.Bound {
			market, best = m, a
		}
	}
	return market, best
}

// splits reports whether a rule has a minimum and pods of one class, so that [domainBook.marketByDomain] with apart
// differs.
func (b *domainBook) splits() bool {
	return slices.ContainsFunc(b.rules, func(r domainRule) bool {
		return slices.Max(r.least) > 0 && slices.ContainsFunc(b.prover.classes, func(ids []model.ClassID) bool {
			return !slices.ContainsFunc(r.classes, func(i int) bool { return !slices.Contains(ids, model.ClassID(i)) })
		})
	})
}

// fewestPods is the number of pods below which the bound by domains is always tried: with few pods, rounding up to whole
// nodes in each domain costs more than the difference in prices.
const fewestPods = 16

// pointless reports whether the possible gain is small, and twice the gain would not bring best up to near.
func (b *domainBook) pointless(best, near int64) bool {
	if podspec.Sum(b.prover.placed) < fewestPods {
		return false
	}
	gain := b.gain()
	return gain < NearEnough*float64(near) && float64(best)+2*gain < float64(near)
}

// casePods is the number of pods from which on branching gets half of its work, the most; with fewer pods it gets less
// in proportion, because it gains less.
const casePods = 1_500

// domainsWork multiplies the work of a bound by domains, because there are offers for each domain.
const domainsWork = 4
