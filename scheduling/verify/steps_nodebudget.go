package verify

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// nodeBudgets checks that the pools let so many of their nodes go at once, and what the
// step says about that.
func (a *act) nodeBudgets() {
	goes := make(map[*pool]int)
	for _, s := range a.going {
		if s.pool != nil {
			goes[s.pool]++
		}
	}
	binding := !forced(a.step.Reason)
	told := make(map[string]bool)
	for _, u := range a.step.NodePools {
		object := "nodepool/" + u.NodePool
		pl := a.pools[u.NodePool]
		switch {
		case told[u.NodePool]:
			a.add(BudgetUse, object, "is listed twice")
		case pl == nil || goes[pl] == 0:
			a.add(BudgetUse, object, "no node of it is drained")
		default:
			room, counted := a.allowance(pl)
			if u.Nodes != goes[pl] || binding && u.Allowed != min(room, counted) {
				a.add(BudgetUse, object, "%d nodes of %d allowed are said to go, it is %d of %d", u.Nodes, u.Allowed, goes[pl], min(room, counted))
			}
		}
		told[u.NodePool] = true
	}
	for _, pl := range a.sortedPools() {
		if !binding || goes[pl] == 0 {
			continue
		}
		if room, _ := a.allowance(pl); goes[pl] > room {
			a.add(NodeBudget, "nodepool/"+pl.Name, "%d nodes go at once, %d may", goes[pl], room)
		}
		if !told[pl.Name] {
			a.add(BudgetUse, "nodepool/"+pl.Name, "%d nodes go, and the step does not say so", goes[pl])
		}
	}
}

// allowance is how many nodes of the pool may go now for the step's reason, and how many
// it counts. Of these, nodes that do not work or are being removed use the allowance up.
func (a *act) allowance(pl *pool) (room, counted int) {
	f := fleet{}
	if there := a.fleets[pl]; there != nil {
		f = *there
	}
	least := budgeted(pl.NodePool, a.step.Reason, f.counted, a.now)
	if least == math.MaxInt {
		return least, f.counted
	}
	return max(0, least-f.away), f.counted
}

// budgeted is how many of so many nodes may be away at once: the least that any budget says
// which is about the reason and in force, MaxInt where none is.
func budgeted(np *scheduling.NodePool, reason disruption.Reason, nodes int, now time.Time) int {
	budgets := np.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		budgets = []scheduling.Budget{{Nodes: "10%"}}
	}
	least := math.MaxInt
	for _, b := range budgets {
		if !isAbout(b, reason) {
			continue
		}
		if b.Schedule != nil && b.Duration != nil && !openAt(*b.Schedule, b.Duration.Duration, now) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(b.Nodes, "%"))
		if err != nil {
			n = 0
		} else if strings.HasSuffix(b.Nodes, "%") {
			n = int(math.Ceil(float64(n) * float64(nodes) / 100))
		}
		least = min(least, n)
	}
	return least
}

// isAbout reports whether the budget is about the reason. Budgets know three of them.
func isAbout(b scheduling.Budget, reason disruption.Reason) bool {
	name := map[disruption.Reason]string{
		disruption.Underutilized: "Underutilized", disruption.Empty: "Empty", disruption.Drifted: "Drifted",
	}[reason]
	if name == "" {
		return false
	}
	for _, r := range b.Reasons {
		if r == name {
			return true
		}
	}
	return len(b.Reasons) == 0
}

// openAt reports whether a time is within the duration after some hit of the schedule, by
// going back minute by minute.
func openAt(schedule string, lasts time.Duration, now time.Time) bool {
	c, ok := readCron(schedule)
	if !ok {
		return true
	}
	now = now.UTC()
	for t := now.Truncate(time.Minute); now.Sub(t) < lasts; t = t.Add(-time.Minute) {
		if c.hits(t) {
			return true
		}
	}
	return false
}
