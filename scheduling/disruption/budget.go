package disruption

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// unbounded is the allowance for a reason that no budget is for.
const unbounded = math.MaxInt32

// defaultBudget is the budget of a pool that has none, as in Karpenter.
const defaultBudget = "10%"

// budgetReason is the name of a reason in budgets; "" for reasons that ask no budget.
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

// inForce are the active budgets of a pool. A budget that cannot be read (validation refuses it) is active and allows
// no node.
func inForce(pool *scheduling.NodePool, now time.Time) []scheduling.Budget {
	budgets := pool.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		return []scheduling.Budget{{Nodes: defaultBudget}}
	}
	var out []scheduling.Budget
	for _, b := range budgets {
		switch open, err := budgetOpen(&b, now); {
		case err != nil:
			b.Nodes = "0"
		case !open:
			continue
		}
		out = append(out, b)
	}
	return out
}

// budgetOpen reports whether a budget is active now.
func budgetOpen(b *scheduling.Budget, now time.Time) (bool, error) {
	if b.Schedule == nil && b.Duration == nil {
		return true, nil
	}
	if b.Schedule == nil || b.Duration == nil {
		return false, errors.New("schedule and duration belong together")
	}
	w, err := parseWindow(*b.Schedule, b.Duration.Duration)
	if err != nil {
		return false, err
	}
	return w.open(now), nil
}

// allowance is how many of the nodes of a pool active budgets let be unavailable at once for a reason: the least of
// the budgets for that reason.
func allowance(budgets []scheduling.Budget, reason Reason, nodes int) int {
	name := budgetReason(reason)
	if name == "" {
		return unbounded
	}
	least := unbounded
	for i := range budgets {
		b := &budgets[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, name) {
			continue
		}
		n, ok := shareOf(b.Nodes, nodes)
		if !ok {
			n = 0
		}
		least = min(least, n)
	}
	return least
}

// shareOf reads a count, or a percentage of a number, rounded up.
func shareOf(text string, of int) (int, bool) {
	v := intstr.Parse(text)
	return eviction.Scaled(&v, of)
}

// window is a recurring span of time: it opens at each time of a schedule, and lasts for a duration.
type window struct {
	schedule cron.Schedule
	lasts    time.Duration
}

// parseWindow reads a cron expression of five fields, or a macro such as @hourly, in UTC.
func parseWindow(expression string, lasts time.Duration) (*window, error) {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + expression)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", expression, err)
	}
	return &window{schedule: s, lasts: lasts}, nil
}

// open reports whether a time is inside the window. A window that opens again before it has closed stays open for
// longer.
func (w *window) open(now time.Time) bool {
	now = now.UTC()
	hit := w.schedule.Next(now.Add(-w.lasts))
	// A schedule without any time, e.g. for 30 February, has no next time.
	return !hit.IsZero() && !hit.After(now)
}

// reserveBudgets subtracts from each PodDisruptionBudget the most pods that one wave of a step under way may still
// evict.
func (f *state) reserveBudgets(underway []Step) {
	for i := range underway {
		taken, most := map[*eviction.Budget]map[int]int{}, map[*eviction.Budget]int{}
		for _, e := range underway[i].Evictions {
			pod := f.pods[e.Pod]
			if !e.ahead(pod) || !eviction.Active(pod) {
				continue
			}
			for _, g := range f.podBudgets.Charges(pod) {
				if taken[g] == nil {
					taken[g] = map[int]int{}
				}
				taken[g][e.Wave]++
				most[g] = max(most[g], taken[g][e.Wave])
			}
		}
		for g, n := range most {
			g.Allowed = max(0, g.Allowed-n)
		}
	}
}
