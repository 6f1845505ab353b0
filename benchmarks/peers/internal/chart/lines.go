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
