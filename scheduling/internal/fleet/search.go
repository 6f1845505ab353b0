package fleet

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fleet is a number of machines by kind.
type fleet []int32

const (
	// mostMisses is the number of pods in a row of the queue without room after which a machine counts as full.
	mostMisses = 200
	// mostKinds bounds the kinds of machines considered for a domain: those with the most value per cost when
	// filled.
	mostKinds = 32
)

// queueFill fills machines with the pods of a queue in their order.
type queueFill struct {
	p         *problem
	queue     []int32
	taken     []bool
	room      []int64
	onMachine []int32 // classes of the pods on the present machine
}

func (p *problem) newQueueFill(queue []int32) *queueFill {
	return &queueFill{
		p: p, queue: slices.Clone(queue), taken: make([]bool, len(queue)), room: make([]int64, p.c.Dims()),
	}
}

// fill puts pods onto a machine of a kind in the order of the queue, and returns their value per cost. With
// take they leave the queue.
func (f *queueFill) fill(k *kind, take bool) float64 {
	if k.cost <= 0 || k.room == nil {
		return 0
	}
	copy(f.room, k.room)
	f.onMachine = f.onMachine[:0]
	misses, value := 0, 0.0
	for i, c := range f.queue {
		if f.taken[i] || !k.admits[c] || f.clashes(c) {
			continue
		}
		requests := f.p.c.Planned[c].Requests
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
		f.onMachine = append(f.onMachine, c)
		value += f.p.podValue[c]
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
	return value / float64(k.cost)
}

// totalValue returns the value of all pods of the queue.
func (f *queueFill) totalValue() (sum float64) {
	for _, c := range f.queue {
		sum += f.p.podValue[c]
	}
	return sum
}

// clashes reports whether a pod may not share the machine with its pods.
func (f *queueFill) clashes(c int32) bool {
	return f.p.scheduler.Model.Classes[c].Exclusive() && slices.ContainsFunc(f.onMachine, func(other int32) bool { return f.p.scheduler.Model.Apart(c, other) })
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
			f := p.newQueueFill(queue)
			var list []ranked
			for _, k := range p.kinds.onSale(d) {
				if p.late() {
					return // the deadline has passed
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
				d.kinds = append(d.kinds, p.kinds.number(x.offer))
			}
			// The rest needs other machines than these.
			queue = slices.DeleteFunc(slices.Clone(queue), func(c int32) bool {
				return slices.ContainsFunc(d.kinds[from:], func(k int) bool {
					x := &p.kinds.list[k]
					return x.admits[c] && model.Fits(x.room, p.c.Planned[c].Requests)
				})
			})
		}
		slices.Sort(d.kinds)
		d.kinds = slices.Compact(d.kinds)
	}
}

// construct buys machine by machine the kind with the most value per cost when filled with the remaining pods
// in their order. Of kinds within the tolerance it takes the dearest, because pods leave less room unused on
// large machines.
func (p *problem) construct(tolerance float64) fleet {
	out := p.kinds.newFleet()
	for i := range p.domains {
		d := &p.domains[i]
		f := p.newQueueFill(d.queue)
		values := make([]float64, len(d.kinds))
		for len(f.queue) > 0 && !p.late() {
			top := 0.0
			for i, k := range d.kinds {
				values[i] = f.fill(&p.kinds.list[k], false)
				top = max(top, values[i])
			}
			if top == 0 {
				break
			}
			best := -1
			for i, v := range values {
				if k := d.kinds[i]; v >= top*(1-tolerance) && (best < 0 || p.kinds.list[k].cost > p.kinds.list[best].cost) {
					best = k
				}
			}
			f.fill(&p.kinds.list[best], true)
			out[best]++
		}
	}
	return out
}

// localSearch tries neighbours of the best fleet.
func (p *problem) localSearch(best fleet, value float64, tries int) (fleet, float64) {
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

// neighbour returns a fleet with some machines of a domain exchanged; nil where that changes none.
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
		out[b] += int32(float64(n)*float64(p.kinds.list[a].cost)/float64(p.kinds.list[b].cost) + dice.Float64())
	}
	if slices.Equal(out, f) {
		return nil
	}
	return out
}

// extraMachines returns machines for the pods that are left over, of the NodePools of the highest weight that
// admit them; nil where some pod finds none.
func (p *problem) extraMachines(w *course, x *bindResult) fleet {
	left := make([]int64, len(p.c.Planned))
	for i, to := range x.to {
		if to < 0 {
			left[w.queue[i]]++
		}
	}
	queues := p.divideLeft(w, x, left)
	out := p.kinds.newFleet()
	buy := func(at *domain, all []int32) bool {
		var queue []int32
		for _, c := range all {
			if left[c] > 0 {
				left[c]--
				queue = append(queue, c)
			}
		}
		f := p.newQueueFill(queue)
		for len(f.queue) > 0 {
			// The best kind for all pods of the domain need not be the best one for these few.
			best, value, all := (*kind)(nil), 0.0, f.totalValue()
			for _, k := range p.kinds.onSale(at) {
				if best != nil && (k.rank > best.rank || k.rank == best.rank && all <= value*float64(k.cost)) {
					continue // too dear even if it held all of them
				}
				if v := f.fill(k, false); v > 0 && (best == nil || k.rank < best.rank || v > value) {
					best, value = k, v
				}
			}
			if value == 0 {
				return false
			}
			k := p.kinds.number(best.offer)
			f.fill(&p.kinds.list[k], true)
			out = p.kinds.extended(out)
			out[k]++
		}
		return true
	}
	for i := range p.domains {
		if !buy(&p.domains[i], queues[i]) {
			return nil
		}
	}
	// Pods whose planned room on an existing node other pods have taken.
	if !buy(&p.anywhere, w.queue) {
		return nil
	}
	return out
}

// mostHosts bounds the machines of a domain that are added to find out how the pods that are left over divide
// into domains.
const mostHosts = 64

// divideLeft returns, by domain, the pods that are left over and that machines of the domain could hold: pods
// with required terms by where kube-scheduler would bind them with enough machines everywhere, other pods by
// their planned domain. It subtracts pods from left that existing nodes then take.
func (p *problem) divideLeft(w *course, x *bindResult, left []int64) [][]int32 {
	out := make([][]int32, len(p.domains))
	tied := func(c int32) bool { return len(p.domains) > 0 && p.scheduler.Model.Classes[c].HasRequired() }
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
			if k := p.kinds.unboundedNode(&p.domains[i]); k >= 0 {
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
