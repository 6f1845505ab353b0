package bound

import "math"

// interior solves a small assignment problem by a primal-dual interior-point method
// (Mehrotra's predictor and corrector). It looks for worths u of classes and, for
// each of a few machines, values λ of its resources and μ of its places, such that
//
//	maximise   Σ n·u − Σ count·π
//	subject to u_c ≤ λ_o·size_c + μ_oc                for every class c that may use machine o
//	           λ_o·cap_o + Σ k_oc·μ_oc − π_o ≤ price_o, where only limited machines have a π
//	           λ, μ, π ≥ 0
//
// Every iterate meets all constraints, so that it may stop at any time. The Newton
// systems shrink to one equation for each resource of each machine, and one more for
// each machine, which comes first. It is all floating point: what comes out is a suggestion.
type interior struct {
	dims, machines, classes int
	size                    []float64 // by class, dims each
	demand                  []float64 // pods by class
	cap                     []float64 // by machine, dims each
	price                   []float64
	limits                  []limit
	which                   []int  // the caller's number of each class
	pairs                   []pair // by class, then by machine
	first                   []int  // first pair of each class

	u          []float64
	astray     float64   // share of the first mismatch that the multipliers still have
	s, m       []float64 // slacks and multipliers of all constraints
	ds, dm, mh []float64
	du, dz     []float64
	lambda     int   // where the constraints λ ≥ 0 begin
	budget     int   // where those on prices begin
	pi         []int // by machine: its constraint π ≥ 0, −1 for none
	matrix     [][]float64
	rhs        []float64
	diag       []float64
	weight     []float64 // w' by pair
	cross      []float64 // ρ by pair
	// Of the pairs of one class: their entries of the matrix, and the weights before.
	vectors, rest []float64
}

// limit is machines of which there are only so many altogether.
type limit struct {
	count    float64
	machines []int
	pi       int // number of the constraint π ≥ 0
}

// pair is a class and a machine that it may use.
type pair struct {
	class, machine int
	k              float64 // places for the class on one machine; 0 where they do not matter
	mu             int     // number of the constraint μ ≥ 0
}

// newInterior lays the constraints out and finds a point that meets all of them.
func newInterior(p *interior) *interior {
	n := len(p.pairs)
	total := n
	for i := range p.pairs {
		if p.pairs[i].k > 0 {
			p.pairs[i].mu = total
			total++
		}
	}
	p.lambda = total
	total += p.machines * p.dims
	p.budget = total
	total += p.machines
	p.pi = make([]int, p.machines)
	for o := range p.pi {
		p.pi[o] = -1
	}
	for i := range p.limits {
		l := &p.limits[i]
		l.pi = total
		total++
		for _, o := range l.machines {
			p.pi[o] = l.pi
		}
	}
	for _, v := range []*[]float64{&p.s, &p.m, &p.ds, &p.dm, &p.mh} {
		*v = make([]float64, total)
	}
	p.u, p.du, p.diag = make([]float64, p.classes), make([]float64, p.classes), make([]float64, p.classes)
	p.weight, p.cross = make([]float64, n), make([]float64, n)
	side := p.machines * (p.dims + 1)
	p.vectors, p.rest = make([]float64, side), make([]float64, p.machines)
	p.rhs, p.dz = make([]float64, side), make([]float64, side)
	cells := make([]float64, side*side)
	p.matrix = make([][]float64, side)
	for i := range p.matrix {
		p.matrix[i] = cells[i*side : (i+1)*side]
	}
	p.start()
	return p
}

