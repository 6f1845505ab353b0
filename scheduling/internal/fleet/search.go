package fleet

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fleet is machines to buy, by kind.
type fleet []int32

func (p *problem) newFleet() fleet { return make(fleet, len(p.kinds)) }

// grown is a fleet as long as there are kinds by now.
func (p *problem) grown(f fleet) fleet { return append(f, make(fleet, len(p.kinds)-len(f))...) }

const (
	// mostMisses is how many pods that do not fit any more show that a machine is full.
	mostMisses = 200
	// mostKinds is how many kinds of machines are looked at for a domain: those that are worth
	// most for their price when they are filled.
	mostKinds = 32
)

// filling is pods of a queue, some of which are on machines already.
type filling struct {
	*problem
	queue []int32
	taken []bool
	room  []int64
	on    []int32 // the classes of the pods on the machine that is being filled
}

func (p *problem) newFilling(queue []int32) *filling {
	return &filling{
		problem: p, queue: slices.Clone(queue), taken: make([]bool, len(queue)), room: make([]int64, p.c.Dims()),
	}
}

// fill puts pods onto a machine of a kind as they come, and returns what they are worth for its
// price. With take they stay there.
func (f *filling) fill(k *kind, take bool) float64 {
	if k.cost <= 0 || k.room == nil {
		return 0
	}
	copy(f.room, k.room)
	f.on = f.on[:0]
	misses, worth := 0, 0.0
	for i, c := range f.queue {
		if f.taken[i] || !k.admits[c] || f.clashes(c) {
			continue
		}
		requests := f.c.Planned[c].Requests
		fits := true
		for d, q := range requests {
			if q > f.room[d] {
				fits = false
				break
			}
		}
		if !fits {
			if misses++; misses > mostMisses {
				break
			}
			continue
		}
		for d, q := range requests {
			f.room[d] -= q
		}
		f.on = append(f.on, c)
		worth += f.worth[c]
		if take {
			f.taken[i] = true
		}
	}
	if take {
		left := f.queue[:0]
		for i, c := range f.queue {
			if !f.taken[i] {
				left = append(left, c)
			}
		}
		f.queue = left
		clear(f.taken)
	}
	return worth / float64(k.cost)
}

// worthAll is what the pods of the queue are worth together.
func (f *filling) worthAll() (sum float64) {
	for _, c := range f.queue {
		sum += f.worth[c]
	}
	return sum
}

// clashes reports whether a pod of a class may not share the machine with those that are on it.
func (f *filling) clashes(c int32) bool {
	return f.scheduler.Model.Classes[c].Exclusive() && slices.ContainsFunc(f.on, func(other int32) bool { return f.scheduler.Model.Apart(c, other) })
}

// choose finds the kinds for each domain.
func (p *problem) choose() {
	type ranked struct {
		*kind
		value float64
	}
	for i := range p.domains {
		d := &p.domains[i]
		for queue := d.queue; len(queue) > 0; {
			f := p.newFilling(queue)
			var list []ranked
			for _, k := range p.onSale(d) {
				if p.late() {
					return // nobody asks any more
				}
				if v := f.fill(k, false); v > 0 {
					list = append(list, ranked{k, v})
				}
			}
			if len(list) == 0 {
				break
			}
			slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.value, a.value) })
			from := len(d.kinds)
			for _, x := range list[:min(len(list), mostKinds)] {
				d.kinds = append(d.kinds, p.kind(x.purchase))
			}
			// Others ask for machines that are not among them.
			queue = slices.DeleteFunc(slices.Clone(queue), func(c int32) bool {
				return slices.ContainsFunc(d.kinds[from:], func(k int) bool {
					x := &p.kinds[k]
					return x.admits[c] && model.Fits(x.room, p.c.Planned[c].Requests)
				})
			})
		}
		slices.Sort(d.kinds)
		d.kinds = slices.Compact(d.kinds)
	}
}

// onSale is what may be bought for a domain.
func (p *problem) onSale(d *domain) []*kind {
	switch {
	case d.sale != nil:
	case !d.bound:
		for _, at := range p.c.Unsited().Bought {
			d.sale = append(d.sale, p.sold(at))
		}
	default:
		if p.sales == nil {
			p.readSales()
		}
		for _, at := range p.sales[d.name] {
			d.sale = append(d.sale, p.sold(at))
		}
	}
	return d.sale
}

// construct buys, one by one, the machine that is worth most for its price when it is filled with
// the pods that are left as they come; of those that are worth nearly as much, the dearest.
func (p *problem) construct(tolerance float64) fleet {
	out := p.newFleet()
	for i := range p.domains {
		d := &p.domains[i]
		f := p.newFilling(d.queue)
		values := make([]float64, len(d.kinds))
		for len(f.queue) > 0 && !p.late() {
			top := 0.0
			for i, k := range d.kinds {
				values[i] = f.fill(&p.kinds[k], false)
				top = max(top, values[i])
			}
			if top == 0 {
				break
			}
			best := -1
			for i, v := range values {
				if k := d.kinds[i]; v >= top*(1-tolerance) && (best < 0 || p.kinds[k].cost > p.kinds[best].cost) {
					best = k
				}
			}
			f.fill(&p.kinds[best], true)
			out[best]++
		}
	}
	return out
}

