package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Measures of the chart, in pixels.
const (
	chartWidth, chartHeight = 900, 360
	left, right, top, foot  = 60, 20, 40, 40
)

// chart draws price and lower bound over time, as SVG.
func chart(points []point) string {
	var highest offerings.Price
	for _, p := range points {
		highest = max(highest, p.price)
	}
	length := time.Duration(len(points)) * tick
	x := func(i int) float64 { return left + float64(i)/float64(max(1, len(points)-1))*(chartWidth-left-right) }
	y := func(p offerings.Price) float64 {
		return chartHeight - foot - p.USD()/max(highest.USD(), 1e-9)*(chartHeight-top-foot)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", chartWidth, chartHeight)
	for i := range 5 {
		p := highest * offerings.Price(i) / 4
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`, left, chartWidth-right, y(p), y(p))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.2f</text>`+"\n", left-6, y(p)+4, p.USD())
	}
	for at := time.Duration(0); at <= length; at += max(length/8, tick).Truncate(tick) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%.0fh</text>`+"\n", x(int(at/tick)), chartHeight-foot+18, at.Hours())
	}
	line := func(name, colour string, place int, value func(*point) offerings.Price) {
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="`, colour)
		var last offerings.Price = -1
		for i := range points {
			// A step is drawn where the value changes.
			if v := value(&points[i]); v != last || i == len(points)-1 {
				if last >= 0 {
					fmt.Fprintf(&b, "%.1f,%.1f ", x(i), y(last))
				}
				fmt.Fprintf(&b, "%.1f,%.1f ", x(i), y(v))
				last = v
			}
		}
		fmt.Fprintf(&b, `"/><text x="%d" y="20" fill="%s">%s</text>`+"\n", left+place, colour, name)
	}
	line("lower bound, USD per hour", "#2a7", 160, func(p *point) offerings.Price { return p.bound })
	line("price, USD per hour", "#26c", 0, func(p *point) offerings.Price { return p.price })
	b.WriteString("</svg>\n")
	return b.String()
}
