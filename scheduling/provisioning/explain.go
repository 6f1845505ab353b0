package provisioning

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/explainer"
)

// Explainer answers questions about a plan: why a launch has its offering, where else a
// pod could go, which pods a node receives. Its answers are worked out when asked,
// from the problem and the plan alone. The zero Explainer knows no name. It is not safe for
// concurrent use.
type Explainer struct{ explainer *explainer.Explainer }

// errNoPlan refuses a plan that is nil.
var errNoPlan = fmt.Errorf("%w: plan is missing", scheduling.ErrInvalid)

// Explain returns an Explainer for a plan of p by a planner with the settings of s. It refuses the problems that
// [Planner.Plan] refuses. It does not check that the plan obeys the rules: see package verify.
func (s Planner) Explain(p scheduling.Problem, plan *scheduling.Plan) (*Explainer, error) {
	facts, err := instance.NewFacts(&p, &s.Policy)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, errNoPlan
	}
	return &Explainer{explainer.New(facts, plan, fleetParams(facts, nil).Brief)}, nil
}

// Pod explains the place of a pod, or the reasons why it has none. The name is namespace/name, or the pod's name alone
// if it is in one namespace only. The error is an [explanation.UnknownNameError].
func (x *Explainer) Pod(name string) (*explanation.PodExplanation, error) {
	if x.explainer == nil {
		return nil, &explanation.UnknownNameError{Kind: "pod", Name: name}
	}
	return x.explainer.Pod(name)
}

// Launch explains the launch of a name. The error is an [explanation.UnknownNameError], or says
// that its offering is not available.
func (x *Explainer) Launch(name string) (*explanation.LaunchExplanation, error) {
	if x.explainer == nil {
		return nil, &explanation.UnknownNameError{Kind: "launch", Name: name}
	}
	return x.explainer.Launch(name)
}

// Node explains which pods an existing node receives, and why it does not receive the pods without a place. The error
// is an [explanation.UnknownNameError].
func (x *Explainer) Node(name string) (*explanation.NodeExplanation, error) {
	if x.explainer == nil {
		return nil, &explanation.UnknownNameError{Kind: "node", Name: name}
	}
	return x.explainer.Node(name)
}
