package bound

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// search alternates between solving for a few machines and looking for machines that
// hold too much worth then, which join the few.
func (a *assignment) search(start []*big.Int, work int64) {
	first := a.starting(start)
	a.best = a.settle(slices.Clone(first.worths), []vector{first})
	few := a.few(&first, work)
	if c, merged := a.coarse(&first); c != nil {
		rough := c.vector(first.values)
		c.best = c.settle(slices.Clone(rough.worths), []vector{rough})
		used := c.rounds(&rough, c.few(&rough, work), &work)
		few = a.refine(&first, c, merged, used)
		if a.best.value > c.best.value*(1-closeEnough) {
			a.best = a.polish(a.best)
			return
		}
	}
	a.rounds(&first, few, &work)
	a.best = a.polish(a.best)
}

// rounds returns the last few machines.
func (a *assignment) rounds(start *vector, few []candidate, work *int64) []candidate {
	for range mostRounds {
		p := newInterior(a.problem(few))
		if !a.solve(p, roughly, work) {
			break
		}
		next := a.propose(p, few, start, 0)
		if !fresh(few, next.broken) && a.solve(p, exactly, work) {
			next = a.propose(p, few, start, 0)
			a.best = a.polish(a.best)
			a.propose(p, few, start, nothing)
		}
		wider := a.more(p, few, next.broken, *work)
		if wider == nil {
			break
		}
		few = wider
	}
	return few
}

// fresh reports whether machines broke that are not among the few.
func fresh(few []candidate, broken []int) bool {
	return slices.ContainsFunc(broken, func(i int) bool {
		return !slices.ContainsFunc(few, func(x candidate) bool { return x.machine == i })
	})
}

// solve takes the problem to a gap, as far as the work allows. It reports whether it
// came far enough for a proposal.
func (a *assignment) solve(p *interior, gap float64, work *int64) bool {
	price := max(1, p.work())
	limit := min(mostSteps, *work/price)
	if limit < fewestSteps || a.late() {
		return false
	}
	*work -= int64(p.run(gap, int(limit))) * price
	return !a.late()
}

// propose settles what the problem says and remembers the best. Values below a share of
// their machine's price count as 0.
func (a *assignment) propose(p *interior, few []candidate, start *vector, least float64) *proposal {
	worths, vectors := a.suggestion(p), a.suggested(p, few, least)
	snap(worths, vectors, few, least)
	next := a.settled(worths, append([]vector{*start}, vectors...))
	if next.value > a.best.value {
		a.best = next
	}
	return next
}

// snap moves worths onto what the vectors say or onto 0, if they are that near. An
// interior point is never quite on an edge, and the best worths are.
func snap(worths []float64, vectors []vector, few []candidate, least float64) {
	most := 0.0
	for _, w := range worths {
		most = max(most, w)
	}
	for c, w := range worths {
		if w < least*most {
			worths[c] = 0
			continue
		}
		for o := range vectors {
			if v := vectors[o].worths[c]; v < worths[c] && w-v < least*w && few[o].users.Has(c) {
				worths[c] = v
			}
		}
	}
}

// starting is the vector of the start, or one that values every resource a little.
func (a *assignment) starting(start []*big.Int) vector {
	values := make([]float64, len(a.dims))
	if len(start) == a.market.Dims {
		for e, d := range a.dims {
			f, _ := new(big.Float).SetInt(start[d]).Float64()
			values[e] = math.Ldexp(f, -Scale) * a.unit[e] / a.price
		}
	}
	return a.vector(values)
}

// candidate is a machine of an interior-point problem: one of the machines, or what
// running nodes have together, as so many equal ones.
type candidate struct {
	machine int // −1 for running nodes
	cap     []float64
	price   float64
	supply  int     // −1 for none; running nodes that are one kind have one of their own
	count   float64 // of the supply
	users   model.Bits
}

