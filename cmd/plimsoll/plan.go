package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/samber/lo"
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// planCommand plans the machines to launch.
func planCommand(a *app) *cobra.Command {
	var input inputFlags
	var how solverFlags
	var format *string
	var several bool
	var limit limitFlag
	cmd := &cobra.Command{
		Use:   "plan -f FILE [-f FILE]...",
		Short: "Plan which nodes to launch for pending pods, and their price",
		Long: `Plan reads manifests, finds the pods that have no node yet, and works out which nodes to
launch for them. Workloads count with the pods that their controllers would still create.
Before the plan is printed, independent code checks it against every rule.

With --alternatives it compares the cheapest plan with others, such as the plan with the
fewest nodes and the plan without spot; --goal prints one of them in full.`,
		Example: `  plimsoll plan -f shop.yaml
  plimsoll plan -f manifests/ --catalog ec2/eu-west-1 --filter 'generation>=6' -o json
  plimsoll plan -f shop.yaml --alternatives
  plimsoll plan -f shop.yaml --largest-node cpu=32 --interruption-cost 5 --unstated-rate 10%
  kubectl get pods,nodes,hpa,ds,pvc,pv,sc,csinodes,nodeclaims,nodepools,ec2nodeclasses -A -o json | plimsoll plan -f -`,
		Args: noArguments("; name manifests with -f"),
		RunE: a.does(func(ctx context.Context) error {
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			if several && (*format == "nodeclaims" || how.goal != provisioning.GoalCheapest) {
				return usagef("--alternatives are for every goal, and printed as table, wide, json or yaml: leave out --goal and -o nodeclaims")
			}
			p, err := input.load(a)
			if err != nil {
				return err
			}
			if *format == "nodeclaims" && !p.ownPools {
				return errors.New("-o nodeclaims: the input has no NodePool of Karpenter that NodeClaims could belong to; add the output of kubectl get nodepools -o json")
			}
			if several {
				return compareGoals(ctx, a, &how, solver, p, *format)
			}
			plan, err := how.solve(ctx, a, solver, p)
			if err != nil {
				return err
			}
			plan.Warnings, plan.Settings = mergeWarnings(p.Warnings, plan.Warnings), settingsOf(a.flags)
			if p.unplaced(plan) > 0 {
				a.code = exitUnschedulable
			}
			limit.check(a, afterScheduling(&plan.Summary))
			return printPlan(a, *format, p, plan)
		}),
	}
	input.register(cmd)
	how.register(cmd)
	limit.register(cmd, "the new nodes cost")
	cmd.Flags().BoolVar(&several, "alternatives", false, "compare the best plans for all goals instead of printing the cheapest")
	format = outputFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width), json, yaml, or nodeclaims to create in a cluster that runs Karpenter (kubectl create -f)",
		"table", "wide", "json", "yaml", "nodeclaims")
	return cmd
}

// compareGoals finds and prints alternatives.
func compareGoals(ctx context.Context, a *app, how *solverFlags, solver scheduling.Policy, p *problem, format string) error {
	list, err := how.alternatives(ctx, a, solver, p)
	if err != nil {
		return err
	}
	if p.unplaced(list[0].Plan) > 0 {
		a.code = exitUnschedulable
	}
	return printAlternatives(a, format, p, list)
}

// computeClassLabel is the label that GKE sets on the nodes of a ComputeClass.
const computeClassLabel = "cloud.google.com/compute-class"

// printPlan writes the plan in a format.
func printPlan(a *app, format string, p *problem, plan *scheduling.Plan) error {
	switch format {
	case "table":
		writeTable(&a.stdout, a.view, p, plan)
		return nil
	case "nodeclaims":
		plan.Warnings = p.warnOfOldPrices(plan.Warnings)
		for _, l := range plan.Launches {
			pool, _ := lo.Find(p.Problem.NodePools, func(pool *scheduling.NodePool) bool { return pool.Name == l.NodePool })
			if class := pool.Spec.Template.Metadata.Labels[computeClassLabel]; class != "" && pool.Spec.Template.Spec.NodeClassRef == nil {
				return fmt.Errorf("-o nodeclaims: NodePool/%s stands for ComputeClass/%s, whose nodes are launched by GKE, not by Karpenter", pool.Name, class)
			}
		}
		// NodeClaims have no field for warnings.
		a.warn("", plan.Warnings)
		for _, u := range plan.Unschedulable {
			a.say("not placed: %s: %s", u.Pod, u.Message)
		}
		for _, pool := range p.Problem.NodePools {
			ref := lo.FromPtr(pool.Spec.Template.Spec.NodeClassRef)
			buys := lo.ContainsBy(plan.Launches, func(l scheduling.Launch) bool { return l.NodePool == pool.Name })
			if buys && (ref.Group == "" || ref.Kind == "" || ref.Name == "") {
				a.say("warning: NodePool/%s: has no nodeClassRef with group, kind and name, without which its NodeClaims are refused", pool.Name)
			}
		}
		return manifest.WriteNodeClaims(&a.stdout, plan, p.Problem.NodePools)
	}
	plan.Warnings = p.warnOfOldPrices(plan.Warnings)
	return a.encode(format, "plan", plan)
}
