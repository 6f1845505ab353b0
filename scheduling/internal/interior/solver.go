package interior

import "math"

// Problem is the linear program that buys fractions of machines so that all pods have a place, in fractions of
// pods. Its dual has a value u for each class and, for each machine, values λ of its resources and μ of its
// places:
//
//	maximise   Σ n·u − Σ ±count·π
//	subject to u_c ≤ λ_o·size_c + μ_oc                for every class c that may use machine o
//	           λ_o·cap_o + Σ k_oc·μ_oc − Σ ±π ≤ price_o, with the π of the limits that count the machine
//	           λ, μ, π ≥ 0, and − where a limit says at least
type Problem struct {
	// Dims is the number of resources.
	Dims int
	// Sizes are by class, Dims each; Demand is the number of pods by class.
	Sizes, Demand []float64
	// Caps are by machine, Dims each and all of them above 0; Prices are by machine.
	Caps, Prices []float64
	// Pairs are the classes with the machines that they may use, by class and then by machine. First
	// is the first pair of each class, and one more for the end. Each class has one at least.
	Pairs []Pair
	First []int
	// Limits bound numbers of machines. Exact must be set if numbers of machines are read from the solution, or
	// if a machine has several limits; the duals are a little less precise then.
	Limits []Limit
	Exact  bool
	// Late reports whether the deadline has passed; nil for no deadline.
	Late func() bool
}

// Pair is a class and a machine that it may use.
type Pair struct {
	Class, Machine int
	// Places is k_oc, the number of pods of the class that one machine holds; 0 for no such limit.
	Places float64
	mu     int // number of the constraint μ ≥ 0
}

// Limit bounds the number of some machines to at most Count, or at least Count.
type Limit struct {
	Count    float64
	AtLeast  bool
	Machines []int
	pi       int // number of the constraint π ≥ 0
}

// sign is 1, or −1 for a lower bound, whose π is subtracted from prices.
func (l *Limit) sign() float64 {
	if l.AtLeast {
		return -1
	}
	return 1
}

// count is the count with the sign of the constraint.
func (l *Limit) count() float64 { return l.sign() * l.Count }

// Solver solves a [Problem] by a primal-dual interior-point method (Mehrotra's predictor and corrector). Every
// iterate meets all constraints of the dual, so that it may stop at any time. The Newton systems shrink to one
// equation for each machine, which comes first, and one for each of its resources.
type Solver struct {
	Problem

	machines, classes int
	u                 []float64
	residual          float64   // primal infeasibility, as a share of that of the first iterate
	s, m              []float64 // slacks and multipliers of all constraints
	ds, dm, mh        []float64
	du, dz            []float64
	lambda            int   // index of the first constraint λ ≥ 0
	budget            int   // index of the first price constraint
	pi                []int // by machine: its constraint π ≥ 0, −1 for none
	matrix            [][]float64
	rhs               []float64
	diag              []float64
	weight            []float64 // w' by pair
	cross             []float64 // ρ by pair
	rest              []float64 // of the pairs of one class: sum of the weights before
	order             []int     // classes, with those of the same machines adjacent
	gram              gram
	scaled            [rowsAtOnce][]float64 // for cholesky
}

// Worth returns the dual u of a class.
func (p *Solver) Worth(class int) float64 { return p.u[class] }

// Values returns the duals λ of a machine's resources. They are valid until the next run.
func (p *Solver) Values(machine int) []float64 {
	return p.s[p.lambda+machine*p.Dims : p.lambda+(machine+1)*p.Dims]
}

// Bought returns the number of a machine in the solution, roughly unless the problem is exact.
func (p *Solver) Bought(machine int) float64 { return p.m[p.budget+machine] }

// LimitDual returns the dual π of a limit.
func (p *Solver) LimitDual(limit int) float64 { return p.s[p.Limits[limit].pi] }

// Residual returns the primal infeasibility, as a share of that of the first iterate.
func (p *Solver) Residual() float64 { return p.residual }

