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
	counted                 bool   // machines may be of several limits
	which                   []int  // the caller's number of each class
	pairs                   []pair // by class, then by machine
	late                    func() bool
	first                   []int // first pair of each class

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
	rest       []float64 // of the pairs of one class: the weights before
	order      []int     // classes, those of the same machines together
	gram       gram
	scaled     [rowsAtOnce][]float64 // for cholesky
}

// limit is machines of which there are only so many altogether. A machine may be of several.
type limit struct {
	count    float64
	machines []int
	// sign is 1, or −1 where there are at least minus count of the machines: what that is
	// worth is taken off their price.
	sign float64
	pi   int // number of the constraint π ≥ 0
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
		if l.sign > 0 {
			for _, o := range l.machines {
				p.pi[o] = l.pi
			}
		}
	}
	for _, v := range []*[]float64{&p.s, &p.m, &p.ds, &p.dm, &p.mh} {
		*v = make([]float64, total)
	}
	p.u, p.du, p.diag = make([]float64, p.classes), make([]float64, p.classes), make([]float64, p.classes)
	p.weight, p.cross = make([]float64, n), make([]float64, n)
	side := p.machines * (p.dims + 1)
	p.rest, p.order = make([]float64, p.machines), p.alike()
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
		if p.pi[o] >= 0 && p.price[o] < 0.05*typical {
			price = 0.05 * typical
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
	p.startLimits()
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
			left -= l.sign * p.m[p.budget+o]
		}
		p.m[l.pi] = max(left, 0.1*math.Abs(l.count)+1e-6)
	}
	for i := range p.pairs {
		if q := &p.pairs[i]; q.k > 0 {
			p.m[q.mu] = q.k*p.m[p.budget+q.machine] - p.m[i]
		}
	}
}

// startLimits gives the machines that a limit makes dearer what they may hold more for it, and
// takes a little off those that it makes cheaper.
func (p *interior) startLimits() {
	for i := range p.limits {
		l := &p.limits[i]
		if l.sign < 0 {
			continue
		}
		if p.s[l.pi] == 0 { // all of its machines are of others, too
			p.s[l.pi] = 0.25 * p.price[l.machines[0]]
		}
		for _, o := range l.machines {
			p.s[p.budget+o] += p.s[l.pi]
		}
	}
	for i := range p.limits {
		l := &p.limits[i]
		if l.sign > 0 {
			continue
		}
		least := math.Inf(1)
		for _, o := range l.machines {
			least = min(least, p.s[p.budget+o])
		}
		p.s[l.pi] = 0.25 * least
		for _, o := range l.machines {
			p.s[p.budget+o] -= p.s[l.pi]
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
// over, the limit is reached or it is late, and returns how many. Where rounding errors
// cost more than a trifle, it goes back to the best worths that it came by.
func (p *interior) run(share float64, limit int) int {
	best := point{objective: math.Inf(-1)}
	taken := p.advance(share, limit, func() {
		if now := p.objective(); now >= best.objective {
			best = point{now, p.astray, append(best.u[:0], p.u...), append(best.s[:0], p.s...), append(best.m[:0], p.m...)}
		}
	})
	if taken < limit && p.objective() < best.objective-1e-6*math.Abs(best.objective) {
		p.astray = best.astray
		copy(p.u, best.u)
		copy(p.s, best.s)
		copy(p.m, best.m)
	}
	return taken
}

// point is where an interior-point run came by.
type point struct {
	objective, astray float64
	u, s, m           []float64
}

// objective is what the worths prove of the machines of the problem.
func (p *interior) objective() float64 {
	sum := 0.0
	for c, u := range p.u {
		sum += p.demand[c] * u
	}
	for _, l := range p.limits {
		sum -= l.count * p.s[l.pi]
	}
	return sum
}

func (p *interior) advance(share float64, limit int, note func()) int {
	for step := range limit {
		note()
		if p.late != nil && p.late() {
			return step
		}
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
		left := after / gap
		sigma := left * left * left
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
