package state

import (
	"context"
	"log/slog"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// WarningLog logs the warnings of plans that are made again and again: each one once, until a plan does not have it. The
// zero value has logged none. It is for one goroutine at a time.
type WarningLog struct {
	last map[scheduling.Warning]bool
}

// Log logs the warnings of the next plan that the plan before did not have: those that say why a plan may be wrong at
// level warn, and notes ([scheduling.Warning].Note) at level debug.
func (l *WarningLog) Log(ctx context.Context, log *slog.Logger, warnings []scheduling.Warning) {
	before := l.last
	l.last = map[scheduling.Warning]bool{}
	for _, w := range warnings {
		if !before[w] && !l.last[w] {
			level := slog.LevelWarn
			if w.Note {
				level = slog.LevelDebug
			}
			log.Log(ctx, level, w.Message, "object", w.Object)
		}
		l.last[w] = true
	}
}
