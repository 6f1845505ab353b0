package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// solverFlags are the flags of the policy, the effort and the timeout.
type solverFlags struct {
	said      scheduling.Policy // the value of each flag, before they are combined
	goal      provisioning.Goal
	minValues string
	weights   string
	placement string
	timeout   time.Duration
}

// defaultOverhead is the price of a node beside that of its machine, by the public prices of us-east-1:
// 20 GiB of root volume (gp3, $0.08 per GB and month) and a public IPv4 address ($0.005 per
// hour). Nodes in private subnets have no address, but agents that are paid for by the host
// mostly cost more than one.
const defaultOverhead = "5.25/month"

// The values of --min-values-policy and --weights.
const strict, bestEffort, ignore = "strict", "best-effort", "ignore"

// The values of --placement.
const free, nominated, pinned = "free", "nominated", "pinned"

// register adds the flags to a command.
func (f *solverFlags) register(cmd *cobra.Command) {
	flags, s := cmd.Flags(), &f.said
	flags.Var(&parsed{text: "default", kind: "string", read: func(text string) (err error) {
		s.Effort, err = scheduling.ParseEffort(text)
		return err
	}}, "effort", "search `EFFORT`: fast, default, thorough or a number (default is 1000)")
	timeFlag(flags, &f.timeout, "timeout", "stop the search after this time and print the best plan found so far; 0 for no limit")
	grouped(cmd, groupSearch)

	f.goal, f.minValues, f.weights, f.placement = provisioning.GoalCheapest, strict, strict, free
	s.Effort, s.Ranking.Strategy = scheduling.EffortDefault, offerings.LowestPrice
	choiceFlag(flags, &s.Ranking.Strategy, "strategy", "how to rank offerings: `STRATEGY` is "+list(offerings.Strategies()), offerings.Strategies()...)
	choiceFlag(flags, &f.minValues, "min-values-policy", "`POLICY` when a NodePool's minValues cannot be met: strict launches nothing from it, best-effort relaxes them (Karpenter's MIN_VALUES_POLICY)", strict, bestEffort)
	choiceFlag(flags, &f.weights, "weights", "`POLICY` for NodePool weights: strict takes the NodePool of the highest weight that fits a pod, ignore chooses by price", strict, ignore)
	choiceFlag(flags, &f.placement, "placement", "`WHO` assigns pods to nodes: free is kube-scheduler without hints, and nodes are chosen by the estimated price after scheduling; nominated is kube-scheduler following status.nominatedNodeName; pinned is a scheduler that follows the plan", free, nominated, pinned)
	countFlag(flags, &s.MaxOptions, "max-options", "list at most `N` options for each launch; default 60")
	choiceFlag(flags, &f.goal, "goal", "optimize the plan for `GOAL`: "+list(provisioning.Goals())+"; plan --alternatives compares them", provisioning.Goals()...)
	flags.BoolVar(&s.NoSpot, "no-spot", false, "launch no spot nodes")
	sizeFlag(flags, &s.Size.Smallest, "smallest-node", "launch no node smaller than `SIZE`, such as cpu=2,memory=4Gi")
	sizeFlag(flags, &s.Size.Largest, "largest-node", "launch no node larger than `SIZE`, such as cpu=64,memory=256Gi")
	countFlag(flags, &s.Flexibility.Options, "spot-options", "keep at least `N` spot options for every launch that may be spot")
	countFlag(flags, &s.Flexibility.Types, "spot-types", "keep spot options of at least `N` instance types")
	countFlag(flags, &s.Flexibility.Families, "spot-families", "keep spot options of at least `N` instance families")
	countFlag(flags, &s.Flexibility.Zones, "spot-zones", "keep spot options in at least `N` zones")
	textFlag(flags, "max-workload-share", "place at most `PERCENT` of a workload's pods on one node, but never less than one pod", func(text string) (err error) {
		if s.WorkloadShare, err = strconv.Atoi(strings.TrimSuffix(text, "%")); err != nil || s.WorkloadShare < 1 || s.WorkloadShare > 100 {
			return errors.New("want a whole percentage from 1 to 100")
		}
		return nil
	})
	overhead := &parsed{text: defaultOverhead, kind: "string", read: func(text string) error {
		price, month, err := figures.ParseRate(text)
		if s.NodeOverhead = price; month {
			s.NodeOverhead = (price + offerings.HoursPerMonth/2) / offerings.HoursPerMonth
		}
		return err
	}}
	_ = overhead.read(defaultOverhead) // which can be read
	flags.Var(overhead, "node-overhead", "cost of a node on top of its instance, as `AMOUNT` in USD such as 0.01/hour or 7.30/month: root volume, IP address, agents licensed by host")
	moneyFlag(flags, &s.InterruptionCost.PerNode, "interruption-cost", "cost of a spot interruption in `USD`, added to prices in proportion to the interruption rate")
	moneyFlag(flags, &s.InterruptionCost.PerCore, "interruption-cost-per-core", "cost of a spot interruption in `USD` per vCPU of the node")
	textFlag(flags, "unstated-rate", "assume that `PERCENT` of spot nodes are interrupted in a month where the catalog has no rate; default 0", func(text string) (err error) {
		s.InterruptionCost.UnstatedRate, err = figures.ParsePercent(text)
		return err
	})
	grouped(cmd, groupBuy)
}

