package search

import (
	"context"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// siteRounds is how often sites are planned anew because the planner took plans for
// possible that were not: room, limits or reservations were used up by others.
const siteRounds = 8

// dearestPreference is how much dearer, as a factor, preferences about single machines may make a
// plan before they are relaxed.
const dearestPreference = 2

// Solve plans sites and machines in turn. Sites are compared by the machines that the least work finds for
// them. [Trial.Continue] goes on from its result with more work.
//
// Briefly, it ends with the first plan of sites whose machines hold all pods.
func (t *SitePlanner) Solve(params pack.Params) *Trial {
	params.Work = 0
	if params.Brief {
		t.sketch = true
		x := t.planned(params)
		return &x
	}
	x := t.solved(params)
	x = replanned(&x, params)
	return &x
}

// solved is the best for all pods with machines that the least work finds.
func (t *SitePlanner) solved(params pack.Params) Trial {
	brief := params
	brief.Work, brief.Brief = 0, true
	found := t.planned(brief)
	found = replanWithoutEmptyDomains(t, found, brief)
	found = reprice(t, found, brief)
	found = searchDomains(&found, brief, seekWork(params))
	return found.refined(params)
}

// planned is the plan of sites, and machines for it, with preferences about single machines relaxed as far as they
// have to be.
func (t *SitePlanner) planned(params pack.Params) Trial {
	if t.preferencesPerHost() {
		if x := t.relax(params); x.complete() {
			return x // nothing that more rounds could learn from
		}
	}
	return t.rounds(params, true)
}

// relax finds out how far preferences per host have to be relaxed: as little as is needed
// for the plan to place as many pods and to cost at most twice as much as without
// them, or, where preferences have a price, no more than they are worth. It returns the plan that shows it.
func (t *SitePlanner) relax(params pack.Params) Trial {
	t.scale = 0
	plain := t.rounds(params, true)
	placed, most := podspec.Sum(plain.Packing.Placed(plain.Outcome.Solution)), plain.price()*dearestPreference
	if t.in.Facts.Solver.Preferences == scheduling.PreferencesPrice {
		most = plain.price()
		for i := range t.book.Units {
			u := &t.book.Units[i]
			for _, m := range t.book.List[u.Signature].PerNodeLimits {
				if k := t.book.PerNodeLimits[m.Limit]; k.Weight > 0 && m.Holds {
					most += t.in.Facts.Solver.PreferencePrice * offerings.Price(k.Weight*u.Count) / podspec.UnsatisfiedWeight
				}
			}
		}
	}
	largest := int64(1)
	for i := range t.book.Units {
		pods := int64(0)
		for _, p := range t.book.Units[i].Members {
			pods += p.N
		}
		largest = max(largest, t.book.Units[i].Count*pods)
	}
	for t.scale = 1; t.scale <= largest; t.scale *= 2 {
		x := t.rounds(params, false)
		if podspec.Sum(x.Packing.Placed(x.Outcome.Solution)) >= placed && x.price() <= most {
			return x
		}
	}
	t.scale = 0
	return plain
}

// rounds plans sites, packs machines, and does both again as long as the planner can
// learn from the pods that did not fit. It returns the best: the one in which most pods bind of the highest
// priority that differs, among these the best by its score, and among these the first. Units that
// found no place lose pods if they may, for all rounds to come.
func (t *SitePlanner) rounds(params pack.Params, shrink bool) (best Trial) {
	t.forget()
	for range siteRounds {
		x := t.try(params)
		if c := slices.Compare(x.bind, best.bind); best.planner == nil || c > 0 || c == 0 && x.Score().Better(best.Score()) {
			best = x
		}
		learnt := t.learn(&x)
		if shrink && t.shrink(&x) {
			learnt = true
		}
		if !learnt || x.Outcome.Late {
			break
		}
	}
	return best
}

// forget lifts the limits that earlier rounds have set.
func (t *SitePlanner) forget() {
	for i := range t.problem.Classes {
		for s := range t.problem.Classes[i].Sites {
			t.problem.Classes[i].Sites[s].Limit = -1
		}
	}
}

// learn limits the sites at which parts were left out to the pods that found a place there, and
// counts domains that machines of other pods have opened. It reports whether that
// could change anything.
func (t *SitePlanner) learn(x *Trial) bool {
	news := false
	for i := range x.Packing.Parts {
		p := &x.Packing.Parts[i]
		if left := x.Outcome.Solution.Unplaced[i]; p.Pinned && left > 0 {
			site := &t.problem.Classes[t.classOf[p.Unit]].Sites[p.Site]
			if site.Limit < 0 || site.Limit > p.Count-left {
				site.Limit = p.Count - left
				news = true
			}
		} else if kin := t.book.Units[p.Unit].Signature; left > 0 && x.Packing.FeasibleSets[p.FeasibleSet].Rows != nil && !t.roaming[kin] {
			t.roaming[kin], news = true, true
			t.stated++
		}
	}
	opened := false
	for r, domains := range t.domainsOf(locationsOf(x.Packing, x.Outcome.Solution)) {
		counted := t.countedDomains(r)
		for _, d := range domains {
			if len(counted) > 0 && !counted[d] {
				t.problem.Rules[r].Domains[d].Eligible = true
				t.book.Rules[r].Domains[d].Eligible = true
				opened = true
			}
		}
	}
	if opened { // nobody has to keep away from there any more
		t.rows, t.away = stayAway(t), map[int]bool{}
		t.stated++
	}
	return news || opened
}

// shrink takes pods out of units that found no place, so that those whom others follow
// may find one without them. It reports whether there were any.
func (t *SitePlanner) shrink(x *Trial) bool {
	placed := make([]int64, len(t.book.Units))
	for i := range x.Packing.Parts {
		placed[x.Packing.Parts[i].Unit] += x.Packing.Parts[i].Count - x.Outcome.Solution.Unplaced[i]
	}
	if !t.book.Shrink(placed) {
		return false
	}
	t.plan()
	return true
}

// try plans sites, then machines.
func (t *SitePlanner) try(params pack.Params) Trial {
	plan := t.begun
	if t.begun = nil; plan == nil {
		plan = t.planSites()
	}
	return t.pack(plan, params)
}

// planSites plans sites, and reassigns pods to cheaper ones where these are known by their costs.
func (t *SitePlanner) planSites() *topology.Result {
	p := t.problem
	p.Proofs = t.proofs
	return topology.Plan(&p)
}

// pack finds machines for a plan of sites.
func (t *SitePlanner) pack(plan *topology.Result, params pack.Params) Trial {
	x := Trial{planner: t.snapshot(), counts: plan.Counts}
	x.Packing = t.split(plan)
	y := x.with(pack.Search(x.Packing.Model, params))
	if y.brief = params.Brief; y.brief && !t.sketch && y.misses() {
		params.Brief = false
		y = y.with(pack.Search(x.Packing.Model, params))
		y.brief = false
	}
	return y
}

// EarlyBound is [prove.Proofs.EarlyBound]. At the same time it plans sites for the first time.
func (t *SitePlanner) EarlyBound(ctx context.Context, proofs *prove.Proofs) (enough int64) {
	if !proofs.EndsEarly() {
		return 0
	}
	var other sync.WaitGroup
	other.Go(func() { enough = proofs.EarlyBound(ctx) })
	t.begun = t.planSites()
	other.Wait()
	return enough
}
