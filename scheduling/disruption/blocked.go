package disruption

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Blocked is what one cause keeps a cluster from saving.
type Blocked struct {
	// Code is the cause: the first of the reasons for which Nodes nodes stay. [CauseSearch] stands for
	// nodes that take in pods, and for those of which no cheaper move was found.
	Code  CauseCode `json:"code"`
	Nodes int       `json:"nodes"`
	// PerHour is how much less the cluster costs after a plan's steps if this cause alone is lifted, by
	// expected prices, where Tried says that it was tried; else it is at most so much.
	PerHour offerings.Price `json:"perHour"`
	Tried   bool            `json:"tried"`
	// Changes are the changes of objects that lift it, all together, by object. A cause that settings of the planner
	// lift has none, and neither has one that only time lifts.
	Changes []Change `json:"changes,omitempty"`
}

// Change is a change of an object by which a cause is lifted.
type Change struct {
	// Object is what is changed, as kind/name or kind/namespace/name.
	Object string `json:"object"`
	// To says in a few words what it is changed to.
	To string `json:"to"`
}

// Blocked says of the causes for which nodes stay, in a plan of p for c, what each keeps the cluster from
// saving; the most comes first, and causes that keep it from nothing are left out. What lifting a cause alone
// saves is tried: the cluster is changed so that the cause no longer holds any node, and is planned again. That takes
// its time for each cause, so that those come first that could save the most by a bound, and only as many are tried as
// their plans have 40 nodes together: 20 with [scheduling.EffortFast], and any number with
// [scheduling.EffortThorough]. Below that, clusters of more than 20 nodes are planned with the least effort, so that the
// effort of the plan may save more than is told, and never less. Of the others, of those that nobody can lift, such as
// nodes that are not ready yet, and of those that a deadline keeps from being tried, the bound is told.
//
// Savings do not add up: a node may be held by several causes, and pods may leave one node or another. Nothing is
// told where [Underutilized] is not among the planner's reasons. Errors are those of [Planner.Plan], and a plan
// that is nil.
func (p Planner) Blocked(ctx context.Context, c Cluster, plan *Plan) ([]Blocked, error) {
	if plan == nil {
		return nil, fmt.Errorf("%w: plan: is nil", scheduling.ErrInvalid)
	}
	p.Observer = nil
	r, err := p.begin(ctx, &c, p.Policy.Placement == scheduling.PlacementFree, &provisioning.Session{})
	if err != nil || !r.state.enabled(Underutilized) {
		return nil, err
	}
	s := &plan.Summary
	after := s.PricePerHourAfter
	if r.state.hasExpectedCosts() {
		after = s.ExpectedPerHourAfter
	}
	all := r.blockers(plan)
	for _, o := range all {
		if outOfTime(ctx) {
			break
		}
		if err := o.boundSaving(ctx, r.state, p, c, s.LowerBoundPerHour, after); err != nil {
			return nil, err
		}
	}
	liftable := slices.DeleteFunc(slices.Clone(all), func(o *blocker) bool { return o.without == nil || o.PerHour == 0 })
	slices.SortFunc(liftable, func(a, b *blocker) int { return compareBlocked(a.Blocked, b.Blocked) })
	if err := tryEach(ctx, liftable[:min(len(liftable), r.state.mostTried())], r.state.planner.Policy.Effort, after); err != nil {
		return nil, err
	}
	out := []Blocked{}
	for _, o := range all {
		if o.PerHour > 0 {
			out = append(out, o.Blocked)
		}
	}
	slices.SortFunc(out, compareBlocked)
	return out, nil
}

// compareBlocked orders causes, those that keep the cluster from saving most before others.
func compareBlocked(a, b Blocked) int {
	return cmp.Or(cmp.Compare(b.PerHour, a.PerHour), cmp.Compare(a.Code, b.Code))
}

// obstacle is a cause for which nodes stay.
type blocker struct {
	Blocked

	// held are the nodes that have it among their reasons; none for the search, which looks at those that may go.
	nodes []*candidate
	// unblocked is the making of a plan without it; nil where nobody can lift it.
	without *run
}

