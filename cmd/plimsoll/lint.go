package main

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/samber/lo"
	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// lintCommand finds settings in manifests that cost more than needed, or do not work.
func lintCommand(a *app) *cobra.Command {
	var q question
	var format *string
	var skipped []lint.Code
	cmd := &cobra.Command{
		Use:   "lint -f FILE [-f FILE]...",
		Short: "Find misconfigurations and avoidable costs in manifests",
		Long: `Lint finds NodePools that no instance type meets, that overlap, or that leave few instance types
for spot; pods without requests; PodDisruptionBudgets that block every eviction or select no pods;
missing DaemonSets; and requests that force pods onto larger nodes, for which the next smaller
request is tried. Each finding names object, field, value and fix; errors come first. A fix with a
saving was tried on the cluster rebuilt from scratch, with its pending pods, together with the
others, so that the savings add up; consolidation of the running nodes may save less.

It exits with 5 if there are errors or warnings; possible savings are neither.`,
		Example: `  plimsoll lint -f cluster.json
  plimsoll lint -R -f manifests/ --skip no-daemonsets,request-size -o json`,
		Args: noArguments("; name manifests with -f"),
		RunE: a.does(func(ctx context.Context) error {
			solver, err := q.how.solver(&q.input.market)
			if err != nil {
				return err
			}
			p, err := q.input.load(a)
			if err != nil {
				return err
			}
			planner := q.what.planner(solver)
			subject := lint.Subject{Cluster: p.cluster(planner), Planner: planner, OwnPools: p.ownPools, ComputeClasses: p.ComputeClasses, Workload: p.Workload}
			var found []lint.Finding
			err = q.how.search(ctx, a, "looking at "+figures.Count(len(p.Problem.Pods)+len(p.Problem.Running), "pod"), func(ctx context.Context, _ scheduling.Observer) error {
				found, err = subject.Findings(ctx, skipped...)
				return err
			})
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Severity != lint.Info {
					a.code = exitFound
				}
			}
			if *format != "table" {
				return a.encode(*format, "findings", lint.Report{Findings: found, Warnings: mergeWarnings(p.Warnings)})
			}
			writeFindings(&a.stdout, a.view, p, found)
			return nil
		}),
	}
	q.register(cmd)
	listFlag(cmd, "skip", "skip findings with these `CODES`: "+list(lint.Codes()), func(text string) error {
		code, err := oneOf(text, lint.Codes()...)
		skipped = append(skipped, code)
		return err
	})
	grouped(cmd, groupOutput)
	format = outputFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width), json or yaml", "table", "wide", "json", "yaml")
	return cmd
}

// writeFindings writes findings for people.
func writeFindings(w *bytes.Buffer, v view, p *problem, found []lint.Finding) {
	told := func(w scheduling.Warning) bool { return w.Object == "DaemonSets" } // which is a finding
	t := &table{view: v, out: w}
	if len(found) == 0 {
		t.line("No findings.")
	}
	shown, most := map[lint.Code]int{}, v.most(10)
	for i := range found {
		f := &found[i]
		if shown[f.Code]++; shown[f.Code] > most {
			continue
		}
		if i > 0 {
			t.line("")
		}
		head := strings.ToUpper(string(f.Severity)) + "  " + f.Object + "  " + string(f.Code)
		if f.SavingPerHour > 0 {
			head += lo.Ternary(f.SavingProven, "  saves ", "  may save ") + figures.Monthly(f.SavingPerHour) + " a month"
		}
		t.line("%s", head)
		if f.Field != "" {
			at := f.Field
			if f.Value != "" {
				at += ": " + f.Value
			}
			t.line("  %s", at)
		}
		t.line("  %s", f.Message)
		t.line("  → %s", f.Advice)
	}
	if saving := lo.Filter(found, func(f lint.Finding, _ int) bool { return f.SavingPerHour > 0 }); len(saving) > 0 {
		proven := lo.EveryBy(saving, func(f lint.Finding) bool { return f.SavingProven })
		t.line("")
		if len(saving) > 1 {
			t.line("Together, these changes %s %s a month: each was tried on top of the others.", lo.Ternary(proven, "save", "may save"),
				figures.Monthly(lo.SumBy(saving, func(f lint.Finding) offerings.Price { return f.SavingPerHour })))
		}
		t.line("Savings compare plans of the cluster rebuilt from scratch, with its pending pods; consolidation of the running nodes may save less, or nothing.")
		if !proven {
			t.line("'May save': the lower bound does not rule out that a plan without the change costs as little.")
		}
	}
	for _, code := range lint.Codes() {
		if more := shown[code] - most; more > 0 {
			t.line("\nand %d more of %s (-o wide lists them all)", more, code)
		}
	}
	writeWarnings(t, slices.DeleteFunc(mergeWarnings(p.Warnings), told))
}
