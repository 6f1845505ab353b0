package schedulingtest

import (
	"context"
	"errors"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// cmdVerify says what a second opinion thinks of the last plan: ok, or every rule
// that it breaks.
//
//	verify
func cmdVerify(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 || len(input) > 0 {
		return "", errors.New("verify takes nothing")
	}
	if s.plan == nil {
		return "", errors.New("there is no plan")
	}
	problem := s.problem
	if len(problem.NodePools) == 0 {
		problem.NodePools = []*scheduling.NodePool{NodePool("default")}
	}
	if err := breaches(s.solver, problem, s.plan); err != nil {
		return "", err
	}
	return "ok", nil
}
