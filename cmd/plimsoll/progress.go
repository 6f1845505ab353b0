package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// progress shows on a terminal that work goes on, from the second second. What it
// returns ends that and wipes the line.
func (a *app) progress(what string) (done func()) {
	terminal, ok := a.stderr.(*os.File)
	if !ok {
		return func() {}
	}
	if info, err := terminal.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func() {}
	}
	ticker, stop := time.NewTicker(time.Second), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		width := 0
		for seconds := 1; ; seconds++ {
			select {
			case <-ticker.C:
				line := fmt.Sprintf("%s: %d s", what, seconds)
				width = len(line)
				_, _ = fmt.Fprintf(terminal, "\r%s", line)
			case <-stop:
				_, _ = fmt.Fprintf(terminal, "\r%s\r", strings.Repeat(" ", width))
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(stop)
		wait.Wait()
	}
}