// New lays out the constraints and finds a strictly feasible point of the dual.
func New(problem Problem) *Solver {
	p := &Solver{Problem: problem, machines: len(problem.Prices), classes: len(problem.Demand)}
	n := len(p.Pairs)
	total := n
	for i := range p.Pairs {
		if p.Pairs[i].Places > 0 {
			p.Pairs[i].mu = total
			total++
		}
	}
	p.lambda = total
	total += p.machines * p.Dims
	p.budget = total
	total += p.machines
	p.pi = make([]int, p.machines)
	for o := range p.pi {
		p.pi[o] = -1
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		l.pi = total
		total++
		if !l.AtLeast {
			for _, o := range l.Machines {
				p.pi[o] = l.pi
			}
		}
	}
	for _, v := range []*[]float64{&p.s, &p.m, &p.ds, &p.dm, &p.mh} {
		*v = make([]float64, total)
	}
	p.u, p.du, p.diag = make([]float64, p.classes), make([]float64, p.classes), make([]float64, p.classes)
	p.weight, p.cross = make([]float64, n), make([]float64, n)
	side := p.machines * (p.Dims + 1)
	p.rest, p.order = make([]float64, p.machines), p.similarOrder()
	p.rhs, p.dz = make([]float64, side), make([]float64, side)
	cells := make([]float64, side*side)
	p.matrix = make([][]float64, side)
	for i := range p.matrix {
		p.matrix[i] = cells[i*side : (i+1)*side]
	}
	p.start()
	return p
}

func (p *Solver) start() {
	p.residual = 1
	places := make([]float64, p.machines)
	for i := range p.Pairs {
		places[p.Pairs[i].Machine] += p.Pairs[i].Places
	}
	typical := 0.0
	for o := range p.machines {
		typical = max(typical, p.Prices[o])
	}
	for o := range p.machines {
		price := p.Prices[o]
		if p.pi[o] >= 0 && p.Prices[o] < 0.05*typical {
			price = 0.05 * typical
		}
		share := 0.5 * price / float64(p.Dims)
		for d := range p.Dims {
			p.s[p.lambda+o*p.Dims+d] = share / p.Caps[o*p.Dims+d]
		}
		used := 0.5 * price
		if places[o] > 0 {
			used += 0.25 * price
		}
		for i := range p.Pairs {
			if q := &p.Pairs[i]; q.Machine == o && q.Places > 0 {
				p.s[q.mu] = 0.25 * price / places[o]
			}
		}
		p.s[p.budget+o] = p.Prices[o] - used
		if at := p.pi[o]; at >= 0 {
			p.s[at] = max(p.s[at], used-p.Prices[o], 0) + 0.25*price
		}
	}
	p.startLimits()
	use := make([]float64, p.machines*p.Dims)
	most := make([]float64, p.machines)
	for c := range p.classes {
		from, to := p.First[c], p.First[c+1]
		p.u[c] = math.Inf(1)
		for i := from; i < to; i++ {
			p.u[c] = min(p.u[c], p.worth(i))
		}
		p.u[c] *= 0.9
		for i := from; i < to; i++ {
			q := &p.Pairs[i]
			p.s[i] = p.worth(i) - p.u[c]
			p.m[i] = p.Demand[c] / float64(to-from)
			for d := range p.Dims {
				use[q.Machine*p.Dims+d] += p.m[i] * p.Sizes[c*p.Dims+d]
			}
			if q.Places > 0 {
				most[q.Machine] = max(most[q.Machine], p.m[i]/q.Places)
			}
		}
	}
	for o := range p.machines {
		z := most[o]
		for d := range p.Dims {
			z = max(z, use[o*p.Dims+d]/p.Caps[o*p.Dims+d])
		}
		z = 1.2*z + 1e-6
		p.m[p.budget+o] = z
		for d := range p.Dims {
			p.m[p.lambda+o*p.Dims+d] = z*p.Caps[o*p.Dims+d] - use[o*p.Dims+d]
		}
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		left := l.count()
		for _, o := range l.Machines {
			left -= l.sign() * p.m[p.budget+o]
		}
		p.m[l.pi] = max(left, 0.1*math.Abs(l.count())+1e-6)
	}
	for i := range p.Pairs {
		if q := &p.Pairs[i]; q.Places > 0 {
			p.m[q.mu] = q.Places*p.m[p.budget+q.Machine] - p.m[i]
		}
	}
}

