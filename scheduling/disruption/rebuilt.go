package disruption

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// rebuild looks for the cheapest cluster for the same pods, whatever holds nodes back.
func (r *run) rebuild(ctx context.Context) error {
	found := r.findings
	if found == nil || found.anew == nil || over(ctx) {
		return cancelled(ctx)
	}
	all := r.state.owned()
	if len(all) == len(r.state.loose) {
		found.rebuilt = found.anew
		return nil
	}
	var err error
	found.rebuilt, err = r.state.solveAnew(ctx, r.state.planner.Policy.Effort, all)
	return r.ended(ctx, err)
}

// owned are the nodes of pools whose price is known, launches of steps aside.
func (f *state) owned() map[string]bool {
	return f.nodesThat(func(s *candidate) bool { return !s.fresh && s.pool != nil && s.priced })
}

// rebuilt is a cluster bought afresh, in the words of a summary.
func (f *state) rebuilt(t *target) *Rebuilt {
	out := &Rebuilt{Nodes: t.nodes, PricePerHour: t.paid, LeftOut: t.leftOut}
	if f.planner.Policy.NodeOverhead > 0 || f.planner.Policy.Interruption != (scheduling.Interruption{}) {
		out.ExpectedPerHour = t.price
	}
	return out
}

// kept divides what the cluster costs more than built anew among the nodes that are there
// after the steps, see [Kept]; the most comes first.
func (r *run) kept(more offerings.Price, verdicts []Verdict) []Kept {
	if more <= 0 {
		return nil
	}
	codes := map[string]CauseCode{}
	for i := range verdicts {
		if v := &verdicts[i]; len(v.Reasons) > 0 {
			codes[v.Node] = v.Reasons[0].Code
		}
	}
	sum, waste := 0.0, map[CauseCode]float64{}
	parts := map[CauseCode]*Kept{CauseSearch: {Code: CauseSearch}}
	for _, s := range r.state.nodes {
		if s.gone || s.pool == nil || !s.priced {
			continue
		}
		lost := s.price
		for _, pod := range s.movers {
			lost -= r.findings.rebuilt.worth[podspec.PodName(pod)]
		}
		code := codes[s.name]
		if code == "" || code == CauseNoSaving || code == CauseReceives {
			code = CauseSearch
		}
		if parts[code] == nil {
			parts[code] = &Kept{Code: code}
		}
		parts[code].Nodes++
		waste[code] += float64(max(0, lost))
		sum += float64(max(0, lost))
	}
	out, rest := []Kept{}, more
	for code, part := range parts {
		if code != CauseSearch && sum > 0 {
			part.PerHour = offerings.Price(float64(more) * (waste[code] / sum))
			rest -= part.PerHour
		}
	}
	parts[CauseSearch].PerHour = rest
	for _, part := range parts {
		if part.PerHour > 0 {
			out = append(out, *part)
		}
	}
	slices.SortFunc(out, func(a, b Kept) int { return cmp.Or(cmp.Compare(b.PerHour, a.PerHour), cmp.Compare(a.Code, b.Code)) })
	return out
}

// alternative looks with little effort for the cheapest cluster of other NodePools, as
// [Summary.Rebuilt] is one of its own; nil where there are none to compare with, or no node
// of a pool has a price.
func (p Planner) alternative(ctx context.Context, c *Cluster) (*Rebuilt, error) {
	f := newState(p, c)
	all := f.owned()
	if len(c.Alternative) == 0 || len(all) == 0 || ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // nothing to compare with is no error, nor is too little time
	}
	other := c.Problem
	other.NodePools = c.Alternative
	f.problem = &other
	t, err := f.solveAnew(ctx, scheduling.EffortFast, all)
	if err != nil {
		return nil, err
	}
	return f.rebuilt(t), nil
}