// few chooses the machines to begin with: for each class the one that seems cheapest,
// those first that this holds for most often, and what is limited.
func (a *assignment) few(v *vector, work int64) []candidate {
	scores := make([]float64, len(a.machines))
	cheapest := make([]int, len(a.demand))
	least := make([]float64, len(a.demand))
	for c := range cheapest {
		cheapest[c], least[c] = -1, math.Inf(1)
	}
	inverse := make([]float64, len(a.dims))
	for i := range a.machines {
		if a.machines[i].supply >= 0 {
			continue
		}
		caps := a.cap(i)
		for e, n := range caps {
			inverse[e] = 1 / max(n, 1e-12)
		}
		factor := 0.0
		if full := dot(v.values, caps); full > 0 {
			factor = a.prices[i] / full
		}
		a.machines[i].users.Each(func(c int) {
			share := 0.0
			for e, n := range a.size(c) {
				share = max(share, n*inverse[e])
			}
			if cost := a.prices[i]*share + factor*v.worths[c]; cost < least[c] {
				cheapest[c], least[c] = i, cost
			}
		})
	}
	out := a.limited()
	most := a.affordable(work / 3)
	open := model.NewBits(len(cheapest))
	for c, i := range cheapest {
		if i >= 0 {
			open.Set(c)
		}
	}
	// First machines until every class may use one of them, then those that are
	// cheapest for most.
	for taken := model.NewBits(len(a.machines)); len(out) < mostMachines; {
		covering := open.Any()
		clear(scores)
		for c, i := range cheapest {
			if i >= 0 && !taken.Has(i) && (!covering || open.Has(c)) {
				scores[i] += a.demand[c] * least[c]
			}
		}
		best := 0
		for i, score := range scores {
			if score > scores[best] {
				best = i
			}
		}
		if scores[best] == 0 || !covering && len(out) >= most {
			break
		}
		taken.Set(best)
		open.AndNot(a.machines[best].users)
		out = append(out, a.candidate(best))
	}
	return out
}

func (a *assignment) candidate(i int) candidate {
	x := candidate{machine: i, cap: a.cap(i), price: a.prices[i], supply: a.machines[i].supply, users: a.machines[i].users}
	if s := x.supply; s >= 0 {
		x.count = float64(a.market.Supplies[s].Count)
	}
	return x
}

// affordable is how many machines a problem may have so that its solution stays
// within an amount of work.
func (a *assignment) affordable(work int64) int {
	n := fewestMachines
	for n < mostMachines {
		side := int64((n + 1) * (len(a.dims) + 1))
		step := int64(len(a.demand))*(side*side/2+int64(60*(n+1))) + side*side*side/6
		if step*usualSteps > work {
			break
		}
		n++
	}
	return n
}

// mostLimited bounds how many limited machines, or kinds of them, a problem looks at.
const mostLimited = 8

// limited are the machines of limited number that matter most: reservations, and
// running nodes, of which those that let in the same pods count as one kind.
func (a *assignment) limited() []candidate {
	var out []candidate
	weight := func(x candidate) float64 {
		sum := 0.0
		for _, n := range x.cap {
			sum += n
		}
		return sum * x.count
	}
	var nodes []candidate
	for i := range a.machines {
		if a.machines[i].supply < 0 {
			continue
		}
		if x := a.candidate(i); x.price > 0 {
			out = append(out, x)
		} else {
			nodes = append(nodes, x)
		}
	}
	heaviest := func(x, y candidate) int { return cmp.Compare(weight(y), weight(x)) }
	slices.SortStableFunc(nodes, heaviest)
	var kinds []candidate
	for _, x := range nodes {
		at := slices.IndexFunc(kinds, func(k candidate) bool { return k.users.Contains(x.users) })
		if at < 0 {
			if len(kinds) < mostLimited {
				x.cap = slices.Clone(x.cap)
				kinds = append(kinds, x)
			}
			continue
		}
		k := &kinds[at]
		k.machine = -1
		for e, n := range x.cap {
			k.cap[e] = (k.cap[e]*k.count + n*x.count) / (k.count + x.count)
		}
		k.count += x.count
	}
	out = append(out, kinds...)
	slices.SortStableFunc(out, heaviest)
	return out[:min(len(out), mostLimited)]
}

