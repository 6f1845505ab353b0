package schedulingtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// solveCommand solves the problem and prints the plan. Silently it checks every
// promise about plans, see [Audit] and check; a broken one fails the scenario.
func solveCommand(ctx context.Context, s *session, args []word, input []string) (string, error) {
	if len(input) > 0 {
		return "", fmt.Errorf("unexpected line %q", input[0])
	}
	var solver scheduling.Policy
	show := map[string]bool{}
	settings := settingsOf(&solver, show)
	for _, w := range args[1:] {
		set, ok := settings[w.key]
		if !ok || !w.hasValue && w.key != "no-spot" {
			return "", unexpected(w)
		}
		if err := set(w.value); err != nil {
			return "", err
		}
	}
	s.solver, s.plan = solver, nil
	plan, err := check(ctx, solver, s.withPool())
	if plan == nil {
		return "", err
	}
	if err != nil {
		s.broken = append(s.broken, err)
	}
	s.plan = plan
	return render(plan, s.groups, show), nil
}

// check is Audit with one processor, and again with eight.
func check(ctx context.Context, solver scheduling.Policy, p scheduling.Problem) (*scheduling.Plan, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	plan, err := Audit(ctx, solver, p)
	if plan == nil || err != nil {
		return plan, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return plan, err
	}
	runtime.GOMAXPROCS(8)
	if err := repeats(ctx, solver, p, text); err != nil {
		return plan, fmt.Errorf("with eight processors: %w", err)
	}
	return plan, nil
}

// verifyCommand returns package verify's judgement of the last plan: ok, or every rule that it breaks.
func verifyCommand(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 1 || len(input) > 0 {
		return "", errors.New("verify takes nothing")
	}
	if s.plan == nil {
		return "", errors.New("there is no plan")
	}
	if err := breaches(s.solver, s.withPool(), s.plan); err != nil {
		return "", err
	}
	return "ok", nil
}

// withPool is the problem, with a pool that may buy everything where it has none.
func (s *session) withPool() scheduling.Problem {
	p := s.problem
	if len(p.NodePools) == 0 {
		p.NodePools = []*scheduling.NodePool{NodePool("default")}
	}
	return p
}

// settingsOf returns the words of solve, each with the function that sets its field.
func settingsOf(s *scheduling.Policy, show map[string]bool) map[string]func(string) error {
	return map[string]func(string) error{
		"effort":                into(&s.Effort, scheduling.ParseEffort),
		"max-options":           into(&s.MaxOptions, strconv.Atoi),
		"min-values":            into(&s.MinValues, named[scheduling.MinValuesPolicy]),
		"weights":               into(&s.Weights, named[scheduling.WeightPolicy]),
		"preferences":           into(&s.Preferences, named[scheduling.PreferencePolicy]),
		"preference-price":      into(&s.PreferencePrice, offerings.ParsePrice),
		"strategy":              into(&s.Ranking.Strategy, offerings.ParseStrategy),
		"no-spot":               into(&s.NoSpot, func(text string) (bool, error) { return strconv.ParseBool(text + "true") }),
		"smallest":              into(&s.Size.Smallest, parseList),
		"largest":               into(&s.Size.Largest, parseList),
		"spot-options":          into(&s.Flexibility.Options, strconv.Atoi),
		"spot-types":            into(&s.Flexibility.Types, strconv.Atoi),
		"spot-families":         into(&s.Flexibility.Families, strconv.Atoi),
		"spot-zones":            into(&s.Flexibility.Zones, strconv.Atoi),
		"node-overhead":         into(&s.NodeOverhead, offerings.ParsePrice),
		"interruption":          into(&s.InterruptionCost.PerNode, offerings.ParseAmount),
		"interruption-per-core": into(&s.InterruptionCost.PerCore, offerings.ParseAmount),
		"unstated-rate":         into(&s.InterruptionCost.UnstatedRate, parsePercent),
		"workload-share": into(&s.WorkloadShare, func(text string) (int, error) {
			return strconv.Atoi(strings.TrimSuffix(text, "%"))
		}),
		"order": func(text string) error {
			var errs []error
			for name := range strings.SplitSeq(text, ",") {
				ct, err := offerings.ParseCapacityType(name)
				s.Ranking.CapacityTypes = append(s.Ranking.CapacityTypes, ct)
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		},
		"priorities": func(text string) error {
			s.Ranking.Priorities = map[string]int{}
			for name := range strings.FieldsSeq(text) {
				s.Ranking.Priorities[name] = len(s.Ranking.Priorities) + 1
			}
			return nil
		},
		"show": func(text string) error {
			for name := range strings.FieldsSeq(text) {
				show[name] = true
			}
			return nil
		},
	}
}

// into returns a function that sets a field to the value of a text.
func into[T any](field *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*field, err = parse(text)
		return err
	}
}

func named[T ~string](text string) (T, error) { return T(text), nil }

func parsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return percent / 100, err
}

func parseList(text string) (corev1.ResourceList, error) {
	amounts, err := parseAmounts(text)
	return Resources(amounts...), err
}
