package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg/draw"
)

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
