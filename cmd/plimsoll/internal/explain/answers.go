package explain

import (
	"errors"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Answers answers the questions, and says in unknown which of them have no answer.
func Answers(policy scheduling.Policy, s *manifest.Snapshot, plan *scheduling.Plan, subjects []Subject) (answers []any, unknown, err error) {
	x, err := provisioning.Planner{Policy: policy}.Explain(s.Problem, plan)
	if err != nil {
		return nil, nil, err
	}
	var faults []error
	for _, of := range subjects {
		var answer any
		var err error
		switch of.Kind {
		case "pod":
			answer, err = x.Pod(of.Name)
		case "launch":
			answer, err = x.Launch(of.Name)
		case "node":
			answer, err = node(x, of.Name)
		default:
			answer, err = workload(x, s, plan, of)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		answers = append(answers, answer)
	}
	return answers, errors.Join(faults...), nil
}

// node explains a node that is there or, where there is none of the name, a
// launch.
func node(x *provisioning.Explainer, name string) (any, error) {
	present, err := x.Node(name)
	if err == nil {
		return present, nil
	}
	launch, launchErr := x.Launch(name)
	if launchErr == nil {
		return launch, nil
	}
	var a, b *explanation.UnknownNameError
	if !errors.As(err, &a) || !errors.As(launchErr, &b) {
		return nil, launchErr
	}
	near := slices.Concat(a.Near, b.Near)
	slices.Sort(near)
	return nil, &explanation.UnknownNameError{Kind: "node", Name: name, Near: slices.Compact(near)}
}

// JudgedNode is the explanation of a node with the decision about it when no other node may be removed.
type JudgedNode struct {
	*explanation.NodeExplanation

	// Verdict says why it stays, or that it goes, when no other node may be removed; Removal is the step that removes it.
	Verdict *disruption.Verdict `json:"verdict"`
	Removal *disruption.Step    `json:"removal,omitempty"`
}

// Judge adds to the explanation of a node the verdict of a plan on it, and the step that removes it.
func Judge(node *explanation.NodeExplanation, plan *disruption.ConsolidationPlan) any {
	for i := range plan.Nodes {
		v := &plan.Nodes[i]
		if v.Node != node.Node {
			continue
		}
		judged := &JudgedNode{NodeExplanation: node, Verdict: v}
		if v.Step > 0 && v.Step <= len(plan.Steps) {
			judged.Removal = &plan.Steps[v.Step-1]
		}
		return judged
	}
	return node
}
