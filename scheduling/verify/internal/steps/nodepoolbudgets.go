package steps

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

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
	name, known := map[disruption.Reason]string{
		disruption.Underutilized: "Underutilized", disruption.Empty: "Empty", disruption.Drifted: "Drifted",
	}[reason]
	return known && (len(b.Reasons) == 0 || slices.Contains(b.Reasons, name))
}

// openAt reports whether a time is within the duration after some hit of the schedule.
func openAt(schedule string, lasts time.Duration, now time.Time) bool {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + schedule)
	if err != nil {
		return true
	}
	hit := s.Next(now.UTC().Add(-lasts))
	return !hit.IsZero() && !hit.After(now)
}
