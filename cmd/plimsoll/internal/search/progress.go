package search

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// progress shows a line of progress on stderr if that is a terminal, after the first second. The caller must pass the
// observer to the search, and call done at its end, which clears the line.
func progress(stderr io.Writer, what string) (observer scheduling.Observer, done func()) {
	terminal, ok := stderr.(*os.File)
	if !ok {
		return nil, func() {}
	}
	if info, err := terminal.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil, func() {}
	}
	var latest atomic.Pointer[scheduling.Progress]
	ticker, stop := time.NewTicker(time.Second), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		width := 0
		for seconds := 1; ; seconds++ {
			select {
			case <-ticker.C:
				line := progressText(what, seconds, latest.Load())
				_, _ = fmt.Fprintf(terminal, "\r%-*s", width, line)
				width = max(width, len(line))
			case <-stop:
				_, _ = fmt.Fprintf(terminal, "\r%s\r", strings.Repeat(" ", width))
				return
			}
		}
	})
	return func(p scheduling.Progress) { latest.Store(&p) }, func() {
		ticker.Stop()
		close(stop)
		wait.Wait()
	}
}

// progressText is the line that says how a search goes; p is nil before the first word of it.
func progressText(what string, seconds int, p *scheduling.Progress) string {
	line := fmt.Sprintf("%s: %d s", what, seconds)
	if p == nil {
		return line
	}
	if line += ", " + string(p.Phase); p.PricePerHour > 0 {
		line += fmt.Sprintf(", %v USD/h so far", p.PricePerHour)
	}
	return line
}
