package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/explain"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
)

// explainCommand says why a plan is as it is.
func explainCommand(a *app) *cobra.Command {
	var input inputFlags
	var how solverFlags
	var what plannerFlags
	var format *string
	var file, namespace string
	var subjects []explain.Subject
	cmd := &cobra.Command{
		Use:   "explain pod/[NAMESPACE/]NAME|node/NAME|deployment/[NAMESPACE/]NAME... -f FILE [-f FILE]...",
		Short: "Explain why a pod is placed where it is or pending, or why a node is launched",
		Long: `Explain makes the plan of "plimsoll plan" with the same flags, or reads an earlier plan,
with its settings, and answers questions about it:

pod/NAMESPACE/NAME  the node of the pod and the next best one; whether kube-scheduler binds
                    it there, and which changes would make sure of it; for a pod that fits
                    on no node, the reasons and the changes that would help; NAMESPACE/NAME
                    alone, as plans write pods, is a pod, too
deployment/NAME     the same for the pods of a Deployment, grouped by answer; also for
                    statefulset, replicaset, job, cronjob and daemonset, by any name or
                    short name that kubectl accepts
node/NAME           for a node to launch, by its name in the plan: why this instance type,
                    and the prices of other types; for an existing node: the pods that it
                    receives, its unused capacity, and, if it belongs to a NodePool, whether
                    it could be removed by itself, with the saving or the cause;
                    "plimsoll consolidate" considers all nodes together, and may remove it
                    along with others (launch/NAME if both have the same name)`,
		Example: `  plimsoll explain pod/shop/web-0 -f shop.yaml
  plimsoll explain node/general-1 -f manifests/ --catalog ec2/eu-west-1 -o json
  plimsoll plan -f shop.yaml -o json > plan.json; plimsoll explain node/general-1 -f shop.yaml --plan plan.json`,
		Args: func(_ *cobra.Command, args []string) (err error) {
			subjects, err = explain.Parse(args, namespace)
			return err
		},
		RunE: a.does(func(ctx context.Context) error {
			if err := input.beside(file); err != nil {
				return err
			}
			p, plan, err := planOrRead(ctx, a, &input, &how, file)
			if err != nil {
				return err
			}
			answers, unknown, err := explain.Answers(p.policy, p.Snapshot, plan, subjects)
			if err != nil {
				return err
			}
			if len(answers) == 0 {
				return unknown
			}
			if err := judgeNodes(ctx, a, &how, what.planner(p.policy), p, answers); err != nil {
				return err
			}
			if unknown != nil {
				a.code = exitBadInput
				for _, line := range messages(unknown) {
					a.say("error: %s", line)
				}
			}
			return printAnswers(a, *format, p, plan, answers)
		}),
	}
	input.register(cmd)
	how.register(cmd)
	what.register(cmd)
	cmd.Flags().StringVar(&file, "plan", "", "`FILE` with a plan of the same input, or - for stdin; without it, a plan is made")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "`NAMESPACE` of pods and workloads that are named without one; default any")
	grouped(cmd, groupInput)
	format = outputFlag(a, cmd, "output `FORMAT`: text, json or yaml", "text", "json", "yaml")
	return cmd
}

// planOrRead reads the input, and reads or makes a plan for it.
func planOrRead(ctx context.Context, a *app, input *inputFlags, how *solverFlags, file string) (*problem, *scheduling.Plan, error) {
	var plan *scheduling.Plan
	var planErr error
	if file != "" {
		if plan, planErr = readPlan(a, file); planErr == nil {
			var differ string
			if differ, planErr = adopt(a.flags, file, plan.Settings); differ != "" {
				a.say("warning: explained with %s", differ)
			}
		}
	}
	solver, err := how.solver(&input.market)
	if err != nil {
		return nil, nil, err
	}
	p, err := input.load(a)
	if err := errors.Join(err, planErr); err != nil {
		return nil, nil, err
	}
	p.policy = solver
	if plan == nil {
		plan, err = how.solve(ctx, a, solver, p)
	}
	return p, plan, err
}

// printAnswers writes the answers in a format: one by itself, several as a list.
func printAnswers(a *app, format string, p *problem, plan *scheduling.Plan, answers []any) error {
	if format == "text" {
		t := &answerText{to: &table{out: &a.stdout}, p: p, plan: plan}
		for i, answer := range answers {
			if i > 0 {
				t.to.line("")
			}
			t.answer(answer)
		}
		t.to.offerings(t.reasons)
		if note := launches.PriceNote(t.options); note != "" {
			t.to.line("\n%s", note)
		}
		return nil
	}
	if len(answers) == 1 {
		return a.encode(format, "answer", answers[0])
	}
	return a.encode(format, "answers", answers)
}

// judgeNodes adds to the answers about nodes of NodePools the decision on each if no other node may be removed.
func judgeNodes(ctx context.Context, a *app, how *solverFlags, planner disruption.Planner, p *problem, answers []any) error {
	for i, answer := range answers {
		node, ok := answer.(*explanation.NodeExplanation)
		if !ok || node.NodePool == "" {
			continue
		}
		c := p.keepLeast(planner, p.Cluster().KeepAllBut(node.Node))
		plan, err := how.disruptCluster(ctx, a, planner, p, c, "looking at node "+node.Node)
		if err != nil {
			return err
		}
		answers[i] = explain.Judge(node, plan)
	}
	return nil
}
