package verify

import (
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/steps"
)

// StepsChecker judges plans that disrupt nodes. The zero value judges those of the zero
// Planner.
type StepsChecker struct {
	// Planner holds the settings under which the plan was made. PodCost is called.
	Planner disruption.Planner
	// SkipBound leaves out the certificate of the lower bound, which takes longest.
	SkipBound bool
}

// Steps judges a plan of the zero Planner; see [StepsChecker.Steps].
func Steps(c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	return StepsChecker{}.Steps(c, plan)
}

// Steps carries a plan out, step by step, on the objects of the cluster that it is for. It returns nil if every step
// is allowed and possible when its turn comes and the plan's statements about it hold, otherwise a *[Report] in which
// objects of a step begin with "steps[0]/". A plan that passes is right wherever it is broken off, because no step is
// judged by later ones, except that no pod moves twice; only pods of nodes that had to go may move on once, in order
// to save. The cluster is taken to be valid, and neither it nor the plan is changed.
func (c StepsChecker) Steps(cluster disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	_, err := c.Prove(cluster, plan)
	return err
}

// Prove judges a plan as [StepsChecker.Steps] does, and returns the proof of the plan's lower bound: the price of existing
// nodes that cannot be removed is among its terms. With an error it is the proof as far as the certificate could be read;
// without a plan, or with SkipBound, it is nil.
func (c StepsChecker) Prove(cluster disruption.Cluster, plan *disruption.ConsolidationPlan) (*Proof, error) {
	found := &rule.Report{}
	if plan == nil {
		found.Add(rule.NoPlan, "plan", "is nil")
		return nil, errorOf(found)
	}
	audit := steps.New(c.Planner, cluster, plan)
	if audit.Judge(found); c.SkipBound {
		return nil, errorOf(found)
	}
	proof := exported(audit.ProveBound(found))
	return proof, errorOf(found)
}
