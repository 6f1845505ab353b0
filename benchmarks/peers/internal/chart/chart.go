package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is the points of one planner.
type Series struct {
	// Name is that of a planner, which has the same colour in every plot.
	Name   string
	Points []Point
}

// Point is one measurement. On logarithmic axes what is not above 0 is not drawn.
type Point struct{ X, Y float64 }

// Lines is a plot with one curve for each series. Its axes are logarithmic unless they are
// said to be linear.
type Lines struct {
	// Name is that of its file, without the ending.
	Name string
	// Title, X and Y are what it says above and beside the axes.
	Title, X, Y string
	Series      []Series
	// Linear axes begin at 0, and so does every curve.
	Linear bool
}

// Draw writes the plot into the directory, which it makes, as SVG, and returns
// the name of the file.
func (l Lines) Draw(dir string) (string, error) {
	p := newPlot(l.Title, l.X)
	p.Y.Label.Text, p.Title.Padding = l.Y, vg.Points(6)
	if !l.Linear {
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks{}, ticks{}
	}
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
			return "", fmt.Errorf("%s: %s: %w", l.Name, s.Name, err)
		}
		dots.Color, dots.Shape = look(s.Name)
		line.Color = dots.Color
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
		drawn += len(points)
	}
	if drawn == 0 {
		return "", fmt.Errorf("%s: nothing to draw", l.Name)
	}
	if l.Linear {
		p.Legend.Top = false // curves rise
	} else {
		for _, a := range []*plot.Axis{&p.X, &p.Y} {
			if a.Min == a.Max { // a logarithm needs a length
				a.Min, a.Max = a.Min/2, a.Max*2
			}
		}
		p.Y.Min /= 1.5
		p.Y.Max *= 4                               // the top is the legend's
		p.X.Max *= math.Pow(p.X.Max/p.X.Min, 0.05) // so that the last tick's label is not cut
	}
	return save(dir, l.Name, p, 16*vg.Centimeter, 10*vg.Centimeter)
}

// Dots is a plot with a row for each category, and a dot in it for each series.
type Dots struct {
	// Name is that of its file, without the ending.
	Name string
	// Title and X are what it says above and below.
	Title, X string
	// From is where the axis begins, To where it ends. What is beyond stands at the end.
	From, To float64
	// Categories are the rows, from the top.
	Categories []string
	// Series have the figure as X and the number of the category as Y.
	Series []Series
}

// Draw writes the plot into the directory, which it makes, as SVG, and returns
// the name of the file.
func (d Dots) Draw(dir string) (string, error) {
	if len(d.Categories) == 0 {
		return "", fmt.Errorf("%s: nothing to draw", d.Name)
	}
	p := newPlot(d.Title, d.X)
	last := float64(len(d.Categories) - 1)
	for _, s := range d.Series {
		var points plotter.XYs
		for _, at := range s.Points {
			points = append(points, plotter.XY{X: min(at.X, d.To), Y: last - at.Y})
		}
		if len(points) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", d.Name, s.Name, err)
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
	p.X.Min, p.X.Max = d.From, d.To+(d.To-d.From)/2 // the right third is the legend's
	p.Y.Min, p.Y.Max = -0.5, last+0.5
	return save(dir, d.Name, p, 20*vg.Centimeter, vg.Length(3+len(names))*vg.Centimeter*4/5+vg.Centimeter*2)
}

func newPlot(title, x string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, x
	p.Title.TextStyle.Font.Size = vg.Points(10)
	p.Legend.Top, p.Legend.XOffs = true, -vg.Points(6)
	p.Add(plotter.NewGrid())
	return p
}

// save writes a plot as SVG, and returns the name of the file.
func save(dir, name string, p *plot.Plot, width, height vg.Length) (string, error) {
	file := filepath.Join(dir, name+".svg")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := p.Save(width, height, file); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return file, nil
}

// style is the look of one planner.
type style struct {
	planner string
	color   color.RGBA
}

// styles are colours that stay apart in print.
func styles() []style {
	return []style{
		{"karpenter", color.RGBA{R: 0xd6, G: 0x27, B: 0x28, A: 0xff}},
		{"plimsoll fast", color.RGBA{R: 0x8f, G: 0xbf, B: 0xe0, A: 0xff}},
		{"plimsoll", color.RGBA{R: 0x1f, G: 0x4e, B: 0x9c, A: 0xff}},
		{"plimsoll thorough", color.RGBA{R: 0x17, G: 0xa2, B: 0xb8, A: 0xff}},
		{"first-fit all types", color.RGBA{R: 0x8c, G: 0x56, B: 0x4b, A: 0xff}},
		{"best-fit all types", color.RGBA{R: 0xc4, G: 0x9c, B: 0x94, A: 0xff}},
		{"autoscaler least-waste", color.RGBA{R: 0x7f, G: 0x3f, B: 0xbf, A: 0xff}},
		{"autoscaler price", color.RGBA{R: 0xff, G: 0x7f, B: 0x0e, A: 0xff}},
	}
}

// look is the colour and the shape of a planner's dots; the same in every plot.
func look(planner string) (color.Color, draw.GlyphDrawer) {
	all := styles()
	i := slices.IndexFunc(all, func(s style) bool { return s.planner == planner })
	if i < 0 {
		return color.Black, plotutil.Shape(0)
	}
	return all[i].color, plotutil.Shape(i)
}

// ticks mark a logarithmic axis at 1, 2 and 5 times each power of ten.
type ticks struct{}

// Ticks implements [plot.Ticker].
func (ticks) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for decade := math.Floor(math.Log10(low)); decade <= math.Log10(high); decade++ {
		for _, digit := range []float64{1, 2, 5} {
			if x := digit * math.Pow(10, decade); x >= low && x <= high {
				out = append(out, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 6, 64)})
			}
		}
	}
	return out
}
