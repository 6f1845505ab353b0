package disruption

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// mostRejected is for how many nodes that stay the best move is looked for that was not
// taken. Of the others it is said what their pods are worth.
const mostRejected = 256

// explain says of nodes that may go and stay what speaks against it, those that waste most
// first.
func (r *run) explain(ctx context.Context) error {
	out := r.findings
	if out == nil || out.anew == nil {
		return nil
	}
	out.rejected, out.causes = map[string]*Rejected{}, map[string][]Cause{}
	x := &search{state: r.state, target: out.anew, receiving: r.state.receiving()}
	order := slices.DeleteFunc(x.order(), func(r rank) bool { return r.fresh }) // nobody asks about the plan's own launches
	for i := range order {
		r := &order[i]
		if ctx.Err() != nil {
			out.causes[r.name] = []Cause{{Code: CauseDeadline, Detail: "the deadline passed before its best move was looked for"}}
			continue
		}
		detail := fmt.Sprintf("costs %s per hour, and the room that its pods take costs %s where it is cheapest", r.price, r.price-r.loss)
		out.causes[r.name] = []Cause{{Code: CauseNoSaving, Detail: detail}}
		if cause := x.state.dismisses(r.name); cause != nil {
			out.causes[r.name] = []Cause{*cause}
			continue
		}
		if i >= mostRejected {
			continue
		}
		o, err := x.state.ask(ctx, &question{nodes: []string{r.name}, buy: true, effort: scheduling.EffortFast})
		if err != nil {
			return past(ctx, err)
		}
		out.rejected[r.name] = x.refused(r, o)
		out.causes[r.name] = []Cause{out.rejected[r.name].Because}
	}
	return nil
}

// refused is a move of one node that was not taken, and why.
func (x *search) refused(r *rank, o *outcome) *Rejected {
	m := x.state.moveOf(o.nodes)
	out := &Rejected{Drain: o.nodes, SavingPerHour: m.price - x.state.spent(o.launches), DisruptionCost: m.cost}
	score, _ := x.state.score(m, out.SavingPerHour)
	out.Score = finite(score)
	for i := range o.launches {
		out.Launches, out.PricePerHour = append(out.Launches, o.launches[i].Options[0]), clampPrice(out.PricePerHour, o.launches[i].Price)
	}
	if _, cause := x.state.admit(Underutilized, o); cause != nil {
		out.Because = *cause
		return out
	}
	out.Because = Cause{Code: CauseSmallSaving, Detail: fmt.Sprintf(
		"saves %s of %s per hour; machines that waste less than %g %% of their price are not replaced", out.SavingPerHour, r.price, 100*wastes()[0])}
	return out
}