func (p *interior) start() {
	p.astray = 1
	places := make([]float64, p.machines)
	for i := range p.pairs {
		places[p.pairs[i].machine] += p.pairs[i].k
	}
	typical := 0.0
	for o := range p.machines {
		typical = max(typical, p.price[o])
	}
	for o := range p.machines {
		price := p.price[o]
		if p.pi[o] >= 0 {
			price = max(price, 0.05*typical)
		}
		share := 0.5 * price / float64(p.dims)
		for d := range p.dims {
			p.s[p.lambda+o*p.dims+d] = share / p.cap[o*p.dims+d]
		}
		used := 0.5 * price
		if places[o] > 0 {
			used += 0.25 * price
		}
		for i := range p.pairs {
			if q := &p.pairs[i]; q.machine == o && q.k > 0 {
				p.s[q.mu] = 0.25 * price / places[o]
			}
		}
		p.s[p.budget+o] = p.price[o] - used
		if at := p.pi[o]; at >= 0 {
			p.s[at] = max(p.s[at], used-p.price[o], 0) + 0.25*price
		}
	}
	for o, at := range p.pi {
		if at >= 0 {
			p.s[p.budget+o] += p.s[at]
		}
	}
	use := make([]float64, p.machines*p.dims)
	most := make([]float64, p.machines)
	for c := range p.classes {
		from, to := p.first[c], p.first[c+1]
		p.u[c] = math.Inf(1)
		for i := from; i < to; i++ {
			p.u[c] = min(p.u[c], p.worth(i))
		}
		p.u[c] *= 0.9
		for i := from; i < to; i++ {
			q := &p.pairs[i]
			p.s[i] = p.worth(i) - p.u[c]
			p.m[i] = p.demand[c] / float64(to-from)
			for d := range p.dims {
				use[q.machine*p.dims+d] += p.m[i] * p.size[c*p.dims+d]
			}
			if q.k > 0 {
				most[q.machine] = max(most[q.machine], p.m[i]/q.k)
			}
		}
	}
	for o := range p.machines {
		z := most[o]
		for d := range p.dims {
			z = max(z, use[o*p.dims+d]/p.cap[o*p.dims+d])
		}
		z = 1.2*z + 1e-6
		p.m[p.budget+o] = z
		for d := range p.dims {
			p.m[p.lambda+o*p.dims+d] = z*p.cap[o*p.dims+d] - use[o*p.dims+d]
		}
	}
	for i := range p.limits {
		l := &p.limits[i]
		left := l.count
		for _, o := range l.machines {
			left -= p.m[p.budget+o]
		}
		p.m[l.pi] = max(left, 0.1*l.count+1e-6)
	}
	for i := range p.pairs {
		if q := &p.pairs[i]; q.k > 0 {
			p.m[q.mu] = q.k*p.m[p.budget+q.machine] - p.m[i]
		}
	}
}

// worth is what machine and place of a pair leave a pod of its class to be worth.
func (p *interior) worth(i int) float64 {
	q := &p.pairs[i]
	sum := 0.0
	for d := range p.dims {
		sum += p.s[p.lambda+q.machine*p.dims+d] * p.size[q.class*p.dims+d]
	}
	if q.k > 0 {
		sum += p.s[q.mu]
	}
	return sum
}

// work estimates the operations of one step.
func (p *interior) work() int64 {
	sum := int64(60 * len(p.pairs))
	block := int64(p.dims + 1)
	for c := range p.classes {
		n := int64(p.first[c+1]-p.first[c]) * block
		sum += n * n / 2
	}
	n := int64(p.machines) * block
	return sum + n*n*n/6
}

// run takes steps until the gap is that share of the objective, rounding errors take
// over or the limit is reached, and returns how many.
func (p *interior) run(share float64, limit int) int {
	for step := range limit {
		gap, scale := 0.0, 0.0
		for i, s := range p.s {
			gap += s * p.m[i]
		}
		for c, u := range p.u {
			scale += p.demand[c] * u
		}
		if !(gap > share*scale || p.astray > share) || !p.factorise() {
			return step
		}
		mean := gap / float64(len(p.s))
		clear(p.mh)
		p.direction()
		alpha, beta := p.steps()
		after := 0.0
		for i := range p.s {
			after += (p.s[i] + alpha*p.ds[i]) * (p.m[i] + beta*p.dm[i])
		}
		sigma := math.Pow(after/gap, 3)
		for i := range p.s {
			p.mh[i] = (sigma*mean - p.ds[i]*p.dm[i]) / p.s[i]
		}
		p.direction()
		alpha, beta = p.steps()
		// Too close to the edge too early, and rounding errors take over.
		near := 0.9
		if gap < 0.1*scale {
			near = 0.99
		}
		alpha, beta = near*alpha, near*beta
		after = 0
		for i := range p.s {
			after += (p.s[i] + alpha*p.ds[i]) * (p.m[i] + beta*p.dm[i])
		}
		if !(after < 10*gap) || p.astray <= share && !(after < gap) {
			return step
		}
		for i := range p.s {
			p.s[i] += alpha * p.ds[i]
			p.m[i] += beta * p.dm[i]
		}
		for c := range p.u {
			p.u[c] += alpha * p.du[c]
		}
		p.astray *= 1 - beta
	}
	return limit
}

