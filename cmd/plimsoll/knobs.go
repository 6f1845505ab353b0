package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// knobFlags say what kind of plan is wanted.
type knobFlags struct {
	goal              string
	noSpot            bool
	smallest, largest string
	flexibility       scheduling.Flexibility
	overhead          string
	perNode, perCore  string
	unstatedRate      string
	share             string
}

// register adds the flags to a command.
func (f *knobFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.goal, "goal", string(scheduling.GoalCheapest), "what the plan is to be best at: `GOAL` is "+list(goals())+"; plan --alternatives compares them")
	flags.BoolVar(&f.noSpot, "no-spot", false, "buy no spot machines")
	flags.StringVar(&f.smallest, "smallest-node", "", "buy no machine with less than `SIZE`, such as cpu=2,memory=4Gi")
	flags.StringVar(&f.largest, "largest-node", "", "buy no machine with more than `SIZE`, such as cpu=64,memory=256Gi")
	flags.IntVar(&f.flexibility.Options, "spot-options", 0, "leave every launch that may become a spot machine at least `N` spot options")
	flags.IntVar(&f.flexibility.Types, "spot-types", 0, "leave it spot options of at least `N` instance types")
	flags.IntVar(&f.flexibility.Families, "spot-families", 0, "leave it spot options of at least `N` families of types")
	flags.IntVar(&f.flexibility.Zones, "spot-zones", 0, "leave it spot options in at least `N` zones")
	flags.StringVar(&f.share, "max-workload-share", "", "put at most `PERCENT` of the pods of a workload onto one machine, but never less than one pod")
	flags.StringVar(&f.overhead, "node-overhead", defaultOverhead, "what a node costs beside its machine, as `AMOUNT` in USD such as 0.01/hour or 7.30/month: root volume, address, agents that are paid for by the host")
	flags.StringVar(&f.perNode, "interruption-cost", "", "what it costs in `USD` when a spot machine is taken away: it is added to prices by how often that happens")
	flags.StringVar(&f.perCore, "interruption-cost-per-core", "", "what it costs in `USD` for each core of the machine")
	flags.StringVar(&f.unstatedRate, "unstated-rate", "", "take spot machines whose interruption rate nobody states for such that `PERCENT` of them are interrupted in a month; 0 if not set")
	grouped(cmd, groupBuy)
}

// defaultOverhead is what a node costs beside its machine, by the public prices of us-east-1:
// 20 GiB of root volume (gp3, $0.08 per GB and month) and a public IPv4 address ($0.005 per
// hour). Nodes in private subnets have no address, but agents that are paid for by the host
// mostly cost more than one.
const defaultOverhead = "5.25/month"

// goals returns the names of the goals.
func goals() []string {
	var out []string
	for _, g := range scheduling.Goals() {
		out = append(out, string(g))
	}
	return out
}

// apply sets what the flags say on a solver.
func (f *knobFlags) apply(s *scheduling.Solver) error {
	goal, err := oneOf("goal", f.goal, goals()...)
	if err != nil {
		return err
	}
	s.NoSpot = f.noSpot
	if s.Size.Smallest, err = parseSize("smallest-node", f.smallest); err != nil {
		return err
	}
	if s.Size.Largest, err = parseSize("largest-node", f.largest); err != nil {
		return err
	}
	for name, least := range s.Size.Smallest {
		if most, ok := s.Size.Largest[name]; ok && least.Cmp(most) > 0 {
			return usagef("--smallest-node %s=%s: is above --largest-node %s=%s", name, least.String(), name, most.String())
		}
	}
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"spot-options", f.flexibility.Options},
		{"spot-types", f.flexibility.Types},
		{"spot-families", f.flexibility.Families},
		{"spot-zones", f.flexibility.Zones},
	} {
		if n.value < 0 {
			return usagef("--%s %d: must not be negative", n.flag, n.value)
		}
	}
	s.Flexibility = f.flexibility
	price, month, err := parseRate("node-overhead", f.overhead)
	if err != nil {
		return err
	}
	if s.NodeOverhead = price; month {
		s.NodeOverhead = (price + hoursPerMonth/2) / hoursPerMonth
	}
	if s.Interruption, err = f.interruption(); err != nil {
		return err
	}
	if f.share != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(f.share, "%"))
		if err != nil || n < 1 || n > 100 {
			return usagef("--max-workload-share %q: want a whole percentage from 1 to 100", f.share)
		}
		s.WorkloadShare = n
	}
	*s, err = s.For(scheduling.Goal(goal))
	return err
}

// interruption returns what an interruption costs.
func (f *knobFlags) interruption() (i scheduling.Interruption, err error) {
	if i.PerNode, err = parseAmount("interruption-cost", f.perNode); err != nil {
		return i, err
	}
	if i.PerCore, err = parseAmount("interruption-cost-per-core", f.perCore); err != nil {
		return i, err
	}
	if f.unstatedRate == "" {
		return i, nil
	}
	if i.UnstatedRate, err = parsePercent("unstated-rate", f.unstatedRate); err != nil {
		return i, err
	}
	if i.UnstatedRate > 0 && i.PerNode == 0 && i.PerCore == 0 {
		return i, usagef("--unstated-rate %q: counts only with --interruption-cost or --interruption-cost-per-core", f.unstatedRate)
	}
	return i, nil
}

// parseRate reads what something costs per hour, or in a month of 730 hours: 0.05/hour,
// 30/month.
func parseRate(flag, text string) (price offerings.Price, month bool, err error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), "/")
	if price, err = offerings.ParsePrice(strings.TrimPrefix(number, "$")); err != nil {
		return 0, false, usagef("--%s %q: %w", flag, text, err)
	}
	switch strings.ToLower(unit) {
	case "", "h", "hr", "hour":
		return price, false, nil
	case "month", "mo":
		return price, true, nil
	}
	return 0, false, usagef("--%s %q: want an amount per hour or per month, such as 0.05/hour or 30/month", flag, text)
}

// parseAmount reads an amount of money; "" is none.
func parseAmount(flag, text string) (offerings.Amount, error) {
	if text == "" {
		return 0, nil
	}
	amount, err := offerings.ParseAmount(text)
	if err != nil {
		return 0, usagef("--%s: %w", flag, err)
	}
	return amount, nil
}

// parsePercent reads a share, with or without a percent sign.
func parsePercent(flag, text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent >= 0 && percent <= 100) {
		return 0, usagef("--%s %q: want a percentage from 0 to 100", flag, text)
	}
	return percent / 100, nil
}

// parseSize reads resources: cpu=2,memory=4Gi. "" is none.
func parseSize(flag, text string) (corev1.ResourceList, error) {
	if text == "" {
		return nil, nil
	}
	out := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		wrong := func(err error) error { return usagef("--%s %q: %w", flag, part, err) }
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		name := corev1.ResourceName(key)
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			return nil, wrong(errors.New("want cpu=QUANTITY or memory=QUANTITY"))
		}
		if _, twice := out[name]; twice {
			return nil, wrong(fmt.Errorf("%s stands there twice", name))
		}
		q, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, wrong(fmt.Errorf("%q is no quantity: want a number like 2, 500m or 4Gi", value))
		}
		if q.Sign() <= 0 {
			return nil, wrong(errors.New("must be above 0"))
		}
		out[name] = q
	}
	return out, nil
}
