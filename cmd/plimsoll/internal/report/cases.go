package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// answer is the table row of a case of whatif, as texts.
type answer struct {
	Name, Flags, Cost, Difference, Nodes, Moves, Notes string
}

// Answers are the cases.
func (p page) Answers() []answer {
	var out []answer
	for _, c := range p.Cases {
		a := answer{
			Name: c.Name, Flags: strings.Join(c.Flags, " "), Cost: figures.Dollars(figures.Cents(c.Total())),
			Nodes: figures.Thousands(fmt.Sprint(c.Nodes)), Moves: figures.Thousands(fmt.Sprint(c.PodsMoved)), Difference: "–",
		}
		switch {
		case c.Unchanged != "":
			a.Difference = "n/a"
		case c.ComparedWith != "":
			a.Difference = figures.ChangeMonthly(c.DifferencePerHour)
		}
		notes := c.Notes(1, p.Cases[0])
		if c.Added != nil {
			notes = append(notes, fmt.Sprintf("%s added, using %s of their nodes' price", plural(c.Added.Pods, "pod"), figures.Dollars(figures.Cents(c.Added.PricePerHour))))
		}
		a.Notes = strings.Join(notes, "; ")
		out = append(out, a)
	}
	return out
}