// steps are how far slacks and multipliers can go before one vanishes, at most 1.
func (p *interior) steps() (slack, multiplier float64) {
	slack, multiplier = 1, 1
	for i := range p.s {
		if p.ds[i] < 0 {
			slack = min(slack, -p.s[i]/p.ds[i])
		}
		if p.dm[i] < 0 {
			multiplier = min(multiplier, -p.m[i]/p.dm[i])
		}
	}
	return slack, multiplier
}

// factorise builds the reduced Newton matrix and factorises it as L·D·Lᵀ. Values of
// resources have positive pivots, machines negative ones, and no pivoting is needed.
func (p *interior) factorise() bool {
	side := p.dims + 1
	for _, row := range p.matrix {
		clear(row)
	}
	for o := range p.machines {
		at := o * side
		for d := range p.dims {
			i := p.lambda + o*p.dims + d
			p.matrix[at+1+d][at+1+d] = p.m[i] / p.s[i]
			p.matrix[at+1+d][at] = p.cap[o*p.dims+d]
		}
		p.matrix[at][at] = -p.s[p.budget+o] / p.m[p.budget+o]
	}
	for i := range p.limits {
		l := &p.limits[i]
		for k, o := range l.machines {
			for _, other := range l.machines[:k+1] {
				p.matrix[o*side][other*side] -= p.s[l.pi] / p.m[l.pi]
			}
		}
	}
	vectors := p.vectors
	for c := range p.classes {
		from, to := p.first[c], p.first[c+1]
		size := p.size[c*p.dims : (c+1)*p.dims]
		diag := 0.0
		for i := from; i < to; i++ {
			q := &p.pairs[i]
			w := p.m[i] / p.s[i]
			at := q.machine * side
			b := vectors[(i-from)*side : (i-from+1)*side]
			b[0] = 0
			p.weight[i], p.cross[i] = w, 0
			if q.k > 0 {
				v := p.m[q.mu] / p.s[q.mu]
				p.weight[i], p.cross[i] = w*v/(w+v), w/(w+v)
				b[0] = q.k * p.cross[i]
				p.matrix[at][at] -= q.k * q.k / (w + v)
			}
			for d, n := range size {
				b[1+d] = -p.weight[i] * n
			}
			p.rest[i-from] = diag
			diag += p.weight[i]
		}
		p.diag[c] = diag
		// What eliminating the class leaves of a machine's own block is worked out from
		// the weights of the other machines: the difference would cancel out.
		others := 0.0
		for i := to - 1; i >= from; i-- {
			q := &p.pairs[i]
			at := q.machine * side
			share := (p.rest[i-from] + others) / diag
			others += p.weight[i]
			for d, n := range size {
				for e := range d + 1 {
					p.matrix[at+1+d][at+1+e] += p.weight[i] * share * n * size[e]
				}
				p.matrix[at+1+d][at] -= q.k * p.cross[i] * share * n
			}
			p.matrix[at][at] -= q.k * p.cross[i] * q.k * p.cross[i] / diag
		}
		for i := from; i < to; i++ {
			for e, bi := range vectors[(i-from)*side : (i-from+1)*side] {
				if bi == 0 {
					continue
				}
				f := bi / diag
				row := p.matrix[p.pairs[i].machine*side+e]
				for j := from; j < i; j++ {
					cells := row[p.pairs[j].machine*side:]
					for g, bj := range vectors[(j-from)*side : (j-from+1)*side] {
						cells[g] -= f * bj
					}
				}
			}
		}
	}
	return p.cholesky()
}

func (p *interior) cholesky() bool {
	n := len(p.matrix)
	scaled := make([]float64, n)
	for k := range n {
		row := p.matrix[k]
		for j := range k {
			sum := row[j]
			other := p.matrix[j]
			for i := range j {
				sum -= scaled[i] * other[i]
			}
			// scaled holds L·D of this row so far, row the finished L.
			scaled[j] = sum
			row[j] = sum / p.matrix[j][j]
		}
		pivot := row[k]
		for j := range k {
			pivot -= scaled[j] * row[j]
		}
		if math.IsNaN(pivot) || math.IsInf(pivot, 0) {
			return false
		}
		if k%(p.dims+1) == 0 {
			pivot = min(pivot, -1e-30)
		} else {
			pivot = max(pivot, 1e-30)
		}
		row[k] = pivot
	}
	return true
}

