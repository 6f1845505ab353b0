package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/samber/lo"

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
	out   bytes.Buffer
}

// line writes a line.
func (t *table) line(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

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
// view. Where they do not, the columns that spare names are left out, the first one first,
// until names and lists have some room, and then these are shortened, the longest first.
// Figures never are.
func (t *table) headed(rows [][]string, spare ...string) {
	if t.width == 0 {
		t.columns(rows)
		return
	}
	fitting, left := fit(rows, t.width-2, spare)
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

// The least that a cell of names or of a list is shortened to, in characters: before columns
// are left out for it, and after.
const (
	comfortable = 30
	shortest    = 8
)

// fit makes rows take so many characters at most, if it can, and tells what it left out.
func fit(rows [][]string, room int, spare []string) (fitting [][]string, left []string) {
	columns := measured(rows)
	for _, head := range spare {
		if columns.without(left).need(comfortable) <= room {
			break
		}
		if slices.Contains(rows[0], head) {
			left = append(left, head)
		}
	}
	for _, head := range slices.Backward(left) { // those before may have been too narrow to help
		if fewer := lo.Without(left, head); columns.without(fewer).need(comfortable) <= room {
			left = fewer
		}
	}
	shown := columns.without(left)
	limit := lo.MaxBy(shown, func(a, b column) bool { return a.names > b.names }).names
	for limit > shortest && shown.need(limit) > room {
		limit--
	}
	for _, r := range rows {
		fitting = append(fitting, lo.Map(shown, func(c column, _ int) string { return shortened(r[c.number], c.width(limit)) }))
	}
	return fitting, left
}

// column is how many characters a column takes: for its head and figures, and for its names.
type column struct {
	number       int
	head         string
	fixed, names int
}

// width is what the column takes if its names have so many characters at most.
func (c column) width(limit int) int { return max(c.fixed, min(c.names, limit)) }

// columnList is the columns of a table.
type columnList []column

// measured measures the columns of rows of which the first is their head.
func measured(rows [][]string) columnList {
	columns := lo.Map(rows[0], func(head string, i int) column { return column{number: i, head: head} })
	for i, r := range rows {
		for k, cell := range r {
			c, n := &columns[k], utf8.RuneCountInString(cell)
			if i == 0 || isFigure(cell) {
				c.fixed = max(c.fixed, n)
			} else {
				c.names = max(c.names, n)
			}
		}
	}
	return columns
}

// without leaves out the columns with these heads.
func (l columnList) without(heads []string) columnList {
	return lo.Reject(l, func(c column, _ int) bool { return slices.Contains(heads, c.head) })
}

// need is what the columns take, with the gaps between them.
func (l columnList) need(limit int) int {
	return lo.SumBy(l, func(c column) int { return c.width(limit) + 2 }) - 2
}

// isFigure says whether a cell is a figure, and no name and no list.
func isFigure(cell string) bool {
	return cell == "" || strings.ContainsAny(cell[:1], "0123456789$+-") && !strings.Contains(cell, ", ")
}

// shortened writes a name or a list in so many characters: of a list the first ones and how
// many more there are, of a name both ends.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most || isFigure(text) {
		return text
	}
	parts := strings.Split(text, ", ")
	if lo.SomeBy(parts, func(part string) bool { return strings.Count(part, " ") > 3 }) {
		parts = []string{text} // no list of names, but a sentence
	}
	more := 0
	if n, _ := fmt.Sscanf(parts[len(parts)-1], "and %d more", &more); n == 1 {
		parts = parts[:len(parts)-1]
	}
	for k := len(parts) - 1; k > 0; k-- {
		some := fmt.Sprintf("%s, and %d more", figures.Join(parts[:k]), more+len(parts)-k)
		if utf8.RuneCountInString(some) <= most {
			return some
		}
	}
	tail := ""
	if more += len(parts) - 1; more > 0 {
		if tail = fmt.Sprintf(", and %d more", more); most-len(tail) < shortest {
			tail = ", …"
		}
	}
	name := []rune(parts[0])
	keep := most - utf8.RuneCountInString(tail) - 1
	if keep >= len(name) {
		return parts[0] + tail
	}
	return string(name[:(keep+1)/2]) + "…" + string(name[len(name)-keep/2:]) + tail
}
