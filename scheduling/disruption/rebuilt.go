package disruption

import (
	"cmp"
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// rebuild looks for the cheapest cluster for the same pods, whatever holds nodes back.
func (r *run) rebuild(ctx context.Context) error {
	found := r.findings
	if found == nil || found.anew == nil || over(ctx) {
		return cancelled(ctx)
	}
	all := r.frame.owned()
	if len(all) == len(r.frame.loose) {
		found.rebuilt = found.anew
		return nil
	}
	var err error
	found.rebuilt, err = r.frame.solveAnew(ctx, r.frame.planner.Solver.Effort, all)
	return r.ended(ctx, err)
}

// owned are the nodes of pools whose price is known, launches of steps aside.
func (f *frame) owned() map[string]bool {
	all := map[string]bool{}
	for _, s := range f.subjects {
		if !s.fresh && s.pool != nil && s.priced {
			all[s.name] = true
		}
	}
	return all
}

// rebuilt is a cluster bought afresh, in the words of a summary.
func (f *frame) rebuilt(t *target) *Rebuilt {
	out := &Rebuilt{Nodes: t.nodes, PricePerHour: t.paid, LeftOut: t.leftOut}
	if f.planner.Solver.NodeOverhead > 0 || f.planner.Solver.Interruption != (scheduling.Interruption{}) {
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
	for _, s := range r.frame.subjects {
		if s.gone || s.pool == nil || !s.priced {
			continue
		}
		lost := s.price
		for _, pod := range s.movers {
			lost -= r.findings.rebuilt.worth[podName(pod)]
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