// direction solves the Newton system and leaves the changes of slacks and
// multipliers. mh is what the products of the two aim at, over the slacks.
func (p *interior) direction() {
	side := p.dims + 1
	for o := range p.machines {
		at := o * side
		z := p.mh[p.budget+o]
		for d := range p.dims {
			p.rhs[at+1+d] = p.mh[p.lambda+o*p.dims+d] - z*p.cap[o*p.dims+d]
		}
		p.rhs[at] = 0
	}
	for i := range p.limits {
		l := &p.limits[i]
		change := p.unlimited(l)
		for _, o := range l.machines {
			p.rhs[o*side] = change
		}
	}
	for c := range p.classes {
		from, to := p.first[c], p.first[c+1]
		size := p.size[c*p.dims : (c+1)*p.dims]
		left := p.demand[c]
		for i := from; i < to; i++ {
			q := &p.pairs[i]
			at := q.machine * side
			left -= p.mh[i]
			own := p.mh[i]
			if q.k > 0 {
				r := p.mh[i] - q.k*p.mh[p.budget+q.machine] + p.mh[q.mu]
				left += p.cross[i] * r
				own -= p.cross[i] * r
				p.rhs[at] -= q.k * r * p.s[i] * p.cross[i] / p.m[i]
			}
			for d, n := range size {
				p.rhs[at+1+d] += n * own
			}
		}
		p.du[c] = left
		f := left / p.diag[c]
		for i := from; i < to; i++ {
			q := &p.pairs[i]
			at := q.machine * side
			for d, n := range size {
				p.rhs[at+1+d] += p.weight[i] * n * f
			}
			p.rhs[at] -= q.k * p.cross[i] * f
		}
	}
	p.solve()
	for c := range p.classes {
		from, to := p.first[c], p.first[c+1]
		size := p.size[c*p.dims : (c+1)*p.dims]
		sum := p.du[c]
		for i := from; i < to; i++ {
			q := &p.pairs[i]
			at := q.machine * side
			for d, n := range size {
				sum += p.weight[i] * n * p.dz[at+1+d]
			}
			sum -= q.k * p.cross[i] * p.dz[at]
		}
		p.du[c] = sum / p.diag[c]
	}
	p.changes()
}

// unlimited is how π of a limit would change if the machines' part in it did not.
func (p *interior) unlimited(l *limit) float64 {
	sum := p.mh[l.pi] - l.count
	for _, o := range l.machines {
		sum += p.mh[p.budget+o]
	}
	return sum * p.s[l.pi] / p.m[l.pi]
}

// solve puts the solution for rhs into dz.
func (p *interior) solve() {
	n := len(p.matrix)
	copy(p.dz, p.rhs)
	for k := range n {
		sum := p.dz[k]
		for j, l := range p.matrix[k][:k] {
			sum -= l * p.dz[j]
		}
		p.dz[k] = sum
	}
	for k := range n {
		p.dz[k] /= p.matrix[k][k]
	}
	for k := n - 1; k >= 0; k-- {
		v := p.dz[k]
		for j, l := range p.matrix[k][:k] {
			p.dz[j] -= l * v
		}
	}
}

// changes works out the changes of slacks from those of u, λ and the machines, and
// the changes of multipliers from them.
func (p *interior) changes() {
	side := p.dims + 1
	for o := range p.machines {
		sum := 0.0
		for d := range p.dims {
			v := p.dz[o*side+1+d]
			p.ds[p.lambda+o*p.dims+d] = v
			sum += v * p.cap[o*p.dims+d]
		}
		p.ds[p.budget+o] = -sum
	}
	for i := range p.limits {
		l := &p.limits[i]
		sum := p.unlimited(l)
		for _, o := range l.machines {
			sum += p.dz[o*side] * p.s[l.pi] / p.m[l.pi]
		}
		p.ds[l.pi] = sum
		for _, o := range l.machines {
			p.ds[p.budget+o] += sum
		}
	}
	for i := range p.pairs {
		q := &p.pairs[i]
		e := p.du[q.class]
		for d := range p.dims {
			e -= p.dz[q.machine*side+1+d] * p.size[q.class*p.dims+d]
		}
		if q.k > 0 {
			w := p.m[i] / p.s[i]
			r := p.mh[i] - q.k*p.mh[p.budget+q.machine] + p.mh[q.mu]
			mu := (r + w*e - q.k*p.dz[q.machine*side]) * p.cross[i] / w
			p.ds[q.mu] = mu
			p.ds[p.budget+q.machine] -= q.k * mu
			e -= mu
		}
		p.ds[i] = -e
	}
	for i := range p.s {
		p.dm[i] = p.mh[i] - p.m[i] - p.m[i]*p.ds[i]/p.s[i]
	}
}
