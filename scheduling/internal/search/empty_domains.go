package search

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// A spread counts with every domain in which its pods could be, so that they really
// spread. kube-scheduler knows those domains only in which there are nodes. Where pods
// would be left out for the sake of a domain in which nothing is bought in the end, it
// is better to do without that domain.

// replanWithoutEmptyDomains plans again without following those who have no place, and without the domains in
// which a solution buys nothing.
func replanWithoutEmptyDomains(t *SitePlanner, best Trial, params pack.Params) Trial {
	if best.complete() || best.Outcome.Late {
		return best
	}
	try := func(closed func(class, site int) bool) {
		t.forget()
		for i := range t.problem.Classes {
			for s := range t.problem.Classes[i].Sites {
				if closed(i, s) {
					t.problem.Classes[i].Sites[s].Limit = 0
				}
			}
		}
		for range replanRounds {
			x := t.try(params)
			if slices.Compare(x.bind, best.bind) > 0 {
				best = x
			}
			if !t.learn(&x) || x.Outcome.Late {
				return
			}
		}
	}
	if t.book.Unfollow(best.Packing.Placed(best.Outcome.Solution)) {
		t.plan()
		try(func(int, int) bool { return false })
	}
	if len(t.problem.Classes) == 0 {
		return best
	}
	used := usedSites(t, &best)
	try(func(class, site int) bool {
		return !used[class][site] && len(t.problem.Classes[class].Sites[site].Bins) == 0
	})
	t.forget()
	return best
}

// replanRounds is how often each of these attempts learns from the pods that did not fit.
const replanRounds = 2

// usedSites tells, by planner class, at which sites a trial buys machines.
func usedSites(t *SitePlanner, x *Trial) [][]bool {
	out := make([][]bool, len(t.problem.Classes))
	for i := range out {
		out[i] = make([]bool, len(t.problem.Classes[i].Sites))
	}
	for _, location := range locationsOf(x.Packing, x.Outcome.Solution) {
		for c := range out {
			out[c][t.book.List[t.book.Units[t.units[c]].Signature].Part.At[location]] = true
		}
	}
	return out
}
