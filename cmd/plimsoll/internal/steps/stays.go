package steps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Stay is nodes that stay for the same cause.
type Stay struct {
	Code  disruption.CauseCode
	Nodes []*disruption.Verdict
	Price offerings.Price // the expected price per hour
}

// Best returns the node of the group with the move that would have saved the most, or any
// where none has one.
func (s *Stay) Best() *disruption.Verdict {
	return lo.MaxBy(s.Nodes, func(a, b *disruption.Verdict) bool {
		return a.Rejected != nil && (b.Rejected == nil || a.Rejected.SavingPerHour > b.Rejected.SavingPerHour)
	})
}

// Stays groups the nodes that stay by their first cause, the most expensive group first. price is the expected price of a
// node per hour, 0 if the bill does not count the node.
func Stays(plan *disruption.ConsolidationPlan, price func(v *disruption.Verdict) offerings.Price) []*Stay {
	index := map[disruption.CauseCode]*Stay{}
	for i := range plan.Nodes {
		v := &plan.Nodes[i]
		if v.Decision != disruption.Keep || len(v.Reasons) == 0 {
			continue
		}
		code := v.Reasons[0].Code
		if index[code] == nil {
			index[code] = &Stay{Code: code}
		}
		index[code].Nodes = append(index[code].Nodes, v)
		index[code].Price, _ = index[code].Price.Plus(price(v))
	}
	groups := lo.Values(index)
	slices.SortFunc(groups, func(a, b *Stay) int {
		return cmp.Or(cmp.Compare(b.Price, a.Price), cmp.Compare(len(b.Nodes), len(a.Nodes)), strings.Compare(string(a.Code), string(b.Code)))
	})
	return groups
}

// Blocked is the number of the nodes that a plan's lower bound keeps as they are, because they are no candidates: nodes of
// NodePools, of known price, that stay for a cause of their own. Budgets of NodePools do not count, because they limit how
// many nodes are removed at once.
func Blocked(plan *disruption.ConsolidationPlan) int {
	blocking := []disruption.CauseCode{
		disruption.CauseNoTypes, disruption.CauseNotReady, disruption.CauseBeingRemoved, disruption.CauseNominated, disruption.CauseDoNotDisrupt, disruption.CauseUnmanagedPod,
		disruption.CauseBudget, disruption.CausePolicy, disruption.CauseTooSoon, disruption.CauseStatic, disruption.CauseMinNodes, disruption.CauseReasonNotSelected,
	}
	return lo.CountBy(plan.Nodes, func(v disruption.Verdict) bool {
		return v.Decision == disruption.Keep && len(v.Reasons) > 0 && slices.Contains(blocking, v.Reasons[0].Code)
	})
}
