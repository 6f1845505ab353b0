package disruption

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// window is a time that comes again and again: from each hit of a schedule for a while.
type window struct {
	schedule cron.Schedule
	lasts    time.Duration
}

// parseWindow reads a cron expression of five fields, or @hourly and its kin, in UTC.
func parseWindow(expression string, lasts time.Duration) (*window, error) {
	s, err := cron.ParseStandard("CRON_TZ=UTC " + expression)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", expression, err)
	}
	return &window{schedule: s, lasts: lasts}, nil
}

// open reports whether the window is open: some hit is not in the future, and not as long
// ago as the window lasts. Hits within an open window keep it open for longer.
func (w *window) open(now time.Time) bool {
	now = now.UTC()
	hit := w.schedule.Next(now.Add(-w.lasts))
	// A schedule that never hits, such as one for 30 February, has no next time.
	return !hit.IsZero() && !hit.After(now)
}