// startLimits adds the π of upper bounds to the slacks of their machines' prices, and subtracts those of lower
// bounds.
func (p *Solver) startLimits() {
	for i := range p.Limits {
		l := &p.Limits[i]
		if l.AtLeast {
			continue
		}
		if p.s[l.pi] == 0 { // all of its machines have other limits, too
			p.s[l.pi] = 0.25 * p.Prices[l.Machines[0]]
		}
		for _, o := range l.Machines {
			p.s[p.budget+o] += p.s[l.pi]
		}
	}
	for i := range p.Limits {
		l := &p.Limits[i]
		if !l.AtLeast {
			continue
		}
		least := math.Inf(1)
		for _, o := range l.Machines {
			least = min(least, p.s[p.budget+o])
		}
		p.s[l.pi] = 0.25 * least
		for _, o := range l.Machines {
			p.s[p.budget+o] -= p.s[l.pi]
		}
	}
}

// worth returns the right side of u_c ≤ λ_o·size_c + μ_oc for a pair.
func (p *Solver) worth(i int) float64 {
	q := &p.Pairs[i]
	sum := 0.0
	for d := range p.Dims {
		sum += p.s[p.lambda+q.Machine*p.Dims+d] * p.Sizes[q.Class*p.Dims+d]
	}
	if q.Places > 0 {
		sum += p.s[q.mu]
	}
	return sum
}

// Work estimates the floating-point operations of one iteration.
func (p *Solver) Work() int64 {
	sum := int64(60 * len(p.Pairs))
	block := int64(p.Dims + 1)
	for c := range p.classes {
		n := int64(p.First[c+1]-p.First[c]) * block
		sum += n * n / 2
	}
	n := int64(p.machines) * block
	return sum + n*n*n/6
}

// Run iterates until the relative duality gap is at most share, rounding errors dominate, the limit is reached
// or the deadline has passed, and returns the number of iterations. Where rounding errors have cost more than a
// millionth of the objective, it returns to the best iterate.
func (p *Solver) Run(share float64, limit int) int {
	best := point{objective: math.Inf(-1)}
	taken := p.advance(share, limit, func() {
		if now := p.objective(); now >= best.objective {
			best = point{now, p.residual, append(best.u[:0], p.u...), append(best.s[:0], p.s...), append(best.m[:0], p.m...)}
		}
	})
	if taken < limit && p.objective() < best.objective-1e-6*math.Abs(best.objective) {
		p.residual = best.residual
		copy(p.u, best.u)
		copy(p.s, best.s)
		copy(p.m, best.m)
	}
	return taken
}

// point is an iterate.
type point struct {
	objective, residual float64
	u, s, m             []float64
}

// objective returns the dual objective.
func (p *Solver) objective() float64 {
	sum := 0.0
	for c, u := range p.u {
		sum += p.Demand[c] * u
	}
	for _, l := range p.Limits {
		sum -= l.count() * p.s[l.pi]
	}
	return sum
}

func (p *Solver) advance(share float64, limit int, note func()) int {
	for step := range limit {
		note()
		if p.Late != nil && p.Late() {
			return step
		}
		gap, scale := 0.0, 0.0
		for i, s := range p.s {
			gap += s * p.m[i]
		}
		for c, u := range p.u {
			scale += p.Demand[c] * u
		}
		if !(gap > share*scale || p.residual > share) || !p.factorise() {
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
		// Full steps would come too close to the boundary too early, and rounding errors would dominate.
		near := 0.9
		if gap < 0.1*scale {
			near = 0.99
		}
		alpha, beta = near*alpha, near*beta
		after = 0
		for i := range p.s {
			after += (p.s[i] + alpha*p.ds[i]) * (p.m[i] + beta*p.dm[i])
		}
		if !(after < 10*gap) || p.residual <= share && !(after < gap) {
			return step
		}
		for i := range p.s {
			p.s[i] += alpha * p.ds[i]
			p.m[i] += beta * p.dm[i]
		}
		for c := range p.u {
			p.u[c] += alpha * p.du[c]
		}
		p.residual *= 1 - beta
	}
	return limit
}

// steps returns the largest steps at which all slacks and all multipliers stay above 0, at most 1.
func (p *Solver) steps() (slack, multiplier float64) {
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
