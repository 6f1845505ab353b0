package scheduling

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// CheckStrata plans sites for a tied problem, and compares what is on offer for the parts with
// what it would be if every offer were looked at. It returns how many options there are, and
// from how many offers these were drawn; 0 where nothing is tied.
func CheckStrata(p *Problem, s *Solver, cautious bool) (options, drawn, offers int, err error) {
	base := compile(p, s, cautious)
	if !base.tied() {
		return 0, 0, 0, nil
	}
	t := newTies(base)
	e := t.split(topology.Plan(&t.planner))

	full := *e
	full.model = &model.Problem{Dims: e.model.Dims, BestEffort: e.model.BestEffort, Pools: e.model.Pools, Groups: e.model.Groups}
	full.bought, full.columns = nil, newRowTable(len(e.seats))
	full.offered = slices.Clone(e.offered)
	rows, softs := make([][]model.Bits, len(e.templates)), make([]model.Bits, len(e.templates))
	for ti := range e.templates {
		softs[ti] = model.NewBits(len(e.seats))
		rows[ti] = full.seatRows(ti, softs[ti])
	}
	full.dropVainWishes(rows, softs)
	for ti, v := range e.templates {
		x := &full.offered[ti]
		x.list = full.listOffers(v, x, rows[ti])
		full.addOptions(ti, x.list, full.weightRank()[v.number], softs[ti], newSupplies(&full), nil)
		got := e.offered[ti].list
		if !slices.EqualFunc(got, x.list, func(a, b templateOffer) bool {
			return a.offer == b.offer && a.room == b.room && slices.Equal(e.columns.rows[a.column], full.columns.rows[b.column])
		}) {
			return 0, 0, 0, fmt.Errorf("template %d has %d offers, not %d", ti, len(got), len(x.list))
		}
		offers += len(base.offered[ti].list)
		drawn += len(t.land.strata().firsts[ti])
	}
	full.thin()
	if got, want := fmt.Sprint(e.model.Options, e.bought), fmt.Sprint(full.model.Options, full.bought); got != want {
		return 0, 0, 0, fmt.Errorf("options are %s, not %s", got, want)
	}
	return len(e.bought), drawn, offers, nil
}
