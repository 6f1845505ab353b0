package pack

import "slices"

const (
	// insistFrom is up to how many usual pods too many it is worth insisting, insistSteps bounds
	// the steps, and insistMore is how much worse it gets to have too much where nothing helped.
	insistFrom, insistSteps, insistMore = 4, 1500, 1.3
)

// insist exchanges pods until no machine holds more than it has room for, and reports whether
// it comes to that. Where no exchange makes things better it counts for more what is too much
// there, so that others take over some of it and pass it on. In vain it leaves all as it was.
func (x *squeeze) insist() bool {
	before := x.clone()
	x.margin, x.weight = 0, slices.Repeat([]float64{1}, len(x.over))
	stuck := make([]bool, len(x.nodes))
	for range insistSteps {
		worst, most, full := -1, squeezeGain, true
		for i := range x.nodes {
			v := x.bad(i)
			full = full && v <= squeezeGain
			if v > most && !stuck[i] {
				worst, most = i, v
			}
		}
		if full {
			break
		}
		switch {
		case worst < 0:
			for k, v := range x.over {
				if v > 0 {
					x.weight[k] *= insistMore
				}
			}
			clear(stuck)
		case x.step(worst, most):
			clear(stuck)
		default:
			stuck[worst] = true
		}
	}
	x.weight = nil
	if x.fits() {
		return true
	}
	before.work = x.work
	*x = *before
	return false
}

// clone is a squeeze of the same machines with the same pods.
func (x *squeeze) clone() *squeeze {
	y := *x
	y.nodes, y.over, y.out = cloneNodes(x.nodes), slices.Clone(x.over), slices.Clone(x.out)
	y.crowd = slices.Clone(x.crowd)
	return &y
}
