package chart

import (
	"errors"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

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
