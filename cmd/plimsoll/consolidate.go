package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/judged"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/metrics"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// consolidateCommand decides which nodes to remove or replace.
func consolidateCommand(a *app) *cobra.Command {
	var input inputFlags
	var how solverFlags
	var what plannerFlags
	var to *destination
	var limit limitFlag
	cmd := &cobra.Command{
		Use:   "consolidate -f FILE [-f FILE]...",
		Short: "Plan which nodes to remove or replace, in a safe order, and the saving",
		Long: `Consolidate reads the state of a cluster and plans which nodes to remove or replace, in
which order, and the saving: nodes that are about to be interrupted, have expired or
drifted, are empty, or run pods that cost less elsewhere. Each step can be carried out by
itself: it lists the nodes to launch first, the node to which each evicted pod is expected
to move, and its use of PodDisruptionBudgets and of the NodePools' disruption budgets. Nodes
that cannot be removed are listed with the cause, and each cause with the saving that it
blocks (BLOCKED SAVINGS): the largest are planned again without the cause, as many as the
effort allows. Before the plan is printed, independent code replays its steps; if a step
breaks a rule there, the plan ends before it, with a warning.

It exits with 0 whether there are steps or not, and with 3 if a node is about to be
interrupted and one of its pods fits on no other node. With -o openmetrics it exits with 0
then, too: see the metric plimsoll_stranded.`,
		Example: `  plimsoll consolidate -f examples/consolidate
  kubectl get pods,nodes,pdb,hpa,ds,pvc,pv,sc,csinodes,nodeclaims,nodepools,ec2nodeclasses -A -o json | plimsoll consolidate -f -
  plimsoll consolidate -f cluster.json --min-saving 0.05/hour --min-saving 5% --min-lifetime 1h
  plimsoll consolidate -f cluster.json --reasons empty,underutilized --steps 3 -o json
  plimsoll consolidate -f cluster.json -o plimsoll.prom`,
		Args: noArguments("; name manifests with -f"),
		RunE: a.does(func(ctx context.Context) error {
			solver, err := how.solver(&input.market)
			if err != nil {
				return err
			}
			p, err := input.load(a)
			if err != nil {
				return err
			}
			planner := what.planner(solver)
			plan, err := how.disrupt(ctx, a, planner, p)
			if err != nil {
				return err
			}
			if err := how.block(ctx, a, planner, p, plan); err != nil {
				return err
			}
			plan.Settings = settingsOf(a.flags)
			plan.Settings["now"] = []string{planner.Now.Format(time.RFC3339Nano)}
			lost := stranded(p, plan)
			if lost && to.format != openMetrics { // metrics must reach Prometheus for an alert to fire
				a.code = exitUnschedulable
			}
			before, after := totals(&plan.Summary)
			if r := plan.Summary.AfterScheduling; r != nil && len(plan.Steps) > 0 {
				after = expected(r)
			}
			limit.check(a, before-after)
			if to.format == openMetrics {
				err = metrics.Write(&a.stdout, metrics.Input{Cluster: p.cluster(planner), Plan: plan, Policy: solver, Now: planner.Now, Stranded: lost})
			} else {
				err = printMoves(a, to.format, p, plan)
			}
			if err != nil {
				return err
			}
			return to.deliver(a)
		}),
	}
	input.register(cmd)
	how.register(cmd)
	what.register(cmd)
	limit.register(cmd, "consolidation saves")
	cmd.Flags().BoolVar(&a.details, "details", false, "also print cost by NodePool, the cluster rebuilt from scratch, diminishing returns and the nodes that are not removed")
	to = destinationFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width, with --details), json, yaml or openmetrics (metrics for Prometheus), or a file whose name ends in .json, .yaml or .prom",
		map[string]string{".json": "json", ".yaml": "yaml", ".prom": openMetrics}, "table", "wide", "json", "yaml", openMetrics)
	return cmd
}

// disrupt decides, and has the steps replayed by a second opinion before anybody sees
// them. Under commitments it returns those steps that lower the bill as they say.
func (f *solverFlags) disrupt(ctx context.Context, a *app, planner disruption.Planner, p *problem) (*disruption.ConsolidationPlan, error) {
	c := p.cluster(planner)
	if p.grouped {
		c.Alternative = slices.Clone(c.NodePools)
		for i, pool := range c.NodePools {
			if _, group := p.NodeGroups[pool.Name]; group {
				c.Alternative[i] = manifest.WidenedNodePools(p.buys(""), c.NodePools[i:i+1])[0]
			}
		}
	}
	plan, err := f.disruptCluster(ctx, a, planner, p, c, fmt.Sprintf("consolidating %s", figures.Count(len(c.Nodes), "node")))
	if err != nil {
		return nil, err
	}
	return p.bills.Steps(ctx, planner, c, plan)
}

// disruptCluster decides for a cluster that is the input's, or the input's with nodes that must stay.
func (f *solverFlags) disruptCluster(ctx context.Context, a *app, planner disruption.Planner, p *problem, c disruption.Cluster, doing string) (plan *disruption.ConsolidationPlan, err error) {
	p.policy = planner.Policy
	err = f.search(ctx, a, doing, func(ctx context.Context, o scheduling.Observer) error {
		planner.Observer = o
		plan, err = planner.Plan(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	if plan, err = judged.Steps(ctx, planner, c, plan); err != nil {
		return nil, a.checked(err)
	}
	plan.Warnings = mergeWarnings(p.Warnings, plan.Warnings)
	return plan, nil
}

// block finds the savings that each cause for which nodes stay blocks: it plans again without the cause.
func (f *solverFlags) block(ctx context.Context, a *app, planner disruption.Planner, p *problem, plan *disruption.ConsolidationPlan) error {
	return f.search(ctx, a, "pricing blocked savings", func(ctx context.Context, _ scheduling.Observer) error {
		var err error
		plan.Summary.Blocked, err = planner.Blocked(ctx, p.cluster(planner), plan)
		return err
	})
}

// stranded reports whether a machine is about to be taken away with pods that have no
// other place.
func stranded(p *problem, plan *disruption.ConsolidationPlan) bool {
	for i := range plan.Steps {
		if slices.ContainsFunc(plan.Steps[i].Evictions, func(e disruption.Eviction) bool { return e.To == "" && !e.Virtual }) {
			return true
		}
	}
	going := map[string]bool{}
	for _, m := range p.Cluster().Machines {
		going[m.Node] = m.Interruption != nil
	}
	return slices.ContainsFunc(plan.Nodes, func(v disruption.Verdict) bool {
		return v.Decision == disruption.Keep && going[v.Node] && slices.ContainsFunc(v.Reasons, func(c disruption.Cause) bool { return c.Code == disruption.CauseNoPlace })
	})
}
