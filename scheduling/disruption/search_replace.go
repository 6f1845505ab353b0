package disruption

import (
	"context"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// groupSizes are how many nodes are replaced together.
func groupSizes() []int { return []int{1, 2, 4, 8, 16} }

// groups are how many nodes of a pool are replaced together: groupSizes, and as many as its
// budgets let go at once.
func (x *search) groups(p *poolState) []int {
	sizes := groupSizes()
	if p == nil || x.patient {
		return sizes
	}
	room := x.frame.room(p, Underutilized)
	at, ok := slices.BinarySearch(sizes, room)
	if ok || at == len(sizes) {
		return sizes
	}
	return append(sizes[:at], room)
}

// leastShare is the share of the price of nodes that a replacement has to save.
const leastShare = 0.03

// replace looks for nodes that cost less when others are bought in their place.
func (x *search) replace(ctx context.Context, order []rank) error {
	pools := map[string][]rank{}
	var names []string
	for i := range order {
		name := order[i].poolName()
		if pools[name] == nil {
			names = append(names, name)
		}
		pools[name] = append(pools[name], order[i])
	}
	for _, name := range names {
		if err := x.replaceIn(ctx, pools[name]); err != nil {
			return err
		}
	}
	return nil
}

func (x *search) replaceIn(ctx context.Context, list []rank) error {
	for len(list) > 0 && ctx.Err() == nil {
		var best *Step
		taken := 1
		if len(list) > manyNodes {
			taken = 2 // where groups overlap by nearly all, one in two tells enough
		}
		for _, size := range x.groups(list[0].pool) {
			if size > len(list) {
				continue
			}
			step, err := x.replacement(ctx, list[:size], best)
			if err != nil {
				return err
			}
			if step != nil {
				best, taken = step, size
			}
		}
		if best != nil {
			if err := x.take(best); err != nil {
				return err
			}
		}
		list = list[taken:]
	}
	return nil
}

// replacement is the move of nodes into free room and onto new machines, if it pays, and
// saves more for what it disrupts than another one. More than what the nodes waste is
// rarely saved, and twice as much never in practice; where it has been tried before with as
// much room elsewhere, it is known what it saves.
func (x *search) replacement(ctx context.Context, group []rank, than *Step) (*Step, error) {
	loss, price, cost := offerings.Price(0), offerings.Price(0), 0.0
	nodes := make([]string, len(group))
	for i := range group {
		loss, price, cost = clampPrice(loss, group[i].loss), clampPrice(price, group[i].price), cost+group[i].cost
		nodes[i] = group[i].name
	}
	better := func(saving offerings.Price) bool {
		return float64(saving) >= leastShare*float64(price) && (than == nil || float64(saving)*than.DisruptionCost > float64(than.SavingPerHour)*cost)
	}
	asked := x.frame.asked(price)
	if !better(loss) || loss < asked/2 {
		return nil, nil
	}
	key, now := x.groupKey(nodes), x.circumstances(nodes)
	if saved, known := x.state.recall.vain(key, now); known && (saved < asked || !better(saved)) {
		return nil, nil
	}
	o, err := x.state.ask(ctx, &question{nodes: nodes, buy: true, effort: scheduling.EffortFast, loose: x.loose})
	if err != nil {
		return nil, err
	}
	saved := offerings.Price(0)
	if len(o.stuck) == 0 {
		saved = price - x.frame.spent(o.launches)
	}
	x.state.recall.noteTrial(key, now, saved)
	step, cause := x.frame.admit(Underutilized, o)
	if cause != nil || !better(step.SavingPerHour) {
		return nil, nil
	}
	return step, nil
}
