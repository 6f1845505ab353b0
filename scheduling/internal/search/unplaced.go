package search

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Whom a rule counts or who holds it pins others to sites, even if in the end it finds no
// place itself: its rules were planned for, and left less to other pods. So where
// pods are left out, the rest is planned once more as if they did not exist.

// mostReplans bounds how many classes are given up one at a time.
const mostReplans = 3

// replanShare is the part, one in so many, of the work on moving pods between sites a plan may take at
// most for others to be made beside it.
const replanShare = 4

// replanned is the trial, or a better one that is planned beside it, without the pods that found no place or with fewer
// colocated units, where a plan takes little work to find.
func replanned(x *Trial, params pack.Params) Trial {
	if x.beside || x.Outcome.Late || x.effort() > seekWork(params)/replanShare {
		return *x
	}
	y, outbid := replanWithoutUnplaced(x, params)
	y = stackColocated(&y, params)
	y.beside, y.outbid = true, outbid
	return y
}

// replanWithoutUnplaced plans once more without the pods that found no place: without all of them, then
// without those of one class at a time. outbid reports that one of these plans binds more
// pods and is not better all the same, because its machines leave too little choice.
func replanWithoutUnplaced(x *Trial, params pack.Params) (best Trial, outbid bool) {
	best = *x
	out := unplacedPods(x.planner, x.Packing.Placed(x.Outcome.Solution))
	if len(out) == 0 {
		return best, false
	}
	sets := []map[int]int64{out}
	if classes := slices.Sorted(maps.Keys(out)); len(classes) > 1 {
		for _, i := range classes[:min(len(classes), mostReplans)] {
			sets = append(sets, map[int]int64{i: out[i]})
		}
	}
	sets = append(sets, fewLeftOfSpreads(x, out)...)
	score := best.Score()
	for _, gone := range sets {
		if best.Outcome.Late {
			break
		}
		y := newSitePlanner(x.planner.in, params.Late, gone, false).solved(params)
		if judged := y.Score(); judged.Better(score) {
			best, score = y, judged
		} else if slices.Compare(y.bind, best.bind) > 0 && wantsChoice(x.Packing.In) {
			outbid = true
		}
	}
	return best, outbid
}

// stackColocated plans once more with pods that follow others to their machines on as few of these as
// can be, where they went evenly to all: that leaves others small.
func stackColocated(x *Trial, params pack.Params) Trial {
	if x.Outcome.Late || !x.planner.book.Spread || x.planner.book.FewUnits || len(x.Outcome.Solution.Nodes) == 0 {
		return *x
	}
	y := newSitePlanner(x.planner.in, params.Late, x.planner.book.LeftOut, true).solved(params)
	if y.Score().Better(x.Score()) {
		return y
	}
	return *x
}

// fewLeftOfSpreads lists, where machines have to leave a choice, the pods to give up for so few pods of one
// class to be left that their spreads hold wherever these are: no site is chosen for them then.
func fewLeftOfSpreads(x *Trial, out map[int]int64) []map[int]int64 {
	if !wantsChoice(x.Packing.In) {
		return nil
	}
	var sets []map[int]int64
	for _, i := range slices.Sorted(maps.Keys(out)) {
		keep := out[i]
		for _, t := range x.Packing.In.TopologyTerms.List[x.Packing.In.Planned[i].TopologyTerms].Terms {
			if t.Kind == podspec.SpreadTerm && t.Weight == 0 && !t.PerHost() {
				keep = min(keep, t.MaxSkew)
			}
		}
		if keep < out[i] && len(sets) < mostReplans {
			gone := maps.Clone(out)
			gone[i] -= keep
			sets = append(sets, gone)
		}
	}
	return sets
}

// wantsChoice reports whether machines have to leave a choice, which is less at a single site.
func wantsChoice(c *instance.Instance) bool {
	return offers.On(c.Facts.Solver.Flexibility) || slices.ContainsFunc(c.Templates, func(v *offers.Template) bool { return len(offers.FloorKeys(v.Set)) > 0 })
}

// unplacedPods counts, by class, the pods that found no place though they could have one.
func unplacedPods(t *SitePlanner, placed []int64) map[int]int64 {
	out := map[int]int64{}
	for i, n := range placed {
		if left := int64(len(t.in.Planned[i].Pods)) - n; left > 0 && !t.book.Unplaceable[i] {
			out[i] = left
		}
	}
	return out
}
