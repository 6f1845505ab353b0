package prove

import (
	"context"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// proveByDomains is the bound on plans in which pods that are spread over domains are where they may
// be, 0 where it gains nothing. For a plan that is there cases are told apart while the bound is
// below what is wanted. best is the bound without domains.
func (p *Proofs) proveByDomains(ctx context.Context, pr *prover, plan *scheduling.Plan, start []*big.Int, best, near, wanted int64) (int64, *certificate.Certificate) {
	b := newDomainBook(ctx, pr, plan, best)
	if b == nil || pr.in.Solver.Effort == scheduling.EffortFast && b.pointless(best, near) {
		return 0, nil
	}
	x := p.byDomains
	if x == nil || x.key != b.key || !slices.Equal(x.placed, pr.placed) || !slices.Equal(x.spread, b.ruled()) {
		x = &domainsProven{placed: slices.Clone(pr.placed), key: b.key, spread: b.ruled()}
		x.domains, x.assigned = b.prove(ctx, start, near)
	}
	if plan != nil {
		x.divide(ctx, pr.in, wanted)
	}
	if p.byDomains = x; ctx.Err() != nil {
		p.byDomains = nil // another time there may be time for more
	}
	if x.domains == nil {
		return 0, nil
	}
	c := x.domains.certificate(x.assigned)
	c.TopologyKey = b.key
	return x.assigned.Bound, c
}

// domainsProven is what was proven of plans that place some pods and keep some rules.
type domainsProven struct {
	placed   []int64
	key      string
	spread   []*corev1.Pod // a pod of each rule
	domains  *domainMarket // nil where nothing was proven
	assigned bound.Assigned
}

// DivideByDomains tells cases apart while less than wanted is proven of plans that place so many pods of each planned class,
// domain by domain, and returns the bound. ok is false where nothing was proven of such plans. Past the deadline the bound
// holds, and is forgotten: another time there may be time for more.
func (p *Proofs) DivideByDomains(ctx context.Context, placed []int64, wanted int64) (least int64, ok bool) {
	x := p.byDomains
	if x == nil || !slices.Equal(x.placed, placed) || ctx.Err() != nil {
		return 0, false
	}
	if x.divide(ctx, p.problem, wanted); ctx.Err() != nil {
		p.byDomains = nil
	}
	return x.assigned.Bound, true
}

// divide tells cases apart while less than wanted is proven.
func (x *domainsProven) divide(ctx context.Context, c *instance.Instance, wanted int64) {
	if x.domains == nil || len(c.Offers.Reserved) > 0 {
		return
	}
	effort := boundEffort(ctx, c.Solver, len(x.domains.market.Classes), len(x.domains.market.Options))
	effort.Wanted, effort.Cases = wanted, effort.Cases/(2*casePods)*min(podspec.Sum(x.placed), casePods)
	x.assigned = x.assigned.Divided(effort)
}

// ruled are pods of which each stands for a rule.
func (b *domainBook) ruled() (out []*corev1.Pod) {
	for i := range b.rules {
		out = append(out, b.rules[i].spokesman)
	}
	return out
}

// prove computes the bound on plans that keep the rules of the book.
func (b *domainBook) prove(ctx context.Context, start []*big.Int, near int64) (market *domainMarket, best bound.Assigned) {
	pr := b.prover
	for _, apart := range []bool{false, true} {
		if !apart && len(pr.classes) > mostPatternClasses || best.Bound >= near || ctx.Err() != nil || apart && market != nil && !b.splits() {
			continue
		}
		m := b.marketByDomain(apart)
		effort := boundEffort(ctx, pr.in.Solver, len(m.market.Classes), len(m.market.Options))
		effort.Cases = 0
		if pr.in.Solver.Effort != scheduling.EffortFast {
			effort.Work *= domainsWork
		}
		if a := bound.Pattern(m.market, start, effort); a.Bound > best.Bound {
			market, best = m, a
		}
	}
	return market, best
}

// splits reports whether pods that there are in each domain at least can be told apart from
// others of their rule. Where they cannot, that market is the other one once more.
func (b *domainBook) splits() bool {
	return slices.ContainsFunc(b.rules, func(r domainRule) bool {
		return slices.Max(r.least) > 0 && slices.ContainsFunc(b.prover.classes, func(ids []model.ClassID) bool {
			return !slices.ContainsFunc(r.classes, func(i int) bool { return !slices.Contains(ids, model.ClassID(i)) })
		})
	})
}

// fewestPods is how many pods there have to be at least: of few, whole machines in each domain cost
// more than what domains differ in.
const fewestPods = 16

// pointless reports whether there is little to gain by telling domains apart, and twice as much would
// not do.
func (b *domainBook) pointless(best, near int64) bool {
	if podspec.Sum(b.prover.placed) < fewestPods {
		return false
	}
	gain := b.gain()
	return gain < NearEnough*float64(near) && float64(best)+2*gain < float64(near)
}

// casePods is how many pods are worth half of the work that may go into cases, which is the most
// that domains get: what these gain for fewer is not much, and a search for them does not take long
// either.
const casePods = 1_500

// domainsWork is how many times the work of a bound is spent where domains are told apart:
// there are as many more machines to look at.
const domainsWork = 4
