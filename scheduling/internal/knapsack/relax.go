package knapsack

import "math"

// Relaxed is the linear relaxation of a knapsack, in which a machine can hold fractions of pods:
//
//	max Σ u_c·x_c   subject to   Σ size_c·x_c ≤ 1 in every resource,   0 ≤ x_c ≤ k_c
//
// with sizes as shares of the machine. It is solved by the simplex method with bounded variables, starting from
// the empty machine.
type Relaxed struct {
	Dims      int
	PodValues []float64
	Sizes     []float64 // by class, Dims each
	Most      []float64

	basis   []int // class, or len(Worths) + resource for its slack
	inBasis []bool
	full    []bool // by class: whether it is non-basic at its upper bound
	inverse []float64
	x       []float64 // of the basic variables
	values  []float64 // duals of the resources
	column  []float64
}

// Relax returns the relaxation. worths are the values of pods, by number of the class.
func (v *Knapsack) Relax(worths []float64) *Relaxed {
	n, dims := len(v.Classes), len(v.Rows)
	parts := make([]float64, 0, n*(2+dims))
	r := &Relaxed{Dims: dims, PodValues: parts[:0:n], Most: parts[n : n : 2*n], Sizes: parts[2*n : 2*n]}
	for k, c := range v.Classes {
		r.PodValues, r.Most = append(r.PodValues, worths[c]), append(r.Most, float64(v.Most[k]))
		for d, n := range v.Size(k) {
			r.Sizes = append(r.Sizes, float64(n)/float64(max(1, v.Room[d])))
		}
	}
	return r
}

// mostSteps bounds the pivots. The duals may be used wherever they stop.
const mostSteps = 200

// Solve returns the resource duals, by which the value of the machine is least. They are valid until the next
// call.
func (r *Relaxed) Solve() []float64 {
	r.begin()
	for range mostSteps {
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

func (r *Relaxed) begin() {
	n := len(r.PodValues)
	flags := make([]bool, 2*n+r.Dims)
	r.basis, r.inBasis, r.full = make([]int, r.Dims), flags[:n+r.Dims], flags[n+r.Dims:]
	parts := make([]float64, r.Dims*(r.Dims+3))
	r.inverse, parts = parts[:r.Dims*r.Dims], parts[r.Dims*r.Dims:]
	r.x, r.values, r.column = parts[:r.Dims], parts[r.Dims:2*r.Dims], parts[2*r.Dims:]
	for d := range r.Dims {
		r.basis[d], r.inBasis[n+d] = n+d, true
		r.inverse[d*r.Dims+d], r.x[d] = 1, 1
	}
}

// price computes the duals from the basis.
func (r *Relaxed) price() {
	clear(r.values)
	for i, j := range r.basis {
		if j < len(r.PodValues) {
			for d := range r.Dims {
				r.values[d] += r.PodValues[j] * r.inverse[i*r.Dims+d]
			}
		}
	}
}

// choose returns the variable with the best reduced cost, and whether it enters by decreasing; −1 at the
// optimum.
func (r *Relaxed) choose() (entering int, down bool) {
	entering = -1
	best := 1e-12
	for c, u := range r.PodValues {
		if r.inBasis[c] || r.Most[c] == 0 {
			continue
		}
		gain := u
		for d, n := range r.Sizes[c*r.Dims : (c+1)*r.Dims] {
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
		if v < 0 && !r.inBasis[len(r.PodValues)+d] && entering < 0 {
			entering, down = len(r.PodValues)+d, false
		}
	}
	return entering, down
}

// pivot changes the entering variable as far as the basic ones allow. It reports false for an unbounded
// direction.
func (r *Relaxed) pivot(entering int, down bool) bool {
	n := len(r.PodValues)
	limit := math.Inf(1)
	for i := range r.Dims {
		r.column[i] = 0
		if entering >= n {
			r.column[i] = r.inverse[i*r.Dims+entering-n]
			continue
		}
		for d, v := range r.Sizes[entering*r.Dims : (entering+1)*r.Dims] {
			r.column[i] += r.inverse[i*r.Dims+d] * v
		}
	}
	if entering < n {
		limit = r.Most[entering]
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
			upper = r.Most[j]
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
		r.x[leaving] = r.Most[entering] - limit
	}
	row := r.inverse[leaving*r.Dims : (leaving+1)*r.Dims]
	for d := range row {
		row[d] /= r.column[leaving]
	}
	for i, w := range r.column {
		if i == leaving || w == 0 {
			continue
		}
		for d := range row {
			r.inverse[i*r.Dims+d] -= w * row[d]
		}
	}
	return true
}

// Amounts returns the number of pods of each class in the solution.
func (r *Relaxed) Amounts() []float64 {
	out := make([]float64, len(r.PodValues))
	for c, full := range r.full {
		if full && !r.inBasis[c] {
			out[c] = r.Most[c]
		}
	}
	for k, j := range r.basis {
		if j < len(out) {
			out[j] = max(0, r.x[k])
		}
	}
	return out
}
