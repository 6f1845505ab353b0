package main

import (
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// options say what is simulated.
type options struct {
	seed uint64
	days int
	// noise is how far spot prices stray from those of the catalog: 0.02 is 2 % up or down.
	noise float64
	// steady leaves out whatever comes and goes: the daily wave, batch jobs, scarcity,
	// expiry and drift.
	steady bool
	// surge is for how long at the beginning there are half as many pods again.
	surge time.Duration
	// interruptions is how many times as often spot machines are taken away as the catalog
	// says.
	interruptions float64
	// every is how often the cluster is consolidated, saving what a step has to save.
	every  time.Duration
	saving disruption.Saving
	// check has every plan checked by package verify.
	check bool
}

// defaults are the options of a run without flags.
func defaults() options {
	return options{
		seed: 1, days: 1, noise: 0.02, interruptions: 20, every: time.Hour,
		saving: disruption.Saving{PerHour: offerings.MustPrice("0.04"), Share: 0.15},
	}
}

// tick is how far the clock moves at a time.
const tick = 30 * time.Second

// start is when the simulated time begins, a Monday.
func start() time.Time { return time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC) }
