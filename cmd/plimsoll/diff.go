package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/compare"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// diffCommand compares two plans, or the plans of two sets of manifests.
func diffCommand(a *app) *cobra.Command {
	var input inputFlags
	var how solverFlags
	var format *string
	var limit limitFlag
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare the cost of two plans, or of two sets of manifests",
		Long: `Diff compares two plans that "plimsoll plan" or "plimsoll consolidate" has printed as JSON or
YAML. BEFORE and AFTER may also be manifests, as files or directories: they are planned first,
each together with the files of -f, such as a cluster's nodes and NodePools. If both are manifests,
such as two dumps of a cluster, their total cost is compared: existing nodes, and new nodes for
pending pods.`,
		Example: `  plimsoll diff yesterday.json today.json
  plimsoll diff main/deploy deploy -f nodepools.yaml -R --fail-above 200/month`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("want two files or directories to compare, got %d", len(args))
			}
			return nil
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.does(func(ctx context.Context) error {
			plans, sides := make([]bool, 2), make([]compare.Side, 2)
			var errs []error
			for i, name := range args {
				a.rereadStdin()
				var err error
				plans[i], err = isPlan(a, name)
				errs = append(errs, err)
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			for i, name := range args {
				a.rereadStdin()
				var err error
				if plans[i] {
					sides[i], err = plannedSide(a, name)
				} else {
					sides[i], err = sideOf(ctx, a, name, input, &how, !plans[1-i])
				}
				errs = append(errs, err)
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			if plans[0] && plans[1] && sides[0].Cluster != sides[1].Cluster {
				return fmt.Errorf("cannot compare %s with %s: one is a plan of launches, the other a consolidation plan, whose price is that of the whole cluster", args[0], args[1])
			}
			d := compare.Compare(sides[0], sides[1])
			if len(d.After.Unplaced) > 0 {
				a.code = exitUnschedulable
			}
			limit.check(a, d.DifferencePerHour)
			switch *format {
			case "table":
				writeDiff(&a.stdout, a.view, d)
				return nil
			case "markdown":
				return d.Markdown(&a.stdout)
			}
			return a.encode(*format, "difference", d)
		})(cmd, args)
	}
	input.register(cmd)
	how.register(cmd)
	limit.register(cmd, "AFTER costs more than BEFORE by")
	format = outputFlag(a, cmd, "output `FORMAT`: table, wide (a table of any width), markdown (a comment for a pull request), json or yaml", "table", "wide", "markdown", "json", "yaml")
	return cmd
}

// plannedSide reads a side that is a plan.
func plannedSide(a *app, name string) (compare.Side, error) {
	plan, moves, err := readAnyPlan(a, name)
	switch {
	case err != nil:
		return compare.Side{}, err
	case moves != nil:
		return compare.Steps(name, moves), nil
	}
	return compare.Launches(name, plan), nil
}

// sideOf plans a side that is manifests; its bill has the nodes that there are already, if the whole bill is
// asked for.
func sideOf(ctx context.Context, a *app, name string, input inputFlags, how *solverFlags, whole bool) (compare.Side, error) {
	input.files = append(slices.Clone(input.files), name)
	solver, err := how.solver(&input.market)
	if err != nil {
		return compare.Side{}, err
	}
	p, err := input.load(a)
	if err != nil {
		return compare.Side{}, err
	}
	plan, err := how.solve(ctx, a, solver, p)
	if err != nil {
		return compare.Side{}, err
	}
	a.warn(name+": ", mergeWarnings(p.Warnings, plan.Warnings))
	gated := p.gated()
	s := compare.Launches(name, plan)
	s.Unplaced = slices.DeleteFunc(s.Unplaced, func(pod string) bool { return gated[pod] })
	err = s.Divide(&p.Problem, plan, p.Workload)
	if err == nil && whole {
		s.AddNodes(p.Cluster(), plan, p.policy, p.Workload)
	}
	return s, err
}

// isPlan reports whether a file holds a plan, and not manifests.
func isPlan(a *app, name string) (bool, error) {
	var text []byte
	info, err := os.Stat(name)
	switch {
	case name == manifest.Stdin:
		text, err = io.ReadAll(a.stdin)
	case err == nil && !info.IsDir():
		text, err = os.ReadFile(name)
	}
	var top struct {
		Kind, Launches, Steps json.RawMessage
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %s: %w", name, withoutPath(err))
	}
	return yaml.Unmarshal(text, &top) == nil && top.Kind == nil && (top.Launches != nil || top.Steps != nil), nil
}

// writeDates says where the prices of a difference come from, once for two sides with the same prices.
func writeDates(t *table, d *compare.Diff) {
	before, after := pricelists.Dates(d.Before.Catalog, false), pricelists.Dates(d.After.Catalog, false)
	if before == after {
		t.line("%s.", before)
		return
	}
	t.line("%s: %s.", d.Before.Name, before)
	t.line("%s: %s.", d.After.Name, after)
}

// writeDiff writes a difference for people.
func writeDiff(w *bytes.Buffer, v view, d *compare.Diff) {
	t := &table{view: v, out: w, alone: true}
	t.oldPrices(now(), d.Before.Catalog, d.After.Catalog)
	row := func(s *compare.Side) []string {
		pods := "-"
		if s.Pods > 0 {
			pods = strconv.Itoa(s.Pods)
		}
		return []string{s.Name, figures.PlainMonthly(s.PricePerHour), figures.Plain(s.PricePerHour), strconv.Itoa(s.Nodes), pods, strconv.Itoa(len(s.Unplaced))}
	}
	change := figures.Change(d.DifferencePerHour, d.Before.PricePerHour)
	t.headed([][]string{
		{"", "$/MONTH", "$/HOUR", "NODES", "PODS", "NOT PLACED"}, row(&d.Before), row(&d.After),
		{"difference (" + change + ")", figures.ChangeMonthly(d.DifferencePerHour), figures.ChangeHourly(d.DifferencePerHour), fmt.Sprintf("%+d", d.After.Nodes-d.Before.Nodes), "", ""},
	})
	t.line("Prices are of the NodePools' nodes on each side, including node overhead (--node-overhead).")
	if before, after, differ := d.Planned(); differ {
		t.line("Expected after scheduling. As planned: %s → %s per month.", figures.Monthly(before), figures.Monthly(after))
	}
	writeDates(t, d)
	t.alone = false
	head := []string{"CHANGE", "NODES", "INSTANCE TYPE", "CAPACITY", "NODEPOOL", "$/MONTH"}
	tabulate(t, "NODES", head, d.Machines, func(m compare.Machines, _ int) []string {
		change, nodes := m.Counts()
		return []string{
			change, nodes, m.InstanceType, m.CapacityType, m.NodePool, figures.ChangeMonthly(m.DifferencePerHour),
		}
	}, "NODES")
	most := min(len(d.Workloads), v.most(20))
	tabulate(t, "DIFFERENCE BY WORKLOAD", []string{"WORKLOAD", "PODS", "BEFORE", "AFTER", "$/MONTH"}, d.Workloads[:most], func(x compare.Workload, _ int) []string {
		return []string{
			x.Name, fmt.Sprintf("%d → %d", x.PodsBefore, x.PodsAfter), figures.PlainMonthly(x.PricePerHourBefore), figures.PlainMonthly(x.PricePerHourAfter),
			figures.ChangeMonthly(x.PricePerHourAfter - x.PricePerHourBefore),
		}
	})
	if more := len(d.Workloads) - most; more > 0 {
		t.line("  and %d more (-o wide lists them all)", more)
	}
}
