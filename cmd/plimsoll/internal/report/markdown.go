package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/markdown"
)

// Markdown writes the report for a pull request, its long tables below a line that opens them.
func (r *Report) Markdown(w io.Writer) error {
	m := &markdown.Text{}
	p := page{r, suffix(r.Nodes)}
	m.Line("## %s", markdown.Literal(r.Title))
	if r.OldPrices != "" {
		m.Line("\n**Warning:** %s", markdown.Literal(r.OldPrices))
	}
	if h := p.Headline(); h.Positive() {
		m.Line("\n**%s** %s", h.Amount(), h.Rest(len(r.Steps)))
	}
	if len(r.Risks) > 0 {
		m.Line("\n### Risks of the steps")
		m.Table([]string{"Risk", "Objects", "Steps"}, "lll")
		for _, k := range r.Risks {
			m.Row(k.Meaning, figures.Names(k.Objects, mostObjects), numbered(k.Steps))
		}
	}
	m.Line("\n### The bill")
	m.Table([]string{"", "$ per month", ""}, "lrl")
	for _, b := range p.Bars() {
		m.Row(b.Label, figures.Dollars(b.Cents), b.Note)
	}
	m.Line("")
	for _, note := range r.Notes {
		m.Line("- %s", markdown.Literal(note))
	}
	if b := p.UnderCommitments(); b != nil {
		m.Line("\n### The bill under commitments and discounts")
		m.Table([]string{"All nodes", "Today", "After the steps"}, "lrr")
		for _, part := range b.Parts {
			m.Row(part.Name, part.Today, part.After)
		}
		if len(b.Uses) > 0 {
			m.Line("")
			m.Table([]string{"Commitment", "Unit", "Committed", "Used elsewhere", "Used today", "Used after", "Unused after", "Nodes after"}, "llrrrrrl")
			for _, u := range b.Uses {
				m.Row(u.Name, u.Unit, u.Amount, u.Elsewhere, u.Today, u.After, u.Unused, figures.Names(u.Nodes, mostObjects))
			}
		}
		for _, note := range b.Notes {
			m.Line("\n%s", markdown.Literal(note))
		}
		if len(b.Offers) > 0 {
			m.Line("\n### Commitments on offer")
			m.Table(b.OfferColumns, "llrrrrr")
			for _, row := range b.Offers {
				m.Row(row...)
			}
		}
		for _, note := range b.OfferNotes {
			m.Line("\n%s", markdown.Literal(note))
		}
	}
	if len(r.Blocked) > 0 {
		m.Line("\n### Blocked savings")
		m.Table([]string{"$ per month", "Cause", "Object", "How to fix"}, "rlll")
		for _, s := range r.Blocked {
			what := s.Meaning
			if s.Nodes > 0 {
				what += ", " + plural(s.Nodes, "node")
			}
			m.Row(lo.Ternary(s.AtMost, "$0 to ", "")+figures.Dollars(s.Cents), what, figures.Names(s.Objects, mostObjects), s.Fix)
		}
		if lo.SomeBy(r.Blocked, func(s BlockedSaving) bool { return s.AtMost }) {
			m.Line("\n“$0 to”: no plan or lower bound proves the saving, so it may be 0.")
		}
	}
	if r.Pending != nil {
		m.Line("\n### Pending pods\n\n%s pending. The launches for these pods are not part of the prices.", plural(r.Pending.Pods, "pod"))
		m.Table([]string{"Outcome", "Pods"}, "lr")
		for _, o := range p.Outcomes() {
			m.Row(o.Text, fmt.Sprint(o.Pods))
		}
	}
	if len(r.Cases) > 0 {
		m.Line("\n### What if")
		m.Table([]string{"Case", "$ per month", "Difference", "Nodes", "Pods moved", "Flags", ""}, "lrrrrll")
		for _, a := range p.Answers() {
			m.Row(a.Name, a.Cost, a.Difference, a.Nodes, a.Moves, a.Flags, a.Notes)
		}
	}
	if len(r.Steps) > 0 {
		m.Open(plural(len(r.Steps), "step"))
		m.Table([]string{"", "Reason", "Removes", "Launches", "Pods moved", "Saves $ per month"}, "rlllrr")
		for i, s := range p.Listed() {
			m.Row(fmt.Sprint(i+1), string(s.Reason), figures.Names(p.NodeNames(s.Drain), mostObjects), s.Launched(), fmt.Sprint(s.Pods), figures.Dollars(s.SavingCents))
		}
		if rest := p.Unlisted(); rest != nil {
			m.Row("", "and "+plural(rest.Waves, "further step"), "", "", fmt.Sprint(rest.Pods), figures.Dollars(rest.SavingCents))
		}
		if r.PriceNote != "" {
			m.Line("\n%s", r.PriceNote)
		}
		m.Close()
	}
	for _, a := range p.Accounts() {
		m.Open("Cost by " + a.By)
		m.Table([]string{a.By, "Today", "After"}, "lrr")
		for _, l := range slices.Concat(a.Rows, a.Overhead) {
			m.Row(l.Name, figures.DollarsAndCents(l.Today), figures.DollarsAndCents(l.After))
		}
		m.Row(a.Total.Name, figures.DollarsAndCents(a.Total.Today), figures.DollarsAndCents(a.Total.After))
		m.Close()
	}
	if len(r.Lint) > 0 {
		m.Open(plural(len(r.Lint), "finding") + " of lint")
		m.Table([]string{"Severity", "Object", "Fault", "How to fix"}, "llll")
		for _, f := range p.LintListed() {
			m.Row(string(f.Severity), f.Object, f.Message, f.Advice)
		}
		if more := p.LintMore(); more > 0 {
			m.Row("", "and "+plural(more, "further finding"), "", "")
		}
		m.Close()
	}
	remarks := func(list []noticed) {
		for _, n := range list {
			m.Line("- %s: %s", markdown.Literal(figures.Names(n.Objects, mostObjects)), markdown.Literal(n.Message))
		}
	}
	if list := p.Noticed(); len(list) > 0 {
		m.Open(plural(lo.SumBy(list, func(n noticed) int { return len(n.Objects) }), "warning"))
		m.Line("")
		remarks(list)
		m.Close()
	}
	m.Open("Assumptions")
	m.Line("")
	m.Line("- %s", markdown.Literal(r.Prices))
	m.Line("- As of: %s\n- Plimsoll: %s", markdown.Literal(r.AsOf), markdown.Literal(r.Version))
	for _, s := range r.Assumptions {
		m.Line("- %s: %s", markdown.Literal(s.Name), markdown.Literal(s.Value))
	}
	remarks(p.Assumed())
	m.Close()
	_, err := m.WriteTo(w)
	return err
}
