package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/explain"
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
		Short: "Say why a pod goes where it goes, or a machine is bought",
		Long: `Explain plans what "plimsoll plan" plans with the same flags, or reads a plan that was
made before, and answers questions about it:

pod/NAMESPACE/NAME  where the pod goes and what the next best place would be; whether
                    kube-scheduler binds it there, and what would force it to; of a pod
                    that has no place, why, and what would help
deployment/NAME     the same of the pods of a Deployment, those alike together; so for
                    statefulset, replicaset, job, cronjob and daemonset, by any name that
                    kubectl knows them by
node/NAME           of a machine to launch, by the name that the plan gives it: why this
                    type, and what others cost; of a node that is there: what it receives,
                    what is free, and if it belongs to a node pool whether it could be removed
                    by itself, what that saves, or why not; "plimsoll consolidate" plans all
                    nodes together, which may remove it with others (launch/NAME where both
                    have the same name)`,
		Example: `  plimsoll explain pod/shop/web-0 -f shop.yaml
  plimsoll explain node/general-1 -f manifests/ --catalog ec2/eu-west-1 -o json
  plimsoll plan -f shop.yaml -o json > plan.json; plimsoll explain node/general-1 -f shop.yaml --plan plan.json`,
		Args: func(_ *cobra.Command, args []string) (err error) {
			subjects, err = explain.Parse(args, namespace)
			return err
		},
		RunE: a.does(func(ctx context.Context) error {
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			if err := input.beside(file); err != nil {
				return err
			}
			p, plan, err := planned(ctx, a, &input, &how, solver, file)
			if err != nil {
				return err
			}
			answers, unknown, err := explain.Answers(solver, p.Snapshot, plan, subjects)
			if err != nil {
				return err
			}
			if len(answers) == 0 {
				return unknown
			}
			if err := judgeNodes(ctx, a, &how, what.planner(solver), p, answers); err != nil {
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
	cmd.Flags().StringVar(&file, "plan", "", "`FILE` that holds a plan of the same input, or - for stdin; without it, one is made")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "the namespace of pods and workloads that are named without one, as `NAMESPACE`; any if not set")
	grouped(cmd, groupInput)
	format = outputFlag(a, cmd, "how to print the answers: `FORMAT` is text, json or yaml", "text", "json", "yaml")
	return cmd
}

// planned reads the input, and reads or makes a plan for it.
func planned(ctx context.Context, a *app, input *inputFlags, how *solverFlags, solver scheduling.Policy, file string) (*problem, *scheduling.Plan, error) {
	var plan *scheduling.Plan
	var planErr error
	if file != "" {
		plan, planErr = readPlan(a, file)
	}
	p, err := input.load(a)
	if err := errors.Join(err, planErr); err != nil {
		return nil, nil, err
	}
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
