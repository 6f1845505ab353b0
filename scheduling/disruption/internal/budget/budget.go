package budget

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

// Unbounded is the number of nodes allowed for a reason that no active budget is for.
const Unbounded = math.MaxInt32

// ofNoBudgets is the budget of a pool that has none, as in Karpenter.
const ofNoBudgets = "10%"

// Active are the budgets of a NodePool that are active at a time.
type Active []scheduling.Budget

// At are the budgets of a pool that are active at a time. A budget that cannot be read (validation refuses it) is active
// and allows no node, because a typing error must not let all nodes go.
func At(pool *scheduling.NodePool, now time.Time) Active {
	budgets := pool.Spec.Disruption.Budgets
	if len(budgets) == 0 {
		return Active{{Nodes: ofNoBudgets}}
	}
	var out Active
	for _, b := range budgets {
		switch open, err := isActive(&b, now); {
		case err != nil:
			b.Nodes = "0"
		case !open:
			continue
		}
		out = append(out, b)
	}
	return out
}

// Allowed is how many of a pool's nodes may be unavailable at once for a reason: the least of the budgets for that
// reason. The reason is named as in budgets, e.g. "Underutilized"; "" stands for reasons that ask no budget.
func (a Active) Allowed(reason string, nodes int) int {
	if reason == "" {
		return Unbounded
	}
	least := Unbounded
	for i := range a {
		b := &a[i]
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
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

// isActive reports whether a budget is active at a time.
func isActive(b *scheduling.Budget, now time.Time) (bool, error) {
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
