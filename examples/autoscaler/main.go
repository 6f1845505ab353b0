// Command autoscaler is a complete autoscaler on a simulated cloud with a simulated clock.
// It shows how to embed Plimsoll, from the first pod to the last interruption.
//
//	go run .
//	go run . -days 7 -noise 0.02 -steady
//
// Pods come and go, spot prices move, offerings run out, spot machines are interrupted with
// two minutes' notice, and nodes expire and drift. A [controller.Controller] is told of all changes and
// acts through a cloud and an API server that are simulated here. The same flags give the same output.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

func main() {
	opts := defaults()
	saving := flag.String("min-saving", opts.saving.PerHour.String(), "what a step has to save, in USD per hour")
	flag.Uint64Var(&opts.seed, "seed", opts.seed, "seed of all that is left to chance")
	flag.IntVar(&opts.days, "days", opts.days, "days to simulate")
	flag.Float64Var(&opts.noise, "noise", opts.noise, "how far spot prices stray from the catalog's, as a share")
	flag.BoolVar(&opts.steady, "steady", opts.steady, "the same pods all the time; no expiry, no drift, nothing runs out")
	flag.DurationVar(&opts.surge, "surge", opts.surge, "for how long at the beginning there are half as many pods again")
	flag.Float64Var(&opts.interruptions, "interruptions", opts.interruptions, "how many times as often as the catalog says spot machines are taken away")
	flag.DurationVar(&opts.every, "every", opts.every, "how often the cluster is consolidated")
	flag.Float64Var(&opts.saving.Share, "min-share", opts.saving.Share, "what a step has to save, as a share of what its nodes cost")
	flag.BoolVar(&opts.nominate, "nominate", opts.nominate, "pods are nominated to their planned nodes, which join with a start-up taint")
	flag.BoolVar(&opts.check, "check", opts.check, "check every plan with package verify")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := simulate(ctx, opts, *saving)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// simulate runs the days and prints the totals.
func simulate(ctx context.Context, opts options, saving string) error {
	var err error
	if opts.saving.PerHour, err = offerings.ParsePrice(saving); err != nil {
		return err
	}
	l, err := newLoop(opts)
	if err != nil {
		return err
	}
	if err := l.run(ctx, time.Duration(opts.days)*24*time.Hour); err != nil {
		return err
	}
	l.print(os.Stdout)
	return nil
}

// options are the values of the flags.
type options struct {
	seed uint64
	days int
	// noise is the largest deviation of spot prices from the catalog's: 0.02 is 2 % up or down.
	noise float64
	// steady leaves out whatever comes and goes: the daily wave, batch jobs, scarcity,
	// expiry and drift.
	steady bool
	// surge is for how long at the beginning there are half as many pods again.
	surge time.Duration
	// interruptions multiplies the catalog's rates of spot interruption.
	interruptions float64
	// every is the interval of consolidation; saving is the least that a step must save.
	every  time.Duration
	saving disruption.Saving
	// policy is how machines are chosen for pods that wait.
	policy scheduling.Policy
	// nominate has pods nominated to their planned nodes, and these join with controller.StartupTaint.
	nominate bool
	// check has every plan checked by package verify.
	check bool
}

// defaults are the options of a run without flags.
func defaults() options {
	return options{
		seed: 1, days: 1, noise: 0.02, interruptions: 20, every: time.Hour, nominate: true,
		saving: disruption.Saving{PerHour: offerings.MustPrice("0.04"), Share: 0.15},
	}
}

// tick is how far the clock moves at a time.
const tick = 30 * time.Second

// jobs is how many batch jobs start on a day.
func (o *options) jobs() float64 {
	if o.steady {
		return 0
	}
	return 8
}
