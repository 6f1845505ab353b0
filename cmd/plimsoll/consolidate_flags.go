package main

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// plannerFlags say what may be disrupted, and for what.
type plannerFlags struct {
	now         string
	reasons     []string
	minSaving   []string
	balancedK   float64
	spotTypes   int
	minLifetime time.Duration
	nodeCost    float64
	rebalance   bool
	bare        bool
	steps       int
}

// register adds the flags to a command.
func (f *plannerFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.now, "now", "", "`TIME` of the decision, such as 2026-11-21T09:00:00Z, on which budgets, expiry and consolidateAfter depend; the present if not set")
	flags.StringSliceVar(&f.reasons, "reasons", nil, "disrupt nodes for these `REASONS` only: "+list(reasons()))
	flags.StringSliceVar(&f.minSaving, "min-saving", nil, "what a step for underutilized nodes has to save at least: `AMOUNT` is USD such as 0.05/hour or 30/month, or a share of what the nodes cost such as 10%; may be repeated, and then all have to be met")
	flags.Float64Var(&f.balancedK, "balanced-k", 0, "for pools with policy Balanced take steps that score at least 1/`K`; 0 is 2")
	flags.IntVar(&f.spotTypes, "spot-to-spot-types", 0, "replace spot by spot only where `N` cheaper instance types are left to choose from; 0 is 15, below 0 is never")
	flags.DurationVar(&f.minLifetime, "min-lifetime", 0, "leave nodes alone for this `TIME` before they are removed for being empty or underutilized")
	flags.Float64Var(&f.nodeCost, "node-cost", 0, "what removing a node costs, where evicting a pod of no special worth costs 1; 0 is 1")
	flags.IntVar(&f.steps, "steps", 0, "end the plan after `N` steps; 0 is never")
	flags.BoolVar(&f.bare, "evict-bare-pods", false, "also evict pods that have no controller and are gone for good then")
	flags.BoolVar(&f.rebalance, "rebalance", false, "also move pods that break a rule where they are, such as topology spread, to where they keep it")
	grouped(cmd, groupRemove)
}

// reasons returns the names of the reasons, in the order in which they come first.
func reasons() []string {
	return []string{
		string(disruption.Interrupted), string(disruption.Expired), string(disruption.Drifted),
		string(disruption.Empty), string(disruption.Underutilized), string(disruption.Misplaced),
	}
}

// planner returns the planner that the flags describe.
func (f *plannerFlags) planner(s scheduling.Solver) (p disruption.Planner, err error) {
	p = disruption.Planner{Solver: s, SpotToSpotTypes: f.spotTypes, KeepBarePods: !f.bare, Rebalance: f.rebalance, MaxSteps: f.steps}
	if p.Now, err = f.at(); err != nil {
		return p, err
	}
	for _, r := range f.reasons {
		if r, err = oneOf("reasons", strings.ToLower(strings.TrimSpace(r)), reasons()...); err != nil {
			return p, err
		}
		p.Reasons = append(p.Reasons, disruption.Reason(r))
		p.Rebalance = p.Rebalance || r == string(disruption.Misplaced)
	}
	if p.Rebalance && len(p.Reasons) > 0 {
		p.Reasons = append(p.Reasons, disruption.Misplaced)
	}
	for _, text := range f.minSaving {
		if err := addSaving(&p.MinSaving, text); err != nil {
			return p, err
		}
	}
	if !(f.balancedK >= 0) || math.IsInf(f.balancedK, 0) {
		return p, usagef("--balanced-k %v: must be a number from 0", f.balancedK)
	}
	if !(f.nodeCost >= 0) || math.IsInf(f.nodeCost, 0) {
		return p, usagef("--node-cost %v: must be a number from 0", f.nodeCost)
	}
	if f.steps < 0 {
		return p, usagef("--steps %d: must not be negative", f.steps)
	}
	if f.minLifetime < 0 {
		return p, usagef("--min-lifetime %s: must not be negative", f.minLifetime)
	}
	p.BalancedK, p.NodeCost, p.MinLifetime = f.balancedK, f.nodeCost, f.minLifetime
	return p, nil
}

// at is the time of the decision.
func (f *plannerFlags) at() (time.Time, error) {
	if f.now == "" {
		return time.Now().UTC(), nil //nolint:forbidigo // the command is where the time comes from
	}
	now, err := time.Parse(time.RFC3339, f.now)
	if err != nil {
		return now, usagef("--now %q: want a time like 2026-11-21T09:00:00Z", f.now)
	}
	return now, nil
}

// addSaving reads one threshold: 0.05/hour, 30/month or 10%.
func addSaving(s *disruption.Saving, text string) error {
	text = strings.TrimSpace(text)
	if number, ok := strings.CutSuffix(text, "%"); ok {
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !(share >= 0 && share <= 100) {
			return usagef("--min-saving %q: want a percentage from 0%% to 100%%", text)
		}
		s.Share = max(s.Share, share/100)
		return nil
	}
	price, month, err := parseRate("min-saving", text)
	switch {
	case err != nil:
		return err
	case month:
		s.PerMonth = max(s.PerMonth, price)
	default:
		s.PerHour = max(s.PerHour, price)
	}
	return nil
}
