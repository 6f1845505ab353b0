package disruption

import (
	"context"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// groupSizes are how many nodes are replaced together.
func groupSizes() []int { return []int{16, 8, 4, 2, 1} }

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
		for _, size := range groupSizes() {
			if size > len(list) {
				continue
			}
			step, err := x.replacement(ctx, list[:size])
			if err != nil {
				return err
			}
			if step != nil && (best == nil || float64(step.SavingPerHour)*best.DisruptionCost > float64(best.SavingPerHour)*step.DisruptionCost) {
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

// replacement is the move of nodes into free room and onto new machines, if it pays.
func (x *search) replacement(ctx context.Context, group []rank) (*Step, error) {
	loss, price := int64(0), int64(0)
	nodes := make([]string, len(group))
	for i := range group {
		loss += int64(group[i].loss)
		price += int64(group[i].price)
		nodes[i] = group[i].name
	}
	if float64(loss) < leastShare*float64(price) {
		return nil, nil
	}
	o, err := x.state.ask(ctx, &question{nodes: nodes, buy: true, effort: scheduling.EffortFast})
	if err != nil {
		return nil, err
	}
	step, cause := x.frame.admit(Underutilized, o)
	if cause != nil || float64(step.SavingPerHour) < leastShare*float64(price) {
		return nil, nil
	}
	return step, nil
}
