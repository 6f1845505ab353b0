package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// Markdown writes the report for a pull request, its long tables below a line that opens them.
func (r *Report) Markdown(w io.Writer) error {
	m := &markdown{}
	p := page{r}
	m.line("## %s", literal(r.Title))
	if p.Saved() > 0 {
		m.line("\n**%s a month** can be saved, %s of the bill, in %s.", dollars(p.Saved()), share(p.Saved(), p.Today().Cents), plural(len(r.Steps), "safe step"))
	}
	m.table([]string{"", "$ per month", ""}, "lrl")
	for _, b := range p.Bars() {
		m.row(b.Label, dollars(b.Cents), b.Note)
	}
	if len(r.Stops) > 0 {
		m.line("\n### What stops further savings")
		m.table([]string{"$ per month", "What", "Of", "What lifts it"}, "rlll")
		for _, s := range r.Stops {
			what := s.Meaning
			if s.Nodes > 0 {
				what += ", " + plural(s.Nodes, "node")
			}
			m.row(lo.Ternary(s.AtMost, "at most ", "")+dollars(s.Cents), what, figures.Names(s.Objects, mostObjects), s.Lift)
		}
	}
	if len(r.Cases) > 0 {
		m.line("\n### What if")
		m.table([]string{"Case", "$ per month", "Difference", "Nodes", "Pods move", "Flags", ""}, "lrrrrll")
		for _, a := range p.Answers() {
			m.row(a.Name, a.Cost, a.Difference, a.Nodes, a.Moves, a.Flags, a.Notes)
		}
	}
	if len(r.Risks) > 0 {
		m.line("\n### Risks of the steps")
		m.table([]string{"Risk", "Of", "Steps"}, "llr")
		for _, k := range r.Risks {
			m.row(k.Meaning, figures.Names(k.Objects, mostObjects), fmt.Sprint(len(k.Steps)))
		}
	}
	if len(r.Steps) > 0 {
		m.open(plural(len(r.Steps), "step"))
		m.table([]string{"", "Why", "Removes", "Buys", "Pods move", "Saves $ per month"}, "rlllrr")
		for i, s := range p.Listed() {
			m.row(fmt.Sprint(i+1), string(s.Reason), figures.Names(s.Drain, mostObjects), s.Bought(), fmt.Sprint(s.Pods), dollars(s.SavingCents))
		}
		if rest := p.Unlisted(); rest != nil {
			m.row("", "and "+plural(rest.Waves, "further step"), "", "", fmt.Sprint(rest.Pods), dollars(rest.SavingCents))
		}
		m.close()
	}
	for _, a := range p.Accounts() {
		m.open("Where the money goes, by " + a.By)
		m.table([]string{a.By, "Today", "After"}, "lrr")
		for _, l := range slices.Concat(a.Rows, a.Overhead) {
			m.row(l.Name, exact(l.Today), exact(l.After))
		}
		m.row(a.Total.Name, exact(a.Total.Today), exact(a.Total.After))
		m.close()
	}
	if list := noticedIn(r.Warnings); len(list) > 0 {
		m.open(plural(len(r.Warnings), "warning"))
		m.line("")
		for _, n := range list {
			m.line("- %s: %s", literal(figures.Names(n.Objects, mostObjects)), literal(n.Message))
		}
		m.close()
	}
	m.open("Made with")
	m.line("")
	for _, note := range r.Notes {
		m.line("- %s", literal(note))
	}
	for _, s := range r.MadeWith {
		m.line("- %s: %s", literal(s.Name), literal(s.Value))
	}
	m.close()
	_, err := m.WriteTo(w)
	return err
}

// markdown is text that is being written.
type markdown struct{ bytes.Buffer }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// table begins a table; align has l or r for each column.
func (m *markdown) table(head []string, align string) {
	m.line("")
	m.row(head...)
	for _, a := range align {
		m.WriteString(map[rune]string{'l': "| :-- ", 'r': "| --: "}[a])
	}
	m.line("|")
}

// row writes the cells of a table. Characters that have a meaning in Markdown are escaped.
func (m *markdown) row(cells ...string) {
	for _, c := range cells {
		m.WriteString("| " + literal(c) + " ")
	}
	m.line("|")
}

// open begins a collapsed section under a summary line, close ends it.
func (m *markdown) open(summary string) {
	m.line("\n<details><summary>%s</summary>", plain(summary))
}

func (m *markdown) close() { m.line("\n</details>") }

// literal is a text that Markdown shows as it is.
func literal(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune("\\`*_[]|~", r):
			b.WriteByte('\\')
		case r == '<' || r == '&':
			b.WriteString(map[rune]string{'<': "&lt;", '&': "&amp;"}[r])
			continue
		case !unicode.IsPrint(r):
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}
