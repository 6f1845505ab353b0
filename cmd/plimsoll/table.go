package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/columns"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// table writes a plan for people: first what it comes to, then what to launch and
// why, then what was refused and what to look at.
type table struct {
	*problem
	view

	plan  *scheduling.Plan
	alone bool // the table has no section that it is indented below
	out   *bytes.Buffer
}

// line writes a line.
func (t *table) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// section starts a part of the output.
func (t *table) section(title string) { t.line("\n%s", title) }

// tabulate writes a section with a row for each of some things, if there is any: below a
// head, if there is one; see [table.headed].
func tabulate[T any](t *table, title string, head []string, things []T, row func(thing T, index int) []string, spare ...string) {
	if len(things) == 0 {
		return
	}
	t.section(title)
	rows := lo.Map(things, row)
	if head == nil {
		t.columns(rows)
	} else {
		t.headed(append([][]string{head}, rows...), spare...)
	}
}

// asItIs is a row that is ready.
func asItIs(row []string, _ int) []string { return row }

// cut leaves out the rows above a number, and tells how many there are: in the first
// column, or behind blank ones. One more than the number is never left out alone.
func cut(rows [][]string, most int, more ...string) [][]string {
	if len(rows) <= most+1 {
		return rows
	}
	last := append(slices.Clone(more), fmt.Sprintf("and %d more", len(rows)-most))
	return append(rows[:most:most], last)
}

// headed writes rows below their head, the first row, in columns that fit the width of the
// view; see [columns.Fit].
func (t *table) headed(rows [][]string, spare ...string) {
	if t.width == 0 {
		t.columns(rows)
		return
	}
	fitting, left := columns.Fit(rows, t.width-2, spare)
	t.columns(fitting)
	if len(left) > 0 {
		t.line("%s(-o wide adds %s)", t.indent(), figures.Join(left))
	}
}

// indent is what rows begin with, below their section.
func (t *table) indent() string { return lo.Ternary(t.alone, "", "  ") }

// columns writes rows in columns, indented below their section.
func (t *table) columns(rows [][]string) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s%s\n", t.indent(), strings.Join(r, "\t")) // a buffer takes everything
	}
	_ = w.Flush()
	for line := range strings.Lines(b.String()) {
		t.out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}
