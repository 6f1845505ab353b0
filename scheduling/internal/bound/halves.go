package bound

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// mostTried bounds how many ways to tell a case apart are tried.
	mostTried = 3
	// leastGain is what a half that gains nothing counts for, as a share of what is known.
	leastGain = 1e-5
)

// half is a price from which on machines are counted, and the number up to which there are in
// the one half of a case.
type half struct{ from, number int64 }

// halfway is how to tell a case apart best, with a price of 0 for not at all: so that much is
// proven of both halves, up to what is wanted. It is tried with the cuts that count for the case.
func (d *parting) halfway(x *twig, wanted float64) (best half) {
	tries := partly(x.part)
	if len(tries) == 0 {
		tries = partly(x.mix)
	}
	if len(tries) == 0 {
		return half{}
	}
	if len(tries) == 1 {
		return tries[0]
	}
	cuts := d.picked(d.active(x))
	most := math.Inf(-1)
	for _, t := range tries[:min(len(tries), mostTried)] {
		product := 1.0
		for _, c := range t.counts() {
			product *= gained(d.tried(x, cuts, c), x.value, wanted)
		}
		if product > most {
			best, most = t, product
		}
	}
	return best
}

// gained is what a half counts for that proves some value in place of a known one.
func gained(value, known, wanted float64) float64 {
	return max(0, min(value, wanted)-known) + leastGain*known
}

// counts are those of either half.
func (h half) counts() [2]count {
	kind := kindCount{from: h.from}
	return [2]count{{kindCount: kind, number: h.number}, {kindCount: kind, number: h.number + 1, least: true}}
}

// tried is about what some cuts prove of a case with one more count.
func (d *parting) tried(x *twig, cuts []*cut, c count) float64 {
	m := d.program(cuts, append(x.counts[:len(x.counts):len(x.counts)], c), x.machines)
	return d.solved(m, len(x.machines))
}

// partly are the prices from which on there is no whole number of machines: first where it is
// furthest from a whole one, weighed by what the machines cost at least.
func partly(parts map[int64]float64) []half {
	weights := map[half]float64{}
	for price, n := range parts {
		down := math.Floor(n)
		if part := min(n-down, down+1-n); part >= leastPartly {
			weights[half{price, int64(down)}] = part * float64(price)
		}
	}
	return slices.SortedFunc(maps.Keys(weights), func(x, y half) int {
		return cmp.Or(cmp.Compare(weights[y], weights[x]), cmp.Compare(y.from, x.from))
	})
}
