package disruption

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// verdicts are the decisions about the nodes of the cluster, by name.
func verdicts(r *run) []Verdict {
	drained := map[string]int{}
	for i := range r.steps {
		for _, name := range r.steps[i].Drain {
			drained[name] = i + 1
		}
	}
	out := []Verdict{}
	for _, s := range r.state.nodes {
		if s.launched {
			continue
		}
		as := instancetypes.OfferingOf(s.node)
		v := Verdict{
			Node: s.name, Decision: Keep, Step: drained[s.name], NodePool: s.poolName(),
			InstanceType: as.InstanceType, Zone: as.Zone, CapacityType: string(as.CapacityType), PricePerHour: s.machinePrice, Drift: s.drifted,
		}
		if v.Step > 0 {
			v.Decision = Drain
		} else {
			v.Reasons = reasonsToStay(r, s)
			if r.findings != nil {
				v.Rejected = r.findings.rejected[s.name]
			}
		}
		out = append(out, v)
	}
	return out
}

// reasonsToStay are the causes for which a node stays: first against forced steps, then those for which it is no candidate,
// then that it takes in pods, then those against its moves. There is always one.
func reasonsToStay(r *run, s *candidate) []Cause {
	var out []Cause
	add := func(causes ...Cause) {
		for _, c := range causes {
			out = withCause(out, c)
		}
	}
	f := r.state
	add(r.causes[s.name]...)
	if !f.rules.enabled(Underutilized) {
		if len(s.reschedulable) == 0 && s.pool != nil {
			add(f.rules.blockers(s, Empty)...)
		}
		add(notEnabledCause(Underutilized))
		return out
	}
	before := *s
	before.machine = s.original // pods have only arrived by the plan itself
	blockers := f.rules.blockers(&before, Underutilized)
	add(blockers...)
	if s.receivedPods {
		add(Cause{Code: CauseNeededForPods, Detail: "pods of drained nodes are rescheduled to it"})
	}
	if len(blockers) == 0 && s.pool != nil {
		if full := f.poolBudgetCause(s.pool, Underutilized, 1); full != nil {
			add(*full)
		}
	}
	if found := r.findings; found != nil && len(blockers) == 0 {
		if best := found.rejected[s.name]; best != nil {
			add(best.Because)
		}
		add(found.causes[s.name]...)
	}
	switch {
	case len(out) > 0:
	case r.done:
		add(Cause{Code: CauseStepsLimit, Detail: fmt.Sprintf("the plan ends after %d steps, before all moves of the node were considered", len(r.steps))})
	case r.timedOut || r.findings == nil || r.findings.timedOut:
		add(Cause{Code: CauseDeadline, Detail: "the deadline passed before it was considered"})
	default:
		add(Cause{Code: CauseNoSaving, Detail: "costs " + perHour(s.machinePrice) + ", and no cheaper alternative was found"})
	}
	return out
}

// mostRejected is for how many candidates that stay a rejected move is looked for. For the others the detail has the
// dual values of their pods.
const mostRejected = 256

// explainStays finds the causes for which candidates stay, the most wasteful first.
func explainStays(ctx context.Context, r *run) error {
	out := r.findings
	if out == nil || out.target == nil || r.state.skipExplanations {
		return nil
	}
	out.rejected, out.causes = map[string]*RejectedMove{}, map[string][]Cause{}
	x := newSearch(r.state, out.target, consolidation{}.candidates(r))
	order := x.byWaste()
	for i := range order {
		r := &order[i]
		if ctx.Err() != nil {
			out.causes[r.name] = []Cause{{Code: CauseDeadline, Detail: "the deadline passed before its best move was searched for"}}
			continue
		}
		detail := fmt.Sprintf("costs %s, and the cheapest capacity for its pods costs %s", perHour(r.price), perHour(r.price-r.waste))
		out.causes[r.name] = []Cause{{Code: CauseNoSaving, Detail: detail}}
		if cause := refusalCause(x.state, r.name); cause != nil {
			out.causes[r.name] = []Cause{*cause}
			continue
		}
		if i >= mostRejected {
			continue
		}
		o, err := simulate(ctx, x.state, &whatIf{nodes: []string{r.name}, launch: true, effort: scheduling.EffortFast})
		if err != nil {
			return unlessDeadline(ctx, err)
		}
		out.rejected[r.name] = x.rejectedMove(r, o)
		out.causes[r.name] = []Cause{out.rejected[r.name].Because}
	}
	return nil
}

// rejectedMove is a move of one node that was not made, and the cause against it.
func (x *search) rejectedMove(r *rankedCandidate, o *outcome) *RejectedMove {
	m := moveOf(x.state, o.nodes)
	out := &RejectedMove{Drain: o.nodes, SavingPerHour: m.Price - x.state.prices().Launches(o.launches), DisruptionCost: m.Cost}
	out.Score, _ = scoreOf(x.state, m, out.SavingPerHour)
	for i := range o.launches {
		out.Launches, out.PricePerHour = append(out.Launches, o.launches[i].Options[0]), offerings.Sum(out.PricePerHour, o.launches[i].Price)
	}
	if _, cause := decide(x.state, Underutilized, o, nil); cause != nil {
		out.Because = *cause
		return out
	}
	out.Because = Cause{Code: CauseSmallSaving, Detail: fmt.Sprintf(
		"saves %s of %s, below the threshold of %g %% of the price", perHour(out.SavingPerHour), perHour(r.price), 100*wasteThresholds()[0])}
	return out
}
