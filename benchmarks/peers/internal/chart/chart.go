package chart

import (
	"errors"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
)

// Draw writes its plots into a directory, which it makes, as SVG and PNG each:
// cost.svg has one line for each instance, and time-SERIES.svg one curve for each
// planner, for every series of instances that differ in their number of pods alone. It
// returns the names of the files.
func Draw(dir string, rows []table.Row) ([]string, error) {
	var files []string
	keep := func(name string, p *plot.Plot, width, height vg.Length) error {
		drawn, err := save(dir, name, p, width, height)
		files = append(files, drawn...)
		return err
	}
	cost, height, err := costPlot(rows)
	if err == nil {
		err = keep("cost", cost, 24*vg.Centimeter, height)
	}
	faults := []error{err}
	for _, series := range seriesOf(rows) {
		p, err := timePlot(series, rows)
		if err == nil {
			err = keep("time-"+strings.ReplaceAll(series, "/", "-"), p, 16*vg.Centimeter, 12*vg.Centimeter)
		}
		faults = append(faults, err)
	}
	return files, errors.Join(faults...)
}

// series is an instance's name without the number of pods.
func series(r table.Row) string {
	if i := strings.LastIndex(r.Instance, "/"); i >= 0 {
		return r.Instance[:i]
	}
	return r.Instance
}

// seriesOf lists the series that have several sizes, in order of appearance.
func seriesOf(rows []table.Row) []string {
	sizes := map[string][]int{}
	var names []string
	for _, r := range rows {
		name := series(r)
		if !slices.Contains(sizes[name], r.Pods) {
			sizes[name] = append(sizes[name], r.Pods)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(sizes[name]) < 2 })
}

// planners are the peers in order of appearance, each once.
func planners(rows []table.Row) []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Peer) {
			names = append(names, r.Peer)
		}
	}
	return names
}

// timePlot draws the curves of one series, both axes logarithmic.
func timePlot(name string, rows []table.Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = name
	p.X.Label.Text, p.Y.Label.Text = "pods", "seconds"
	logarithmic(p)
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for _, planner := range planners(rows) {
		var points plotter.XYs
		for _, r := range rows {
			if r.Peer == planner && series(r) == name && r.Elapsed > 0 && r.Pods > 0 {
				points = append(points, plotter.XY{X: float64(r.Pods), Y: r.Elapsed.Seconds()})
			}
		}
		if len(points) == 0 {
			continue
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return int(a.X - b.X) })
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Shape = look(planner)
		line.Color = dots.Color
		p.Add(line, dots)
		p.Legend.Add(planner, line, dots)
	}
	p.X.Max *= p.X.Max / p.X.Min // the right half is the legend's
	return p, nil
}

// costPlot has a line of dots for each instance, one dot a planner.
func costPlot(rows []table.Row) (*plot.Plot, vg.Length, error) {
	p := plot.New()
	p.Title.Text = "price ÷ lower bound (planners that place fewer pods are left out)"
	p.X.Label.Text = "price ÷ lower bound"
	p.Legend.Top = true
	var instances []string
	for _, r := range rows {
		if r.OverBound > 0 && !slices.Contains(instances, r.Instance) {
			instances = append(instances, r.Instance)
		}
	}
	slices.Reverse(instances) // the first one goes to the top
	p.Add(plotter.NewGrid())
	for _, planner := range planners(rows) {
		var points plotter.XYs
		for _, r := range rows {
			if r.Peer == planner && r.OverBound > 0 {
				points = append(points, plotter.XY{X: r.OverBound, Y: float64(slices.Index(instances, r.Instance))})
			}
		}
		if len(points) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return nil, 0, err
		}
		dots.Color, dots.Shape = look(planner)
		dots.Radius = 3 * vg.Millimeter / 2
		p.Add(dots)
		p.Legend.Add(planner, dots)
	}
	if len(instances) > 0 {
		p.NominalY(instances...)
	}
	p.X.Min = 1
	p.X.Max += (p.X.Max - p.X.Min) / 2 // the right third is the legend's
	p.Y.Min, p.Y.Max = -0.5, max(float64(len(instances))-0.5, 0.5)
	return p, vg.Length(6+len(instances)) * vg.Centimeter, nil
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
		{"first-fit one type", color.RGBA{R: 0x2c, G: 0xa0, B: 0x2c, A: 0xff}},
		{"best-fit one type", color.RGBA{R: 0x98, G: 0xdf, B: 0x8a, A: 0xff}},
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

// logarithmic makes the plot's axes logarithmic.
func logarithmic(p *plot.Plot) {
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{}, ticks{}
}
