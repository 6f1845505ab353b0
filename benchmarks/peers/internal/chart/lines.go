package chart

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Lines is a plot with one curve for each series. Its axes are logarithmic unless they are
// said to be linear.
type Lines struct {
	// Name is that of its files, without the ending.
	Name string
	// Title, X and Y are what it says above and beside the axes.
	Title, X, Y string
	Series      []Series
	// Linear axes begin at 0, and so does every curve.
	Linear bool
}

// Series is one curve.
type Series struct {
	// Name is that of a planner, which has the same colour in every plot.
	Name   string
	Points []Point
}

// Point is one measurement. On logarithmic axes what is not above 0 is not drawn.
type Point struct{ X, Y float64 }

// Draw writes the plot into the directory, which it makes, as SVG and PNG, and returns
// the names of the files.
func (l Lines) Draw(dir string) ([]string, error) {
	p := plot.New()
	p.Title.Text = l.Title
	p.X.Label.Text, p.Y.Label.Text = l.X, l.Y
	if !l.Linear {
		logarithmic(p)
	}
	p.Title.TextStyle.Font.Size = vg.Points(10)
	p.Title.Padding = vg.Points(6)
	p.Legend.Top, p.Legend.XOffs = true, -vg.Points(6)
	p.Add(plotter.NewGrid())
	drawn := 0
	for _, s := range l.Series {
		var points plotter.XYs
		for _, at := range s.Points {
			if l.Linear || at.X > 0 && at.Y > 0 {
				points = append(points, plotter.XY(at))
			}
		}
		if len(points) == 0 {
			continue
		}
		if l.Linear {
			points = append(points, plotter.XY{})
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", l.Name, s.Name, err)
		}
		dots.Color, dots.Shape = look(s.Name)
		line.Color = dots.Color
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
		drawn += len(points)
	}
	if drawn == 0 {
		return nil, fmt.Errorf("%s: nothing to draw", l.Name)
	}
	if l.Linear {
		p.Legend.Top = false // curves rise
	} else {
		widen(&p.X)
		widen(&p.Y)
		p.Y.Min /= 1.5
		p.Y.Max *= 4                               // the top is the legend's
		p.X.Max *= math.Pow(p.X.Max/p.X.Min, 0.05) // so that the last tick's label is not cut
	}
	return save(dir, l.Name, p, 16*vg.Centimeter, 10*vg.Centimeter)
}

// widen gives an axis with one value a length, which a logarithm needs.
func widen(a *plot.Axis) {
	if a.Min == a.Max {
		a.Min, a.Max = a.Min/2, a.Max*2
	}
}

// save writes a plot as SVG and PNG.
func save(dir, name string, p *plot.Plot, width, height vg.Length) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	for _, ending := range []string{"svg", "png"} {
		file := filepath.Join(dir, name+"."+ending)
		if err := p.Save(width, height, file); err != nil {
			return files, fmt.Errorf("%s: %w", file, err)
		}
		files = append(files, file)
	}
	return files, nil
}

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