// obstacles are the causes for which nodes stay in a plan, by code.
func (r *run) blockers(plan *Plan) []*blocker {
	byCode := map[CauseCode]*blocker{}
	get := func(code CauseCode) *blocker {
		if byCode[code] == nil {
			byCode[code] = &blocker{Blocked: Blocked{Code: code}}
		}
		return byCode[code]
	}
	for i := range plan.Nodes {
		v := &plan.Nodes[i]
		s := r.state.byName[v.Node]
		if v.Decision != Keep || s == nil || s.pool == nil || !s.priced || s.machine.MinimumFixed && s.machine.MustStay != "" {
			continue
		}
		first := CauseSearch
		for j := range v.Reasons {
			code := r.state.blamedCause(v.Reasons[j].Code)
			if j == 0 {
				first = code
			}
			if o := get(code); code != CauseSearch && !slices.Contains(o.nodes, s) {
				o.nodes = append(o.nodes, s)
			}
		}
		get(first).Nodes++
	}
	if s := &plan.Summary; s.Launches > 0 {
		get(CauseSearch) // what steps launch may be more than it has to be, too
	}
	out := []*blocker{}
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		if o := byCode[code]; o.Nodes > 0 || code == CauseSearch {
			out = append(out, o)
		}
	}
	return out
}

// blamed is the cause that a reason counts for: the search where nothing but the search found nothing.
func (f *state) blamedCause(code CauseCode) CauseCode {
	switch code {
	case "", CauseNoSaving, CauseReceives, CauseNoPlace, CauseDeadline, CauseReasonNotMeant:
		return CauseSearch
	case CauseSmallSaving:
		if f.planner.MinSaving == (Saving{}) {
			return CauseSearch // the move is too small for anybody
		}
	}
	return code
}

// limit finds how much lifting the cause saves at most: what the cluster costs after the steps beyond a price that is
// proven for clusters without it; bound is the one that is proven for the cluster as it is.
func (o *blocker) boundSaving(ctx context.Context, now *state, p Planner, c Cluster, bound, after offerings.Price) error {
	f := now
	planner, cluster, changes, can := now.unblock(p, c, o)
	if can {
		var err error
		if o.without, err = planner.begin(ctx, &cluster, !now.pinned, now.launchSession); err != nil {
			return unlessDeadline(ctx, err)
		}
		f = o.without.state
		f.skipExplanations, f.planner.Policy.Effort = true, now.trialEffort()
		o.without.noLookahead = f.planner.Policy.Effort != now.planner.Policy.Effort // nor is the next plan made in advance
		o.Changes = changes
	}
	loose := maps.Clone(f.disruptable)
	for _, s := range o.nodes {
		loose[s.name] = true
	}
	if bound == 0 || o.Code == CauseMinValues || !maps.Equal(loose, now.disruptable) {
		t, err := f.solveRebuild(ctx, scheduling.EffortFast, loose)
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		bound = t.bound
	}
	o.PerHour = max(0, after-bound)
	return nil
}

// A plan is tried without so many causes that the nodes of all tries are these: of clusters with fewer nodes more causes are tried.
const (
	nodesTriedFast = 20
	nodesTried     = 40
)

// tries is how many causes are tried.
func (f *state) mostTried() int {
	nodes := max(1, len(f.problem.Nodes))
	switch {
	case f.planner.Policy.Effort >= scheduling.EffortThorough:
		return math.MaxInt
	case f.fast():
		return nodesTriedFast / nodes
	}
	return nodesTried / nodes
}

// nodesOfOwnEffort is up to how many nodes a cluster is planned without a cause with the effort of the plan.
const nodesWithOwnEffort = 20

// effortOfTries is that with which the cluster is planned without a cause: the plan's own where the cluster is small or
// the effort large, and else the least, which takes a third of the time.
func (f *state) trialEffort() scheduling.Effort {
	if own := f.planner.Policy.Effort; own >= scheduling.EffortThorough || len(f.problem.Nodes) <= nodesWithOwnEffort {
		return own
	}
	return scheduling.EffortFast
}

// try plans the cluster without the cause. That less effort than the plan's has found nothing says nothing.
func (o *blocker) try(ctx context.Context, own scheduling.Effort, after offerings.Price) error {
	if err := o.without.search(ctx); err != nil || o.without.timedOut {
		return err
	}
	saved := after - o.without.state.tally().price
	if saved > 0 || o.without.state.planner.Policy.Effort == own {
		o.PerHour, o.Tried = max(0, saved), true
	}
	return nil
}

// tryEach plans the cluster without each of some causes, as many at a time as there are processors. Errors come in
// the order of the causes.
func tryEach(ctx context.Context, list []*blocker, own scheduling.Effort, after offerings.Price) error {
	errs := make([]error, len(list))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		workers.Go(func() {
			for i := range next {
				errs[i] = list[i].try(ctx, own, after)
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}
