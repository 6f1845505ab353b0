package bound

import "math"

// relaxed is what a machine could hold if pods could be cut into pieces:
//
//	max Σ u_c·x_c   subject to   Σ size_c·x_c ≤ 1 in every resource,   0 ≤ x_c ≤ k_c
//
// with sizes as shares of the machine. It is solved by the simplex method with bounded
// variables, which starts from the empty machine.
type relaxed struct {
	dims   int
	worths []float64
	sizes  []float64 // by class, dims each
	most   []float64

	basis   []int // class, or len(worths) + resource for what is free
	inBasis []bool
	full    []bool // whether a class outside of the basis is at its most
	inverse []float64
	x       []float64 // of the basis
	values  []float64 // of the resources
	column  []float64
}

// mostRelaxedSteps bounds the pivots. Values are of use wherever they stop.
const mostRelaxedSteps = 200

// solve returns the values of the resources that leave the machine the least worth.
func (r *relaxed) solve() []float64 {
	r.begin()
	for range mostRelaxedSteps {
		r.price()
		entering, down := r.choose()
		if entering < 0 || !r.pivot(entering, down) {
			break
		}
	}
	for d := range r.values {
		r.values[d] = max(0, r.values[d])
	}
	return r.values
}

func (r *relaxed) begin() {
	n := len(r.worths)
	flags := make([]bool, 2*n+r.dims)
	r.basis, r.inBasis, r.full = make([]int, r.dims), flags[:n+r.dims], flags[n+r.dims:]
	parts := make([]float64, r.dims*(r.dims+3))
	r.inverse, parts = parts[:r.dims*r.dims], parts[r.dims*r.dims:]
	r.x, r.values, r.column = parts[:r.dims], parts[r.dims:2*r.dims], parts[2*r.dims:]
	for d := range r.dims {
		r.basis[d], r.inBasis[n+d] = n+d, true
		r.inverse[d*r.dims+d], r.x[d] = 1, 1
	}
}

// price works the values out from the basis.
func (r *relaxed) price() {
	clear(r.values)
	for i, j := range r.basis {
		if j < len(r.worths) {
			for d := range r.dims {
				r.values[d] += r.worths[j] * r.inverse[i*r.dims+d]
			}
		}
	}
}

// choose returns the class or free resource that gains most by entering the basis, and
// whether it does so by giving way; -1 at the optimum.
func (r *relaxed) choose() (entering int, down bool) {
	entering = -1
	best := 1e-12
	for c, u := range r.worths {
		if r.inBasis[c] || r.most[c] == 0 {
			continue
		}
		gain := u
		for d, n := range r.sizes[c*r.dims : (c+1)*r.dims] {
			gain -= r.values[d] * n
		}
		if r.full[c] {
			gain = -gain
		}
		if gain > best*u {
			entering, down, best = c, r.full[c], gain/max(u, 1e-300)
		}
	}
	for d, v := range r.values {
		if v < 0 && !r.inBasis[len(r.worths)+d] && entering < 0 {
			entering, down = len(r.worths)+d, false
		}
	}
	return entering, down
}

// pivot moves the entering variable as far as the others allow.
func (r *relaxed) pivot(entering int, down bool) bool {
	n := len(r.worths)
	limit := math.Inf(1)
	for i := range r.dims {
		r.column[i] = 0
		if entering >= n {
			r.column[i] = r.inverse[i*r.dims+entering-n]
			continue
		}
		for d, v := range r.sizes[entering*r.dims : (entering+1)*r.dims] {
			r.column[i] += r.inverse[i*r.dims+d] * v
		}
	}
	if entering < n {
		limit = r.most[entering]
	}
	sign := 1.0
	if down {
		sign = -1
	}
	leaving, atMost := -1, false
	for i, w := range r.column {
		w *= sign
		upper := math.Inf(1)
		if j := r.basis[i]; j < n {
			upper = r.most[j]
		}
		switch {
		case w > 1e-11:
			if t := max(0, r.x[i]/w); t < limit {
				leaving, limit, atMost = i, t, false
			}
		case w < -1e-11 && !math.IsInf(upper, 1):
			if t := max(0, (upper-r.x[i])/-w); t < limit {
				leaving, limit, atMost = i, t, true
			}
		}
	}
	if math.IsInf(limit, 1) {
		return false
	}
	for i, w := range r.column {
		r.x[i] -= sign * limit * w
	}
	if leaving < 0 {
		r.full[entering] = !down
		return true
	}
	if out := r.basis[leaving]; out < n {
		r.full[out] = atMost
		r.inBasis[out] = false
	} else {
		r.inBasis[out] = false
	}
	r.basis[leaving], r.inBasis[entering] = entering, true
	r.x[leaving] = limit
	if down {
		r.x[leaving] = r.most[entering] - limit
	}
	row := r.inverse[leaving*r.dims : (leaving+1)*r.dims]
	for d := range row {
		row[d] /= r.column[leaving]
	}
	for i, w := range r.column {
		if i == leaving || w == 0 {
			continue
		}
		for d := range row {
			r.inverse[i*r.dims+d] -= w * row[d]
		}
	}
	return true
}

// pods is how many pods the machine holds, pieces counted as pieces.
func (r *relaxed) pods() float64 {
	pods := 0.0
	for c, full := range r.full {
		if full && !r.inBasis[c] {
			pods += r.most[c]
		}
	}
	for k, j := range r.basis {
		if j < len(r.worths) {
			pods += r.x[k]
		}
	}
	return pods
}