// problem sets up the interior-point problem of a few machines, for the classes that
// may use any of them.
func (a *assignment) problem(few []candidate) *interior {
	n := len(a.dims)
	p := &interior{dims: n, machines: len(few), first: []int{0}, late: a.late}
	limits := make(map[int]int)
	for o := range few {
		for _, v := range few[o].cap {
			if v <= 0 {
				v = 1 // nobody asks for it; its value goes to 0
			}
			p.cap = append(p.cap, v)
		}
		p.price = append(p.price, few[o].price)
		if s := few[o].supply; s >= 0 {
			at, known := limits[s]
			if !known {
				at = len(p.limits)
				limits[s] = at
				p.limits = append(p.limits, limit{count: few[o].count})
			}
			p.limits[at].machines = append(p.limits[at].machines, o)
		}
	}
	for c := range a.demand {
		if a.demand[c] == 0 {
			continue
		}
		size := a.size(c)
		for o := range few {
			if !few[o].users.Has(c) {
				continue
			}
			share := 0.0
			for e, v := range size {
				share = max(share, v/p.cap[o*n+e])
			}
			q := pair{class: p.classes, machine: o}
			if i := few[o].machine; i >= 0 {
				if k := float64(a.market.alone(&a.machines[i], c)); k <= placesThatMatter && k*share < 0.99 || share == 0 {
					q.k = k
				}
			}
			p.pairs = append(p.pairs, q)
		}
		if len(p.pairs) > p.first[p.classes] {
			p.which = append(p.which, c)
			p.demand = append(p.demand, a.demand[c])
			p.size = append(p.size, size...)
			p.first = append(p.first, len(p.pairs))
			p.classes++
		}
	}
	return p
}

// suggestion is what the solved problem says that the classes are worth. Those that
// are in none of its machines begin at what they cost when they are alone.
func (a *assignment) suggestion(p *interior) []float64 {
	worths := make([]float64, len(a.demand))
	known := model.NewBits(len(worths))
	for c, u := range p.u {
		known.Set(p.which[c])
		worths[p.which[c]] = max(0, u)
	}
	for c, sellers := range a.usersOf() {
		if known.Has(c) || a.demand[c] == 0 {
			continue
		}
		worths[c] = math.Inf(1)
		for _, i := range sellers {
			worths[c] = min(worths[c], a.prices[i]/a.places(i, c))
		}
		if math.IsInf(worths[c], 1) {
			worths[c] = 0
		}
	}
	return worths
}

// suggested are the vectors of the solved problem, values below a share of their
// machine's price left out.
func (a *assignment) suggested(p *interior, few []candidate, least float64) []vector {
	out := make([]vector, len(few))
	for o := range few {
		values := slices.Clone(p.s[p.lambda+o*p.dims : p.lambda+(o+1)*p.dims])
		for e, n := range values {
			if few[o].cap[e] <= 0 || n*few[o].cap[e] < least*few[o].price {
				values[e] = 0
			}
		}
		out[o] = a.vector(values)
	}
	return out
}

// more adds broken machines to the few, and leaves out such as nobody wants while
// there are too many. It returns nil where nothing changes.
func (a *assignment) more(p *interior, few []candidate, broken []int, work int64) []candidate {
	most := a.affordable(work)
	busy := make([]bool, len(few))
	var total float64
	for o := range few {
		total += p.m[p.budget+o] * max(few[o].price, 1e-9)
	}
	kept := 0
	for o := range few {
		busy[o] = few[o].supply >= 0 || p.m[p.budget+o]*few[o].price > 1e-7*total
		if busy[o] {
			kept++
		}
	}
	var out []candidate
	room := max(0, most-kept)
	for o := range few {
		if busy[o] || len(broken) < room && o < most-len(broken) {
			out = append(out, few[o])
		}
	}
	before := len(out)
	for _, i := range broken {
		if len(out) >= most || len(out)-before >= max(8, before/2) {
			break
		}
		if !slices.ContainsFunc(out, func(x candidate) bool { return x.machine == i }) {
			out = append(out, a.candidate(i))
		}
	}
	if len(out) == before {
		return nil
	}
	return out
}
