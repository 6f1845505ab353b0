package bound

import "slices"

// cheaply is the share of a machine's price up to which a resource is worth nothing.
const cheaply = 1e-3

// dear are the resources, by their places among those that can matter, that any machine which
// is bought costs something for. Where machines hold more pods than ever are on them, places for
// pods are none.
func (a *assignment) dear() (out []int) {
	paid := make([]bool, len(a.dims))
	for i := range a.machines {
		if !a.isTight(i) {
			continue
		}
		for e, value := range a.best.vectors[a.best.proof[i]].values {
			paid[e] = paid[e] || value*a.cap(i)[e] > cheaply*a.prices[i]
		}
	}
	for e := range paid {
		if paid[e] {
			out = append(out, e)
		}
	}
	return out
}

// keep leaves out all resources but some, if there are any.
func (a *assignment) keep(places []int) {
	if len(places) == 0 {
		return
	}
	dims, unit := make([]int, len(places)), make([]float64, len(places))
	for k, e := range places {
		dims[k], unit[k] = a.dims[e], a.unit[e]
	}
	a.dims, a.unit = dims, unit
	a.rate()
	demand, scarce := a.demand, a.scarce
	a.measure()
	a.demand, a.scarce = demand, scarce
}

// narrowed are values of the resources that merged classes are told apart by.
func (d *parting) narrowed(values []float64) []float64 {
	out := make([]float64, 0, len(d.alike.dims))
	for e, dim := range d.all.dims {
		if slices.Contains(d.alike.dims, dim) {
			out = append(out, values[e])
		}
	}
	return out
}

// widened are such values with 0 for the other resources.
func (d *parting) widened(values []float64) []float64 {
	out := make([]float64, len(d.all.dims))
	for e, dim := range d.all.dims {
		if at := slices.Index(d.alike.dims, dim); at >= 0 {
			out[e] = values[at]
		}
	}
	return out
}