// climb tries fleets near the best one.
func (p *problem) climb(best fleet, value float64, tries int) (fleet, float64) {
	dice := rand.New(rand.NewPCG(1, 0x666c6565)) //nolint:gosec // a search, not a secret
	for range tries {
		if p.late() {
			break
		}
		f := p.neighbour(best, dice)
		if f == nil || !p.allows(f) {
			continue
		}
		if v := p.estimate(f, value); v < value {
			best, value = f, v
		}
	}
	return best, value
}

// neighbour is a fleet with some machines of a domain exchanged; nil where nothing is.
func (p *problem) neighbour(f fleet, dice *rand.Rand) fleet {
	d := &p.domains[dice.IntN(len(p.domains))]
	var have []int
	for _, k := range d.kinds {
		if f[k] > 0 {
			have = append(have, k)
		}
	}
	if len(have) == 0 {
		return nil
	}
	out := slices.Clone(f)
	a, b := have[dice.IntN(len(have))], d.kinds[dice.IntN(len(d.kinds))]
	switch dice.IntN(4) {
	case 0:
		out[a]--
	case 1:
		out[b]++
	case 2:
		out[a]--
		out[b]++
	default:
		n := 1 + dice.Int32N(f[a])
		out[a] -= n
		out[b] += int32(float64(n)*float64(p.kinds[a].cost)/float64(p.kinds[b].cost) + dice.Float64())
	}
	if slices.Equal(out, f) {
		return nil
	}
	return out
}

// extra is machines for the pods that a course of events leaves over, of the NodePools of the highest weight
// that take any: nil where some of them find none.
func (p *problem) extra(w *course, x *outcome) fleet {
	left := make([]int64, len(p.c.Planned))
	for i, to := range x.to {
		if to < 0 {
			left[w.queue[i]]++
		}
	}
	queues := p.divided(w, x, left)
	out := p.newFleet()
	buy := func(at *domain, all []int32) bool {
		var queue []int32
		for _, c := range all {
			if left[c] > 0 {
				left[c]--
				queue = append(queue, c)
			}
		}
		f := p.newFilling(queue)
		for len(f.queue) > 0 {
			// Few pods fill small machines: what is best for all of them need not be for these.
			best, value, all := (*kind)(nil), 0.0, f.worthAll()
			for _, k := range p.onSale(at) {
				if best != nil && (k.rank > best.rank || k.rank == best.rank && all <= value*float64(k.cost)) {
					continue // it would be too dear if it held all of them
				}
				if v := f.fill(k, false); v > 0 && (best == nil || k.rank < best.rank || v > value) {
					best, value = k, v
				}
			}
			if value == 0 {
				return false
			}
			k := p.kind(best.purchase)
			f.fill(&p.kinds[k], true)
			out = p.grown(out)
			out[k]++
		}
		return true
	}
	for i := range p.domains {
		if !buy(&p.domains[i], queues[i]) {
			return nil
		}
	}
	// Others have taken the room on nodes that some were planned to use.
	if !buy(&p.anywhere, w.queue) {
		return nil
	}
	return out
}

// mostHosts is how many machines of a domain are tried at once to find out how pods that are
// left over divide into the domains.
const mostHosts = 64

// divided says for which of the pods that are left over machines of each domain would be of use,
// after others of them have places. For pods without terms that have to hold it is the domain
// that they are planned in. Those that the others give way to on nodes that are there are taken
// off left.
func (p *problem) divided(w *course, x *outcome, left []int64) [][]int32 {
	out := make([][]int32, len(p.domains))
	tied := func(c int32) bool { return len(p.domains) > 0 && p.scheduler.Model.Classes[c].Tied() }
	for i := range p.domains {
		for _, c := range p.domains[i].queue {
			if !tied(c) {
				out[i] = append(out[i], c)
			}
		}
	}
	var queue []int32
	for i, to := range x.to {
		if c := w.queue[i]; to < 0 && tied(c) {
			queue = append(queue, c)
		}
	}
	if len(queue) == 0 {
		return out
	}
	run, to := x.run.Fork(w.Seed), make([]int32, len(queue))
	for i := range to {
		to[i] = -1
	}
	domainOf := map[int32]int{}
	for left := len(queue); left > 0; {
		for i := range p.domains {
			if k := p.boundless(&p.domains[i]); k >= 0 {
				domainOf[int32(run.Join(k))] = i //nolint:gosec // a number of nodes
			}
		}
		before := left
		if left = run.Bind(queue, to, nil); left == before || len(domainOf) >= mostHosts*len(p.domains) {
			break
		}
	}
	for i, n := range to {
		if n < 0 {
			at := slices.IndexFunc(p.domains, func(d domain) bool { return slices.Contains(d.queue, queue[i]) })
			out[max(at, 0)] = append(out[max(at, 0)], queue[i])
			continue
		}
		if at, ok := domainOf[n]; ok {
			out[at] = append(out[at], queue[i])
		} else {
			left[queue[i]]--
		}
	}
	return out
}

// boundless is the kind of node that stands for all machines of a domain; -1 where nothing is on
// sale for it.
func (p *problem) boundless(d *domain) int {
	if d.boundless != 0 {
		return d.boundless
	}
	d.boundless = -1
	first := -1
	admits := make([]bool, len(p.c.Planned))
	for _, k := range p.onSale(d) {
		if first < 0 {
			first = p.kind(k.purchase)
		}
		for c, yes := range k.admits {
			admits[c] = admits[c] || yes
		}
	}
	if first >= 0 {
		d.boundless = p.scheduler.Boundless(p.kinds[first].machine, admits)
	}
	return d.boundless
}
