package verify

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
)

// Checker judges plans. The zero value judges those of the zero Policy.
type Checker struct {
	// Policy holds the settings under which the plan was made. All are read but Effort
	// and those about preferences.
	Policy scheduling.Policy
	// SkipRefusals leaves out the search for better places: whether a pod that the plan refuses fits after all, and
	// whether a pool of a higher weight could have held one. That search takes longest on large problems.
	SkipRefusals bool
}

// Plan judges a plan of the zero Policy. It returns nil if the plan obeys every rule,
// otherwise a *[Report] with every violation; see [Checker.Plan].
func Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	return Checker{}.Plan(p, plan)
}

// Plan judges a plan against the problem that it is for. It returns nil if the plan
// obeys every rule, otherwise a *[Report]; errors.As also finds single violations.
// It changes neither the problem nor the plan. The problem is taken to be valid.
func (c Checker) Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	_, err := c.Prove(p, plan)
	return err
}

// Prove judges a plan as [Checker.Plan] does, and returns the proof of the plan's lower bound. With an error it is the
// proof as far as the certificate could be read; without a plan it is nil.
func (c Checker) Prove(p scheduling.Problem, plan *scheduling.Plan) (*Proof, error) {
	found := &rule.Report{}
	if plan == nil {
		found.Add(rule.NoPlan, "plan", "is nil")
		return nil, errorOf(found)
	}
	proof := launchplan.Judge(found, p, c.Policy, plan, !c.SkipRefusals)
	return exported(proof, 0), errorOf(found)
}
