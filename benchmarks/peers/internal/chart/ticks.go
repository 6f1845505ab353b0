package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

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
