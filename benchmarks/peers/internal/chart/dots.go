package chart

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Dots is a plot with a row for each category, and a dot in it for each series.
type Dots struct {
	// Name is that of its files, without the ending.
	Name string
	// Title and X are what it says above and below.
	Title, X string
	// From is where the axis begins; To where it ends, 0 for where the dots do. What is
	// beyond stands at the end.
	From, To float64
	// Categories are the rows, from the top.
	Categories []string
	Series     []DotSeries
}

// DotSeries is the dots of one planner: X is the figure, Y the number of the category.
type DotSeries struct {
	Name   string
	Points []Point
}

// Draw writes the plot into the directory, which it makes, as SVG and PNG, and returns
// the names of the files.
func (d Dots) Draw(dir string) ([]string, error) {
	if len(d.Categories) == 0 {
		return nil, fmt.Errorf("%s: nothing to draw", d.Name)
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text = d.Title, d.X
	p.Title.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Top, p.Legend.XOffs = true, -vg.Points(6)
	p.Add(plotter.NewGrid())
	last := float64(len(d.Categories) - 1)
	for _, s := range d.Series {
		var points plotter.XYs
		for _, at := range s.Points {
			if d.To > 0 {
				at.X = min(at.X, d.To)
			}
			points = append(points, plotter.XY{X: at.X, Y: last - at.Y})
		}
		if len(points) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.Name, s.Name, err)
		}
		dots.Color, dots.Shape = look(s.Name)
		dots.Radius = 3 * vg.Millimeter / 2
		p.Add(dots)
		p.Legend.Add(s.Name, dots)
	}
	names := slices.Clone(d.Categories)
	slices.Reverse(names)
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = vg.Points(9)
	p.X.Min = d.From
	if d.To > 0 {
		p.X.Max = d.To
	}
	p.X.Max += (p.X.Max - p.X.Min) / 2 // the right third is the legend's
	p.Y.Min, p.Y.Max = -0.5, last+0.5
	return save(dir, d.Name, p, 20*vg.Centimeter, vg.Length(3+len(names))*vg.Centimeter*4/5+vg.Centimeter*2)
}
