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

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Blocked is how much one cause keeps a cluster from saving.
type Blocked struct {
	// Code is the cause: Nodes nodes have it as their first reason to stay. [CauseSearch] stands for nodes that take
	// in pods, and for nodes without a cheaper move.
	Code  CauseCode `json:"code"`
	Nodes int       `json:"nodes"`
	// PerHour is how much less the cluster would cost after a plan's steps without this cause alone, in USD per hour
	// of expected prices, if Tried; otherwise it is an upper bound of that.
	PerHour offerings.Price `json:"perHour"`
	Tried   bool            `json:"tried"`
	// Changes are the changes of objects that remove the cause, all together, by object. There are none for a cause
	// that settings of the planner or only time removes, except budgets with a schedule: To says when these end.
	Changes []ObjectChange `json:"changes,omitempty"`
}

// AtMost says that PerHour is an upper bound above 0, so that the cluster may cost anything from 0 to PerHour less.
func (b *Blocked) AtMost() bool { return !b.Tried && b.PerHour > 0 }

// Blocked finds how much each cause for which nodes stay, in a plan of p for c, keeps the cluster from saving: first
// the causes that were tried, each part with the largest amount first. Of causes with no amount, only those are in the
// result that are the first reason of a node, unless they are [CauseSearch]. To find the amount, the cluster is changed so that the cause
// holds no node, and planned again. That takes time for each cause, so that causes with the largest upper bound come
// first, and only as many are tried as their plans have 40 nodes together: 20 with [scheduling.EffortFast], any
// number with [scheduling.EffortThorough]. Below that, clusters of more than 20 nodes are planned with the least
// effort, so that the plan's own effort may save more than the amount, and never less. The amount is the upper bound
// for the other causes, for causes that no change of settings or objects removes (e.g. a node that is not ready yet),
// and after the deadline.
//
// Amounts do not add up, because a node may have several causes, and pods may leave one node or another. The result
// is empty if [Underutilized] is not among the planner's reasons. Errors are those of [Planner.Plan], and that of a
// plan that is nil.
func (p Planner) Blocked(ctx context.Context, c Cluster, plan *ConsolidationPlan) ([]Blocked, error) {
	if plan == nil {
		return nil, fmt.Errorf("%w: plan: is nil", scheduling.ErrInvalid)
	}
	p.Observer = nil
	r, err := p.begin(ctx, &c, p.Policy.Placement == scheduling.PlacementFree, &provisioning.Session{})
	if err != nil || !r.state.rules.enabled(Underutilized) {
		return nil, err
	}
	s := &plan.Summary
	after := s.PricePerHourAfter
	if r.state.prices().ExceedMachines() {
		after = s.ExpectedPerHourAfter
	}
	all := blockersOf(r, plan)
	for _, o := range all {
		if outOfTime(ctx) {
			break
		}
		if err := o.boundSaving(ctx, r.state, p, c, s.LowerBoundPerHour, after); err != nil {
			return nil, err
		}
	}
	liftable := slices.DeleteFunc(slices.Clone(all), func(o *blockedCause) bool { return o.without == nil || o.PerHour == 0 })
	slices.SortFunc(liftable, func(a, b *blockedCause) int { return compareBlocked(a.Blocked, b.Blocked) })
	if err := tryEach(ctx, liftable[:min(len(liftable), mostTried(r.state))], r.state.planner.Policy.Effort, after); err != nil {
		return nil, err
	}
	out := []Blocked{}
	for _, o := range all {
		if o.PerHour > 0 || o.Nodes > 0 && o.Code != CauseSearch {
			out = append(out, o.Blocked)
		}
	}
	slices.SortFunc(out, compareBlocked)
	return out, nil
}

// compareBlocked orders causes: those that were tried come first, because an upper bound may be far above the amount;
// then the largest amount.
func compareBlocked(a, b Blocked) int {
	if a.Tried != b.Tried {
		return lo.Ternary(a.Tried, -1, 1)
	}
	return cmp.Or(cmp.Compare(b.PerHour, a.PerHour), cmp.Compare(a.Code, b.Code))
}

// blockedCause is a cause for which nodes stay.
type blockedCause struct {
	Blocked

	// nodes have it among their reasons to stay; none for the search, which already considers all candidates.
	nodes []*candidate
	// without makes the plan without the cause; nil if no change removes it.
	without *run
}

