package disruption

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// unbounded is how many nodes may go where no budget says anything.
const unbounded = math.MaxInt32

// defaultBudget holds for pools without any.
const defaultBudget = "10%"

// budgetReason is what budgets call a reason; "" where budgets say nothing about it.
func budgetReason(r Reason) string {
	switch r {
	case Drifted:
		return "Drifted"
	case Empty:
		return "Empty"
	case Underutilized:
		return "Underutilized"
	default:
		return ""
	}
}

// allowance is how many nodes of a pool may be away at once for a reason, of so many that
// it counts: the least of the budgets that are about the reason and in force. Where the
// budgets of a pool cannot be read (which validation refuses) none may go.
func allowance(pool *scheduling.NodePool, reason Reason, nodes int, now time.Time) int {
	name := budgetReason(reason)
	if name == "" {
		return unbounded
	}
	budgets := pool.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		budgets = []scheduling.Budget{{Nodes: defaultBudget}}
	}
	least := unbounded
	for i := range budgets {
		b := &budgets[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, name) {
			continue
		}
		least = min(least, budgetAllows(b, nodes, now))
	}
	return least
}

// budgetAllows is how many of so many nodes one budget lets go now.
func budgetAllows(b *scheduling.Budget, nodes int, now time.Time) int {
	if b.Schedule != nil {
		if b.Duration == nil {
			return 0
		}
		w, err := parseWindow(*b.Schedule, b.Duration.Duration)
		if err != nil {
			return 0
		}
		if !w.open(now) {
			return unbounded
		}
	}
	n, ok := shareOf(b.Nodes, nodes)
	if !ok {
		return 0
	}
	return n
}

// shareOf reads a count or a percentage, which is rounded up.
func shareOf(text string, of int) (int, bool) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 {
		return 0, false
	}
	if !percent {
		return int(n), true
	}
	return int((n*int64(of) + 99) / 100), true
}