// solver returns the solver that the flags describe.
func (f *solverFlags) solver(market *marketFlags) (scheduling.Policy, error) {
	s := f.said
	s.Ranking.CapacityTypes, s.Filters = market.types, market.keep()
	s.MinValues, s.Weights = scheduling.MinValuesStrict, scheduling.WeightStrict
	if f.minValues == bestEffort {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	if f.weights == ignore {
		s.Weights = scheduling.WeightIgnore
	}
	s.Placement = map[string]scheduling.PlacementPolicy{
		free: scheduling.PlacementFree, nominated: scheduling.PlacementNominated, pinned: scheduling.PlacementPinned,
	}[f.placement]
	for name, least := range s.Size.Smallest {
		if most, ok := s.Size.Largest[name]; ok && least.Cmp(most) > 0 {
			return s, usagef("--smallest-node %s=%s: is above --largest-node %s=%s", name, least.String(), name, most.String())
		}
	}
	if i := s.InterruptionCost; i.UnstatedRate > 0 && i.PerNode == 0 && i.PerCore == 0 {
		return s, usagef("--unstated-rate: counts only with --interruption-cost or --interruption-cost-per-core")
	}
	return f.goal.Apply(s)
}

// plannerFlags are the flags that limit disruption and say for which savings it is allowed.
type plannerFlags struct {
	said disruption.Planner // the value of each flag, before they are combined
	bare bool
}

// register adds the flags to a command.
func (f *plannerFlags) register(cmd *cobra.Command) {
	flags, p := cmd.Flags(), &f.said
	order := []disruption.Reason{ // in the order in which they come first
		disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced,
	}
	textFlag(flags, "now", "`TIME` to plan for, such as 2026-11-21T09:00:00Z: disruption budgets, expiry and consolidateAfter depend on it; default now", func(text string) (err error) {
		if p.Now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("want a time like 2026-11-21T09:00:00Z")
		}
		return nil
	})
	listFlag(cmd, "reasons", "only disrupt nodes for these `REASONS`: "+list(order), func(text string) error {
		one, err := oneOf(text, order...)
		p.Reasons = append(p.Reasons, one)
		p.Rebalance = p.Rebalance || one == disruption.Misplaced
		return err
	})
	listFlag(cmd, "min-saving", "minimum saving of a step for underutilized nodes: `AMOUNT` in USD such as 0.05/hour or 30/month, or a share of the nodes' price such as 10%; may be repeated, and then all must be met", func(text string) error {
		return addSaving(&p.MinSaving, text)
	})
	numberFlag(flags, &p.BalancedK, "balanced-k", "for NodePools with consolidationPolicy Balanced take steps that score at least 1/`K`; default 2")
	flags.IntVar(&p.SpotToSpotTypes, "spot-to-spot-types", 0, "replace spot by spot only if at least `N` cheaper instance types remain; default 15, negative for never")
	timeFlag(flags, &p.MinLifetime, "min-lifetime", "minimum age (`TIME`) of a node before it is removed as empty or underutilized")
	numberFlag(flags, &p.NodeCost, "node-cost", "disruption cost of removing a node, in units of the eviction of one ordinary pod; default 1")
	countFlag(flags, &p.MaxSteps, "steps", "stop after `N` steps; default no limit")
	flags.BoolVar(&f.bare, "evict-bare-pods", false, "also evict unmanaged pods (which would not be recreated)")
	flags.BoolVar(&p.Rebalance, "rebalance", false, "also move pods that violate a rule, such as a topology spread, to nodes where they meet it")
	grouped(cmd, groupRemove)
}

// planner returns the planner that the flags describe.
func (f *plannerFlags) planner(s scheduling.Policy) disruption.Planner {
	p := f.said
	p.Policy, p.KeepBarePods = s, !f.bare
	if p.Rebalance && len(p.Reasons) > 0 {
		p.Reasons = append(p.Reasons, disruption.Misplaced)
	}
	p.Now = f.now()
	return p
}

// now is the current time.
func now() time.Time {
	return time.Now().UTC() //nolint:forbidigo // the command is where the time comes from
}

// now is the time of the decision.
func (f *plannerFlags) now() time.Time {
	if f.said.Now.IsZero() {
		return now()
	}
	return f.said.Now
}

// addSaving reads one threshold: 0.05/hour, 30/month or 10%.
func addSaving(s *disruption.Saving, text string) error {
	if text = strings.TrimSpace(text); strings.HasSuffix(text, "%") {
		share, err := figures.ParsePercent(text)
		s.Share = max(s.Share, share)
		return err
	}
	price, month, err := figures.ParseRate(text)
	if month {
		s.PerMonth = max(s.PerMonth, price)
	} else {
		s.PerHour = max(s.PerHour, price)
	}
	return err
}
