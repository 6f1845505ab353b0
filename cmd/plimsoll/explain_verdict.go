package main

import (
	"context"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// judgedNode is a node of a pool, explained with what becomes of it when the cluster is
// consolidated.
type judgedNode struct {
	*scheduling.NodeExplanation

	// Verdict says why it stays, or that it goes; Removal is the step that removes it.
	Verdict *disruption.Verdict `json:"verdict"`
	Removal *disruption.Step    `json:"removal,omitempty"`
}

// judge adds to the answers about nodes of pools what becomes of them when the cluster is
// consolidated.
func (a *app) judge(ctx context.Context, how *solverFlags, planner disruption.Planner, p *problem, answers []any) error {
	var plan *disruption.Plan
	for i, answer := range answers {
		node, ok := answer.(*scheduling.NodeExplanation)
		if !ok || node.NodePool == "" {
			continue
		}
		if plan == nil {
			var err error
			if plan, err = how.disrupt(ctx, a, planner, p); err != nil {
				return err
			}
		}
		for k := range plan.Nodes {
			v := &plan.Nodes[k]
			if v.Node != node.Node {
				continue
			}
			judged := &judgedNode{NodeExplanation: node, Verdict: v}
			if v.Step > 0 && v.Step <= len(plan.Steps) {
				judged.Removal = &plan.Steps[v.Step-1]
			}
			answers[i] = judged
		}
	}
	return nil
}

// verdict writes what becomes of a node when the cluster is consolidated.
func (t *table) verdict(n *judgedNode) {
	t.section("CONSOLIDATION")
	v := n.Verdict
	if s := n.Removal; s != nil {
		t.line("  It is removed for the reason %q, in step %d; that step saves %s per hour and moves %s.", s.Reason, v.Step, signed(s.SavingPerHour), count(len(s.Evictions), "pod"))
	} else {
		t.line("  It stays.")
	}
	if v.Drift != "" {
		t.line("  It has drifted: %s.", v.Drift)
	}
	var rows [][]string
	for i := range v.Reasons {
		rows = append(rows, []string{string(v.Reasons[i].Code), reason(&v.Reasons[i])})
	}
	t.columns(rows)
	if v.Rejected != nil {
		text := rejected(v.Node, v.Rejected)
		t.line("  %s.", strings.ToUpper(text[:1])+text[1:])
	}
}
