package schedulingtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// cmdSolve solves the problem and prints the plan. Silently it checks every
// promise about plans, see [Check]; a broken one fails the scenario.
//
//	solve [effort=fast|default|thorough|N] [max-options=N] [min-values=POLICY] [weights=POLICY]
//	      [preferences=POLICY] [preference-price=USD] [strategy=NAME] [order=CT,…] [priorities=(TYPE…)]
//	      [no-spot] [smallest=(RESOURCE=QUANTITY…)] [largest=(RESOURCE=QUANTITY…)]
//	      [node-overhead=USD] [interruption=USD] [interruption-per-core=USD] [unstated-rate=N%]
//	      [spot-options=N] [spot-types=N] [spot-families=N] [spot-zones=N] [workload-share=N%]
//	      [show=(options requests labels taints requirements reasons fixes warnings)]
//
// It prints the launches, alike ones on one line, then the nodes that receive pods,
// the pods that fit nowhere, and the sums.
func cmdSolve(ctx context.Context, s *session, args []word, input []string) (string, error) {
	if len(input) > 0 {
		return "", fmt.Errorf("unexpected line %q", input[0])
	}
	var solver scheduling.Solver
	show := map[string]bool{}
	for _, w := range args {
		if err := parseSolveWord(w, &solver, show); err != nil {
			return "", err
		}
	}
	problem := s.problem
	if len(problem.NodePools) == 0 {
		problem.NodePools = []*scheduling.NodePool{NodePool("default")}
	}
	s.solver, s.plan = solver, nil
	plan, err := audit(ctx, solver, problem)
	if plan == nil {
		return "", err
	}
	if err != nil {
		s.broken = append(s.broken, err)
	}
	s.plan = plan
	return render(plan, s.groups, show), nil
}

func parseSolveWord(w word, solver *scheduling.Solver, show map[string]bool) error {
	switch w.key {
	case "effort":
		effort, err := parseEffort(w.value)
		solver.Effort = effort
		return err
	case "max-options":
		n, err := strconv.Atoi(w.value)
		solver.MaxOptions = n
		return err
	case "min-values":
		solver.MinValues = scheduling.MinValuesPolicy(w.value)
	case "weights":
		solver.Weights = scheduling.WeightPolicy(w.value)
	case "preferences":
		solver.Preferences = scheduling.PreferencePolicy(w.value)
	case "preference-price":
		price, err := offerings.ParsePrice(w.value)
		solver.PreferencePrice = price
		return err
	case "strategy":
		strategy, err := offerings.ParseStrategy(w.value)
		solver.Ranking.Strategy = strategy
		return err
	case "order":
		var errs []error
		for name := range strings.SplitSeq(w.value, ",") {
			ct, err := offerings.ParseCapacityType(name)
			solver.Ranking.CapacityTypes = append(solver.Ranking.CapacityTypes, ct)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	case "priorities":
		solver.Ranking.Priorities = map[string]int{}
		for name := range strings.FieldsSeq(w.value) {
			solver.Ranking.Priorities[name] = len(solver.Ranking.Priorities) + 1
		}
	case "show":
		for name := range strings.FieldsSeq(w.value) {
			show[name] = true
		}
	default:
		return parseKnobWord(w, solver)
	}
	return nil
}

func parseEffort(text string) (scheduling.Effort, error) {
	switch text {
	case "fast":
		return scheduling.EffortFast, nil
	case "default":
		return scheduling.EffortDefault, nil
	case "thorough":
		return scheduling.EffortThorough, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return scheduling.Effort(n), err
}
