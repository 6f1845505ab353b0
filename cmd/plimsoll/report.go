package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// reportFlags are all flags of report.
type reportFlags struct {
	question

	cases  casesFlag
	title  string
	labels []string
	to     *destination
}

// register adds the flags to a command.
func (f *reportFlags) register(a *app, cmd *cobra.Command) {
	f.question.register(cmd)
	f.cases.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.title, "title", "", "title of the report, as `TEXT`; default: cloud and region")
	flags.StringArrayVar(&f.labels, "label", nil, "also group costs by the pod label `KEY`; may be repeated; default: the first of cost-center, team, owner and similar labels that a pod has")
	f.to = destinationFlag(a, cmd, "output `FORMAT`: html, markdown, svg (a picture of the nodes), json or yaml, for stdout, or a file whose name ends in .html, .md, .svg, .json or .yaml",
		map[string]string{".html": "html", ".md": "markdown", ".markdown": "markdown", ".svg": "svg", ".json": "json", ".yaml": "yaml"}, "html", "markdown", "svg", "json", "yaml")
}

// reportCommand writes a report for readers who do not run the command themselves.
func reportCommand(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report -f FILE [-f FILE]... [-o FILE]",
		Short: "Write a cost report of a cluster: today's bill, savings and their blockers",
		Long: `Report plans as "plimsoll consolidate" does and writes one page: the saving with its risks;
idle cost, requested CPU and memory and the share of spot; today's bill, the bill after the steps,
the lower bound by consolidation and the price of the cluster rebuilt from scratch; blocked savings,
each with its fix; pending pods; the total of each --case, as in "plimsoll whatif"; the steps with a
runbook for kubectl; cost by NodePool, instance type, namespace, workload and label; nodes by idle
cost; findings of "plimsoll lint", warnings and assumptions. The page is one file without external
resources, ready to be shared.

It exits as consolidate does, and with 3 if a case leaves pods pending.`,
		Example: `  plimsoll report -f examples/consolidate -o report.html
  kubectl get pods,nodes,pdb,hpa,ds,pvc,pv,sc,csinodes,nodeclaims,nodepools,ec2nodeclasses -A -o json | plimsoll report -f - -o report.html
  plimsoll report -f cluster.json --label team --label app.kubernetes.io/part-of --title Production -o report.html
  plimsoll report -f cluster.json --case 'arm64: --allow kubernetes.io/arch=arm64' --case 'no spot: --no-spot' -o report.html
  plimsoll report -f cluster.json -o markdown`,
		Args: noArguments("; name manifests with -f"),
	}
	cmd.RunE = a.does(func(ctx context.Context) error {
		policy, err := f.how.solver(&f.input.market)
		if err != nil {
			return err
		}
		a.rereadStdin()
		p, err := f.input.load(a)
		if err != nil {
			return err
		}
		planner := f.what.planner(policy)
		plan, err := f.how.disrupt(ctx, a, planner, p)
		if err != nil {
			return err
		}
		if err := f.how.block(ctx, a, planner, p, plan); err != nil {
			return err
		}
		if stranded(p, plan) {
			a.code = exitUnschedulable
		}
		var findings []lint.Finding
		err = f.how.search(ctx, a, "pricing blocked savings", func(ctx context.Context, _ scheduling.Observer) error {
			subject := lint.Subject{Cluster: p.cluster(planner), Planner: planner, OwnPools: p.ownPools, ComputeClasses: p.ComputeClasses, Workload: p.Workload}
			findings, err = subject.Findings(ctx)
			return err
		})
		if err != nil {
			return err
		}
		r := f.reportOf(cmd.Flags(), p, plan, &planner, findings, notesOf(a.view, p, plan))
		if len(f.cases) > 0 {
			if r.Cases, err = comparedCases(ctx, a, &f, p, plan); err != nil {
				return err
			}
		}
		return writeReport(a, f.to, r)
	})
	f.register(a, cmd)
	return cmd
}

// comparedCases are the outcomes of the cases of a report, the baseline first.
func comparedCases(ctx context.Context, a *app, f *reportFlags, p *problem, plan *disruption.ConsolidationPlan) ([]*whatif.Outcome, error) {
	asked, err := questions(a, &f.question, f.cases, func(cmd *cobra.Command) *question {
		var all reportFlags
		all.register(a, cmd)
		return &all.question
	})
	if err != nil {
		return nil, err
	}
	asked[0].problem, asked[0].plan = p, plan
	outcomes, _, err := answerCases(ctx, a, asked)
	return outcomes, err
}

// reportOf puts a plan into a report.
func (f *reportFlags) reportOf(flags *pflag.FlagSet, p *problem, plan *disruption.ConsolidationPlan, planner *disruption.Planner, findings []lint.Finding, notes []string) *report.Report {
	c := p.cluster(*planner)
	in := report.Input{
		Title: f.title, Cluster: c, Plan: plan, Policy: planner.Policy, NodeGroups: p.NodeGroups, Workload: p.Workload, Labels: f.labels, Findings: findings, Notes: notes,
		AsOf: planner.Now.Format(time.RFC3339), Version: version(), Prices: p.madeWith(), OldPrices: p.oldPrices(),
		Assumptions: []report.Setting{
			{Name: "Input", Value: strings.Join(f.input.sources(), ", ")},
		},
	}
	if name := p.Problem.Catalog.Origin().Name; in.Title == "" {
		in.Title = "Cluster"
		if slices.Contains(clouds.Names(), name) {
			in.Title += " on " + name
		}
	}
	var settings []string
	flags.Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "filename", "title", "label", "output", "now":
		default:
			for _, value := range valuesOf(flag) {
				settings = append(settings, fmt.Sprintf("--%s=%s", flag.Name, value))
			}
		}
	})
	if len(settings) > 0 {
		in.Assumptions = append(in.Assumptions, report.Setting{Name: "Settings", Value: strings.Join(settings, " ")})
	}
	return report.Of(in)
}

// notesOf are the sentences that consolidate prints of a plan and its prices.
func notesOf(v view, p *problem, plan *disruption.ConsolidationPlan) []string {
	m := &moves{to: &table{view: v, out: new(bytes.Buffer)}, p: p, plan: plan}
	m.to.line("%s", m.rest())
	m.to.spotShares(plan.Summary.SpotShares)
	m.room()
	m.notes()
	text := strings.ReplaceAll(strings.TrimSpace(m.to.out.String()), ":\n", ": ") // a sentence over two lines
	return strings.Split(text, "\n")
}

// writeReport writes a report to where the flags say.
func writeReport(a *app, to *destination, r *report.Report) error {
	var err error
	switch to.format {
	case "html":
		err = r.HTML(&a.stdout)
	case "markdown":
		err = r.Markdown(&a.stdout)
	case "svg":
		err = r.SVG(&a.stdout)
	default:
		err = a.encode(to.format, "report", r)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return to.deliver(a)
}
