package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// solve decides, and has the decision checked by a second opinion before anybody
// sees it.
func (f *solverFlags) solve(ctx context.Context, a *app, s scheduling.Policy, p *problem) (plan *scheduling.Plan, err error) {
	err = f.search(ctx, a, fmt.Sprintf("planning %s", figures.Count(len(p.Problem.Pods), "pod")), func(ctx context.Context, o scheduling.Observer) error {
		plan, err = provisioning.Planner{Policy: s, Observer: o}.Plan(ctx, p.Problem)
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, a.checked(quickCheck(s).Plan(p.Problem, plan))
}

// search runs a search for as long as --timeout and the user let it, with its progress shown.
func (f *solverFlags) search(ctx context.Context, a *app, what string, work func(context.Context, scheduling.Observer) error) error {
	a.searching.Store(true)
	limited := context.Context(untilInterrupted{ctx})
	if f.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(limited, f.timeout)
		defer cancel()
	}
	observer, done := a.progress(what)
	err := work(limited, observer)
	done()
	switch {
	case ctx.Err() != nil:
		a.stopped = "an interrupt"
	case limited.Err() != nil:
		a.stopped = "--timeout"
	}
	return err
}

// quickCheck is the check that every plan goes through. Whether a refused pod could have
// been given a place is a question of quality, and costs more than the rest: "plimsoll
// verify" asks it.
func quickCheck(s scheduling.Policy) verify.Checker {
	return verify.Checker{Policy: s, SkipRefusals: true}
}

// checked passes on what a second opinion says of a plan of our own.
func (a *app) checked(err error) error {
	if err != nil {
		a.say("The plan did not pass the check that every plan goes through. This is a defect of plimsoll, please report it.")
	}
	return err
}

// untilInterrupted is a context whose cancellation counts as its deadline, so that a search
// that it ends returns the best that it has found.
type untilInterrupted struct {
	parent context.Context //nolint:containedctx // it is one itself
}

// Deadline implements [context.Context].
func (c untilInterrupted) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements [context.Context].
func (c untilInterrupted) Done() <-chan struct{} { return c.parent.Done() }

// Err implements [context.Context].
func (c untilInterrupted) Err() error {
	if c.parent.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. There is none: contexts made from this one would find
// its parent, and end with the parent's error.
func (c untilInterrupted) Value(any) any { return nil }

// progress shows on a terminal that work goes on, from the second second. What it
// returns is to be told of the search, and to be called at its end, which wipes the line.
func (a *app) progress(what string) (observer scheduling.Observer, done func()) {
	terminal, ok := a.stderr.(*os.File)
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

// mergeWarnings puts those of reading and those of planning into one order.
func mergeWarnings(lists ...[]scheduling.Warning) []scheduling.Warning {
	all := slices.Concat(lists...)
	if all == nil {
		return []scheduling.Warning{}
	}
	slices.SortFunc(all, func(a, b scheduling.Warning) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
