package report

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// answer is what a case comes to, as tables show it.
type answer struct {
	Name, Flags, Cost, Difference, Nodes, Moves, Notes string
}

// Answers are the cases.
func (p page) Answers() []answer {
	var out []answer
	for i, c := range p.Cases {
		a := answer{
			Name: c.Name, Flags: strings.Join(c.Flags, " "), Cost: dollars(centsPerMonth(c.PricePerHour)),
			Nodes: figures.Thousands(fmt.Sprint(c.Nodes)), Moves: figures.Thousands(fmt.Sprint(c.PodsMoved)), Difference: "–",
		}
		var notes []string
		if i > 0 {
			a.Difference = figures.ChangeMonthly(c.DifferencePerHour)
		}
		if c.Anew {
			notes = append(notes, "another place, where everything is bought anew")
		}
		if c.Added != nil {
			notes = append(notes, fmt.Sprintf("%s added, which take %s of their machines", plural(c.Added.Pods, "pod"), dollars(centsPerMonth(c.Added.PricePerHour))))
		}
		if n := len(c.Staying); n > 0 {
			notes = append(notes, plural(n, "node")+" kept that it would not buy")
		}
		if n := len(c.Unplaced); n > 0 {
			notes = append(notes, plural(n, "pod")+" without a place")
		}
		a.Notes = strings.Join(notes, "; ")
		out = append(out, a)
	}
	return out
}
