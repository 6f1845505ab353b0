package disruption

import (
	"cmp"
	"slices"
)

// shares are what it is worth not to remove a node, as shares of what nodes cost by what
// it costs to remove them.
func shares() []float64 { return []float64{0.1, 0.2, 0.05, 0.02} }

// stayer is a node that could stay.
type stayer struct {
	name string
	room []float64 // for the pods of its own and for others'
	rate float64   // what it costs for what its room is worth
}

// surplus are the nodes that may go once others are filled with their pods. These stay
// because they have the room that is worth most for their price, less a share of it
// for what is not disrupted.
func (x *search) surplus(share float64) []string {
	worths := x.worths()
	wanted := make([]float64, len(worths))
	order := x.order()
	gone := make(map[string]bool, len(order))
	price, cost := 0.0, 0.0
	for i := range order {
		price, cost = price+float64(order[i].price), cost+order[i].cost
	}
	var list []stayer
	for i := range order {
		r := &order[i]
		gone[r.name] = true
		s := stayer{name: r.name, room: make([]float64, len(worths))}
		for d, n := range x.state.gauge.free[r.name] {
			s.room[d] = float64(max(n, 0))
		}
		for _, size := range x.sizes(r.name) {
			for d, n := range size {
				s.room[d] += float64(n)
				wanted[d] += float64(n)
			}
		}
		worth := 0.0
		for d, n := range s.room {
			worth += n * worths[d]
		}
		if own := float64(r.price) - share*price*r.cost/cost; worth > 0 && own <= worth {
			s.rate = own / worth
			list = append(list, s)
		}
	}
	for _, free := range x.state.open(gone).free {
		for d, n := range free {
			wanted[d] -= float64(max(n, 0))
		}
	}
	slices.SortStableFunc(list, func(a, b stayer) int { return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.name, b.name)) })
	for _, s := range list {
		if !slices.ContainsFunc(wanted, func(n float64) bool { return n > 0 }) {
			break
		}
		for d, n := range s.room {
			wanted[d] -= n
		}
		delete(gone, s.name)
	}
	var out []string
	for name := range gone {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// worths are what a unit of each resource is worth: such that pods are worth about what the
// target says.
func (x *search) worths() []float64 {
	n := len(x.state.gauge.names)
	unit, sums, products := make([]float64, n), make([]float64, n), make([][]float64, n)
	for d := range products {
		unit[d], products[d] = 1, make([]float64, n)
	}
	names := x.state.names()
	for _, pass := range []func(size []int64, worth float64){
		func(size []int64, _ float64) {
			for d, q := range size {
				unit[d] = max(unit[d], float64(q))
			}
		},
		func(size []int64, worth float64) {
			for d, q := range size {
				share := float64(q) / unit[d]
				sums[d] += share * worth
				for e, p := range size {
					products[d][e] += share * float64(p) / unit[e]
				}
			}
		},
	} {
		for _, name := range names {
			for _, pod := range x.state.nodes[name].pods {
				if worth, ok := x.target.worth[podName(pod)]; ok {
					pass(x.state.gauge.sizes[podName(pod)], float64(worth))
				}
			}
		}
	}
	out := leastSquares(products, sums)
	for d := range out {
		out[d] /= unit[d]
	}
	return out
}

// sweeps is how often leastSquares goes over its variables.
const sweeps = 200

// leastSquares are the numbers, none below 0, by which products come close to sums.
func leastSquares(products [][]float64, sums []float64) []float64 {
	out := make([]float64, len(sums))
	for range sweeps {
		for d, row := range products {
			if row[d] <= 0 {
				continue
			}
			left := sums[d]
			for e, v := range out {
				if e != d {
					left -= row[e] * v
				}
			}
			out[d] = max(0, left/row[d])
		}
	}
	return out
}
