package report

import (
	"fmt"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// row is a node with its bars.
type row struct {
	Node
	Today, After []filled
	Idle         int64 // cents today, or for a launch afterwards
}

// filled is a bar of a node for some steps.
type filled struct {
	From, To int // To is 0 where it stays so
	Title    string
	Segments []segment
}

// segment is a part of a bar.
type segment struct {
	Colour int
	Width  float64 // in percent
}

// rest is nodes that are not shown one by one.
type rest struct {
	Nodes        int
	Today, After int64
	Idle         int64
}

// table is the nodes with rows of their own, and the sum of all further nodes.
type table struct {
	Rows []row
	// Folded are the rows that are shown on demand, and Beyond is the sum of further nodes where there are such rows.
	Folded []row
	Beyond *rest
	Rest   *rest
	// Thinned says that bars do not change at each of their steps.
	Thinned bool
}

// fleet is one table of nodes on a page.
type fleet struct {
	Page    page
	Caption string
	Rows    []row
	Rest    *rest
}

// Fleet is the nodes.
func (p page) Fleet() table {
	var t table
	there, bought := 0, 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		one := row{Node: *n, Idle: n.idle()}
		shown := &there
		limit := mostNodes
		if n.Launched > 0 {
			shown, limit = &bought, mostLaunches
		}
		if *shown++; *shown > limit {
			if t.Rest == nil {
				t.Rest = &rest{}
			}
			t.Rest.Nodes++
			t.Rest.Today += n.Today
			t.Rest.After += n.After
			if n.Launched == 0 {
				t.Rest.Idle += one.Idle
			}
			continue
		}
		if n.Launched == 0 {
			one.Today = []filled{bars(&n.Fills[0])}
		}
		if len(p.Steps) > 0 {
			one.After = n.after()
		}
		t.Rows = append(t.Rows, one)
	}
	t.thin()
	if len(t.Rows) > mostShown+1 {
		t.Rows, t.Folded, t.Beyond, t.Rest = t.Rows[:mostShown], t.Rows[mostShown:], t.Rest, nil
	}
	return t
}

// thin leaves out some of the bars for which there would be too many, but no first and last one.
func (t *table) thin() {
	for most := 32; most > 1 && lo.SumBy(t.Rows, func(r row) int { return len(r.After) }) > mostBars; most /= 2 {
		for i := range t.Rows {
			bars := t.Rows[i].After
			if len(bars) <= most {
				continue
			}
			t.Thinned = true
			every := (len(bars) + most - 2) / (most - 1)
			kept := lo.Filter(bars, func(_ filled, k int) bool { return k%every == 0 || k == len(bars)-1 })
			for k := range kept[:len(kept)-1] {
				kept[k].To = kept[k+1].From
			}
			t.Rows[i].After = kept
		}
	}
}

// after are the bars of a node as steps are done, but for when it is not there.
func (n *Node) after() []filled {
	var out []filled
	for i := range n.Fills {
		b := bars(&n.Fills[i])
		if b.To = n.Removed; i+1 < len(n.Fills) {
			b.To = n.Fills[i+1].Steps
		}
		out = append(out, b)
	}
	return out
}

// idle is the price of a node's idle resources, in cents per month.
func (n *Node) idle() int64 {
	sums, _ := n.Fills[0].coloured()
	return figures.Cents(sums[colourIdle])
}

// bars writes a fill as a bar.
func bars(f *Fill) filled {
	sums, all := f.coloured()
	b := filled{From: f.Steps}
	for _, colour := range stack() {
		if sums[colour] > 0 && colour != colourIdle {
			b.Segments = append(b.Segments, segment{colour, percent(sums[colour], all)})
		}
	}
	const most = 4
	var parts []string
	others := 0
	for _, p := range f.Parts {
		if p.colour < colourOverhead && len(parts) >= most {
			others++
			continue
		}
		if others > 0 && p.colour >= colourOverhead {
			parts, others = append(parts, fmt.Sprintf("%d more", others)), 0
		}
		parts = append(parts, fmt.Sprintf("%s %.0f%%", clipped(p.Name, mostName), percent(p.PerHour, all)))
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d more", others))
	}
	b.Title = strings.Join(parts, ", ")
	return b
}

// percent is a part of a whole in percent.
func percent(part, whole offerings.Price) float64 {
	return 100 * part.USD() / max(whole.USD(), 1e-9)
}