// blockersOf are the causes for which nodes stay in a plan, by code.
func blockersOf(r *run, plan *ConsolidationPlan) []*blockedCause {
	byCode := map[CauseCode]*blockedCause{}
	get := func(code CauseCode) *blockedCause {
		if byCode[code] == nil {
			byCode[code] = &blockedCause{Blocked: Blocked{Code: code}}
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
			code := blamedCause(r.state, v.Reasons[j].Code)
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
		get(CauseSearch) // a better search might launch less
	}
	out := []*blockedCause{}
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		if o := byCode[code]; o.Nodes > 0 || code == CauseSearch {
			out = append(out, o)
		}
	}
	return out
}

// blamedCause is the cause that a reason counts for: CauseSearch for reasons that no change of settings or objects
// removes.
func blamedCause(f *state, code CauseCode) CauseCode {
	switch code {
	case "", CauseNoSaving, CauseNeededForPods, CauseNoPlace, CauseDeadline, CauseReasonNotSelected:
		return CauseSearch
	case CauseSmallSaving:
		if f.planner.MinSaving == (Saving{}) {
			return CauseSearch // no least saving is set
		}
	}
	return code
}

// boundSaving sets the upper bound of the amount: the price after the steps minus the proven least price of clusters
// without the cause. The given bound is that of the cluster as it is.
func (o *blockedCause) boundSaving(ctx context.Context, now *state, p Planner, c Cluster, bound, after offerings.Price) error {
	f := now
	planner, cluster, changes, can := unblocked(now, p, c, o.Code, o.nodes)
	if can {
		var err error
		if o.without, err = planner.begin(ctx, &cluster, !now.pinned, now.sessions.Launch); err != nil {
			return unlessDeadline(ctx, err)
		}
		f = o.without.state
		f.skipExplanations, f.planner.Policy.Effort = true, trialEffort(now)
		o.without.noLookahead = f.planner.Policy.Effort != now.planner.Policy.Effort // the next plan is not made in advance either
		o.Changes = changes
	}
	loose := maps.Clone(f.disruptable)
	for _, s := range o.nodes {
		loose[s.name] = true
	}
	if bound == 0 || o.Code == CauseMinValues || !maps.Equal(loose, now.disruptable) {
		t, err := solveRebuild(ctx, f, scheduling.EffortFast, loose)
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		bound = t.bound
	}
	o.PerHour = max(0, after-bound)
	return nil
}

// The number of nodes of all clusters that are planned without a cause: in smaller clusters more causes are tried.
const (
	nodesTriedFast = 20
	nodesTried     = 40
)

// mostTried is how many causes are tried.
func mostTried(f *state) int {
	nodes := max(1, len(f.problem.Nodes))
	switch {
	case f.planner.Policy.Effort >= scheduling.EffortThorough:
		return math.MaxInt
	case f.fast():
		return nodesTriedFast / nodes
	}
	return nodesTried / nodes
}

// nodesWithOwnEffort is the number of nodes up to which a cluster is planned without a cause with the effort of the
// plan.
const nodesWithOwnEffort = 20

// trialEffort is the effort with which a cluster is planned without a cause: the plan's own if the cluster is small
// or the effort large, otherwise the least, which takes a third of the time.
func trialEffort(f *state) scheduling.Effort {
	if own := f.planner.Policy.Effort; own >= scheduling.EffortThorough || len(f.problem.Nodes) <= nodesWithOwnEffort {
		return own
	}
	return scheduling.EffortFast
}

// try plans the cluster without the cause. If less effort than the plan's finds no saving, the upper bound stays,
// because more effort might find one.
func (o *blockedCause) try(ctx context.Context, own scheduling.Effort, after offerings.Price) error {
	if err := o.without.search(ctx); err != nil || o.without.timedOut {
		return err
	}
	saved := after - o.without.state.tally().price
	if saved > 0 || o.without.state.planner.Policy.Effort == own {
		o.PerHour, o.Tried = max(0, saved), true
	}
	return nil
}

// tryEach plans the cluster without each of some causes, as many at a time as there are processors. Errors are in the
// order of the causes.
func tryEach(ctx context.Context, list []*blockedCause, own scheduling.Effort, after offerings.Price) error {
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
