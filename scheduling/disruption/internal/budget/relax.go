package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// longestWait is the time after which no end of budgets that follow each other without a pause is looked for.
const longestWait = 31 * 24 * time.Hour

// Relax changes as few budgets of a pool as possible so that they allow a number of its initialized nodes to be
// unavailable at once, by the reasons of the map. It returns the new budgets, and the changes in words. Budgets with a
// schedule, e.g. for business hours, are kept by waiting until they end: in the result they allow all nodes. Each other
// budget that allows too few nodes is raised, as a count or percentage as it is now. There are no words if nothing must
// be changed.
func Relax(budgets []scheduling.Budget, nodes int, least map[string]int, now time.Time) (changed []scheduling.Budget, words []string) {
	if len(budgets) == 0 {
		b := scheduling.Budget{Nodes: ofNoBudgets}
		if n := missing(&b, nodes, least); n > 0 {
			b.Nodes = raised(b.Nodes, nodes, n)
			words = append(words, fmt.Sprintf("raise spec.disruption.budgets from the default of %s to nodes: %q", ofNoBudgets, b.Nodes))
		}
		return []scheduling.Budget{b}, words
	}
	end, ends := endOf(slices.DeleteFunc(slices.Clone(budgets), func(b scheduling.Budget) bool {
		return b.Schedule == nil || missing(&b, nodes, least) == 0
	}), now)
	for i, b := range budgets {
		n := missing(&b, nodes, least)
		active, err := isActive(&b, now)
		switch {
		case n == 0 || !active || err != nil:
		case b.Schedule != nil && ends:
			words = append(words, fmt.Sprintf("wait until %s: the budget with schedule %q and nodes %q is active now", end.UTC().Format(time.RFC3339), *b.Schedule, b.Nodes))
			b = scheduling.Budget{Nodes: "100%", Reasons: b.Reasons} // without any budget the default would apply
		default:
			more := raised(b.Nodes, nodes, n)
			words = append(words, fmt.Sprintf("raise spec.disruption.budgets[%d].nodes from %s to %s", i, b.Nodes, more))
			b.Nodes = more
		}
		changed = append(changed, b)
	}
	return changed, words
}

// missing is the number of nodes that a budget must allow for its reasons, 0 if it does. The budgets of reasons whose
// number is above that of all nodes need only allow all.
func missing(b *scheduling.Budget, nodes int, least map[string]int) int {
	most := 0
	for reason, n := range least {
		if len(b.Reasons) == 0 || slices.Contains(b.Reasons, reason) {
			most = max(most, min(n, nodes))
		}
	}
	if allowed, ok := shareOf(b.Nodes, nodes); ok && allowed >= most {
		return 0
	}
	return most
}

// raised writes the least count, or the least percentage if it was one, that allows n of some nodes.
func raised(text string, nodes, n int) string {
	if strings.HasSuffix(text, "%") {
		return strconv.Itoa((n-1)*100/nodes+1) + "%" // shares are rounded up
	}
	return strconv.Itoa(n)
}

// endOf is the first time from now on at which none of some budgets with schedules is active. It reports false if there
// is none within [longestWait], or a schedule cannot be read.
func endOf(budgets []scheduling.Budget, now time.Time) (time.Time, bool) {
	end := now.UTC()
	for i := 0; i < len(budgets); {
		b := &budgets[i]
		if b.Duration == nil {
			return end, false
		}
		w, err := parseWindow(*b.Schedule, b.Duration.Duration)
		switch {
		case err != nil || end.Sub(now) > longestWait:
			return end, false
		case w.open(end):
			end, i = w.schedule.Next(end.Add(-w.lasts)).Add(w.lasts), 0 // those before may be active again
		default:
			i++
		}
	}
	return end, true
}
