package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	xml "text/template" // with everything escaped, see plain
	"unicode/utf8"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// mostColumns is the largest number of columns of a picture: where there are more nodes, neighbours
// are drawn as one.
const mostColumns = 100

// column is one node, or neighbouring nodes drawn as one: as wide as their price, and filled from below with
// the colours of its parts.
type column struct {
	name  string // of the node, or "" for several
	price offerings.Price
	parts [colourIdle + 1]offerings.Price
}

// columns are the nodes when the given number of steps is done, the fullest first.
func (r *Report) columns(steps int) (out []column, total offerings.Price) {
	for i := range r.Nodes {
		if at := r.Nodes[i].at(steps); at != nil {
			c := column{name: r.Nodes[i].Name}
			c.parts, c.price = at.coloured()
			out, total = append(out, c), total+c.price
		}
	}
	idle := func(c *column) float64 { return c.parts[colourIdle].USD() / max(c.price.USD(), 1e-9) }
	slices.SortStableFunc(out, func(a, b column) int {
		return cmp.Or(cmp.Compare(idle(&a), idle(&b)), cmp.Compare(b.price, a.price))
	})
	if len(out) <= mostColumns {
		return out, total
	}
	merged, done := make([]column, mostColumns), offerings.Price(0)
	for _, c := range out {
		m := &merged[min(int(float64(mostColumns)*(done.USD()/max(total.USD(), 1e-9))), mostColumns-1)]
		done += c.price
		m.price += c.price
		for i, p := range c.parts {
			m.parts[i] += p
		}
	}
	return merged, total
}

// stack is the order of colours from below.
func stack() []int {
	order := []int{colourOverhead}
	for i := 1; i <= mostColours; i++ {
		order = append(order, i)
	}
	return append(order, colourOthers, colourIdle)
}

// area is an SVG path and the number of its colour.
type area struct {
	Colour int
	Path   string
}

// tip is a description of a node, shown at its column, in percent of the width.
type tip struct {
	X, Width float64
	Text     string
}

// tips describe the columns when the given number of steps is done. whole is the price that fills the width.
func (r *Report) tips(steps int, whole offerings.Price, named func(string) string) (out []tip) {
	columns, _ := r.columns(steps)
	at := 0.0
	for i := range columns {
		c := &columns[i]
		t := tip{X: at, Width: percent(c.price, whole)}
		t.Text = fmt.Sprintf("%s a month, %.0f%% idle", figures.Dollars(figures.Cents(c.price)), percent(c.parts[colourIdle], c.price))
		if c.name != "" {
			t.Text = clipped(named(c.name), mostName) + ": " + t.Text
		}
		at += t.Width
		out = append(out, t)
	}
	return out
}

// paint draws the nodes when the given number of steps is done. width stands for the price whole. It
// returns the areas and the width that the nodes take.
func (r *Report) paint(steps int, whole offerings.Price, width, height float64) (areas []area, taken float64) {
	columns, total := r.columns(steps)
	scale := width / max(whole.USD(), 1e-9)
	paths := make([]strings.Builder, colourIdle+1)
	gap := 0.0
	if len(columns) < mostColumns {
		gap = min(1.5, width/float64(max(len(columns), 1))/6)
	}
	at := 0.0
	for i := range columns {
		c := &columns[i]
		w := c.price.USD() * scale
		below := 0.0
		for _, colour := range stack() {
			if c.parts[colour] <= 0 {
				continue
			}
			h := height * (c.parts[colour].USD() / c.price.USD())
			fmt.Fprintf(&paths[colour], "M%s %sh%sv%sh-%[3]sz", short(at), short(height-below), short(max(w-gap, 0.1)), short(-h))
			below += h
		}
		at += w
	}
	for colour := range paths {
		if paths[colour].Len() > 0 {
			areas = append(areas, area{colour, paths[colour].String()})
		}
	}
	return areas, total.USD() * scale
}

// short writes a coordinate.
func short(x float64) string {
	text := strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", x), "0"), ".")
	if text == "-0" || text == "" {
		return "0"
	}
	return text
}

// legend names the colours that a report uses.
func (r *Report) legend() []entry {
	used := [colourIdle + 1]bool{}
	for i := range r.Nodes {
		for j := range r.Nodes[i].Fills {
			for _, p := range r.Nodes[i].Fills[j].Parts {
				used[p.colour] = true
			}
		}
	}
	names := map[int]string{colourOthers: "other " + r.palette.by + "s", colourOverhead: "DaemonSets, system, node overhead", colourIdle: "idle"}
	for name, colour := range r.palette.number {
		names[colour] = name
	}
	var out []entry
	for colour, name := range names {
		if used[colour] {
			out = append(out, entry{colour, name})
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.Colour, b.Colour) })
	return out
}

// entry is a line of a legend.
type entry struct {
	Colour int
	Name   string
}

// band is a row of a picture: all nodes at some time.
type band struct {
	Y, Taken float64
	Areas    []area
	Tips     []tip
	Title    string
	Amount   string
}

// SVG writes a picture of the nodes today and after all steps: each as wide as its price, and filled
// with the parts of the price.
func (r *Report) SVG(w io.Writer) error {
	const left, width, height = 24, 912, 120
	today, after := r.Levels[0], r.Levels[1]
	whole := max(today.PerHour, after.PerHour)
	data := struct {
		Title  string
		Bands  []band
		Legend []struct {
			entry
			X, Y int
		}
		Height int
	}{Title: r.Title}
	for i, level := range []Level{today, after} {
		steps := i * len(r.Steps)
		b := band{Y: float64(74 + i*(height+58)), Title: fmt.Sprintf("Today: %s", plural(level.Nodes, "node")), Amount: figures.Dollars(level.Cents) + " a month"}
		if i == 1 {
			b.Title = fmt.Sprintf("After %s: %s", plural(len(r.Steps), "step"), plural(level.Nodes, "node"))
		}
		b.Areas, b.Taken = r.paint(steps, whole, width, height)
		if data.Bands = append(data.Bands, b); len(r.Steps) == 0 {
			break
		}
	}
	x, y := left, 74+len(data.Bands)*(height+58)-16
	for _, e := range r.legend() {
		e.Name = clipped(e.Name, 36)
		wide := 36 + 7*utf8.RuneCountInString(e.Name)
		if x+wide > left+width {
			x, y = left, y+22
		}
		data.Legend = append(data.Legend, struct {
			entry
			X, Y int
		}{e, x, y})
		x += wide
	}
	data.Height = y + 24
	t, err := xml.New("picture").Funcs(xml.FuncMap{"short": short, "plain": plain}).ParseFS(files, "picture.svg.tmpl", "palette.css.tmpl")
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "picture.svg.tmpl", data)
}
