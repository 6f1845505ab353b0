package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/columns"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// table writes lines, sections and tables for people.
type table struct {
	view  view
	alone bool // the table has no section that it is indented below
	out   *bytes.Buffer
}

// line writes a line.
func (t *table) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// pricesPage says how to get current prices.
const pricesPage = "https://plimsoll-go.github.io/plimsoll/concepts/prices#current-prices"

// oldPrices warns in the first lines of an output of prices that are older than 90 days, if there are any, and says how to renew
// them.
func (t *table) oldPrices(today time.Time, catalogs ...instancetypes.Origin) {
	if old := pricelists.Old(today, catalogs...); old != "" {
		t.line("WARNING: prices are old: %s. To renew them:", old)
		t.line("  plimsoll prices FILE... -o prices.json, then --prices prices.json")
		t.line("  %s\n", pricesPage)
	}
}

// section starts a part of the output.
func (t *table) section(title string) { t.line("\n%s", title) }

// tabulate writes a section with a row for each of some things, if there is any: below a
// head, if there is one; see [table.headed]. It returns the heads of the columns that were left out.
func tabulate[T any](t *table, title string, head []string, things []T, row func(thing T, index int) []string, spare ...string) (left []string) {
	if len(things) == 0 {
		return nil
	}
	t.section(title)
	rows := lo.Map(things, row)
	if head == nil {
		t.columns(rows)
		return nil
	}
	return t.headed(append([][]string{head}, rows...), spare...)
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

// wrapped joins arguments of a shell command. Where the view has a width, the command goes on in further lines, each
// indented; taken is how much of the first line is in use.
func (t *table) wrapped(arguments []string, indent string, taken int) string {
	var b strings.Builder
	for i, argument := range arguments {
		if n := len(argument) + len(` \`); i > 0 && t.view.width > 0 && taken+1+n > t.view.width {
			b.WriteString(" \\\n" + indent)
			taken = len(indent)
		} else if i > 0 {
			b.WriteByte(' ')
			taken++
		}
		b.WriteString(argument)
		taken += len(argument)
	}
	return b.String()
}

// headed writes rows below their head, the first row, in columns that fit the width of the
// view; see [columns.Fit]. It returns the heads of the columns that were left out.
func (t *table) headed(rows [][]string, spare ...string) (left []string) {
	if t.view.width == 0 {
		t.columns(rows)
		return nil
	}
	rows, left = columns.Fit(rows, t.view.width-2, spare)
	t.columns(rows)
	if len(left) > 0 {
		t.line("%s(-o wide adds %s)", t.indent(), figures.Join(left))
	}
	return left
}

// zones says below a table of options to launch that the zones of some are estimated, if any is.
func (t *table) zones(options []scheduling.LaunchOption) {
	if note := launches.PriceNote(options); note != "" {
		t.line("%s%s", t.indent(), note)
	}
}

// indent is the prefix of rows below their section.
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

// writeReasons writes counted reasons, the most frequent first.
func writeReasons(t *table, title string, reasons []scheduling.ReasonCount, most int) {
	rows := lo.Map(reasons, func(r scheduling.ReasonCount, _ int) []string { return []string{cmp.Or(r.Candidates(), "-"), r.Detail} })
	if len(rows) > most+1 {
		rows = append(rows[:most], []string{"", fmt.Sprintf("and %d more reasons", len(rows)-most)})
	}
	if title != "" {
		tabulate(t, title, nil, rows, asItIs)
		return
	}
	t.columns(lo.Map(rows, func(row []string, _ int) []string { return []string{lo.Ternary(row[0] == "", "", "  "+row[0]), row[1]} }))
}

// offerings says what an offering is, if reasons count some.
func (t *table) offerings(reasons []scheduling.ReasonCount) {
	if lo.SomeBy(reasons, func(r scheduling.ReasonCount) bool { return r.Count > r.Nodes && r.Candidates() != "" }) {
		t.line("\nAn offering is an instance type in a zone, on demand, spot or reserved.")
	}
}

// writeWarnings lists warnings, then notes.
func writeWarnings(t *table, warnings []scheduling.Warning) {
	notes, faults := lo.FilterReject(warnings, func(w scheduling.Warning, _ int) bool { return w.Note })
	t.remarks("WARNINGS", faults)
	t.remarks("NOTES", notes)
}

// remarks writes a section of warnings or notes, objects with the same message together.
func (t *table) remarks(title string, warnings []scheduling.Warning) {
	if len(warnings) == 0 {
		return
	}
	const most = 5
	objects := map[string][]string{}
	var messages []string
	for _, w := range warnings {
		if len(objects[w.Message]) == 0 {
			messages = append(messages, w.Message)
		}
		objects[w.Message] = append(objects[w.Message], w.Object)
	}
	t.section(title)
	for _, message := range messages {
		t.line("  %s: %s", figures.Names(lo.Uniq(objects[message]), most), message)
	}
}
