package bound

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

const (
	// mostMixedRows bounds the rows of a mixture's master.
	mostMixedRows = 160
	// nearlyBusy is the share of its price that a machine holds at least to be anybody's
	// home, nearlyWorth what a pod is worth at least there, as a share of its resources.
	nearlyBusy, nearlyWorth = 0.97, 0.99
	// groupShares is how finely groups tell apart what their pods pay for.
	groupShares = 8
	// startPrice is how many times its worth a row costs without any machine.
	startPrice = 2
	// mostNewFillings is how many fillings of one machine are added at a time.
	mostNewFillings = 24
)

// group gives each class that is at home on a busy small machine a row of its own. Others
// share one if they are at home on the same machines and pay for about the same there. It
// reports false where there are too many rows.
func (p *mixture) group(busy model.Bits) bool {
	index := map[string]int{}
	var wanted []float64
	var alone []column
	p.weights = make([]float64, len(p.demand))
	mean := p.center.value / max(1, sum(p.demand))
	for c, n := range p.demand {
		p.rows = append(p.rows, -1)
		if n == 0 {
			continue
		}
		key, single := p.homeOf(c, busy)
		p.weights[c] = 1
		if !single {
			p.weights[c] = p.center.worths[c] / mean
		}
		at, known := index[key]
		if !known {
			at = len(wanted)
			index[key] = at
			wanted = append(wanted, 0)
			alone = append(alone, column{rows: []int{at}, counts: []float64{0}})
		}
		p.rows[c] = at
		wanted[at] += n * p.weights[c]
		alone[at].counts[0] = wanted[at]
		alone[at].price += startPrice * n * p.center.worths[c]
	}
	if len(wanted) > mostMixedRows || slices.Contains(wanted, 0) {
		return false
	}
	p.master = newMaster(wanted, alone)
	return true
}

// homeOf is equal for classes that may share a row. single says that none does.
func (p *mixture) homeOf(class int, busy model.Bits) (key string, single bool) {
	var b []byte
	home := -1
	for i := range p.machines {
		if !busy.Has(i) || !p.machines[i].users.Has(class) || p.center.worths[class] < nearlyWorth*p.homes[i].worths[class] {
			continue
		}
		if p.small.Has(i) {
			return string(binary.AppendVarint([]byte{1}, int64(class))), true
		}
		b, home = binary.AppendVarint(b, int64(i)), i
	}
	if home >= 0 {
		for e, n := range p.size(class) {
			b = append(b, byte(math.Round(groupShares*n*p.homes[home].values[e]/max(p.homes[home].worths[class], 1e-300))))
		}
	}
	return string(append([]byte{0}, b...)), false
}

// single reports whether a class has a row of its own for its pods.
func (p *mixture) single(class int) bool { return p.weights[class] == 1 }

// learnPieces adds what a machine would hold if pods could be cut. It reports whether the
// master gains from it.
func (p *mixture) learnPieces(i int, v *vessel, r *relaxed) bool {
	c := column{price: p.prices[i]}
	for k, n := range r.pieces() {
		if n > 0 {
			p.put(&c, v.classes[k], n)
		}
	}
	return p.enter(i, c)
}

// learnBest adds fillings of the last search that are worth more than the floor, the best
// ones first, of which each has mostly classes that those before it have not. It returns
// how many the master gains from.
func (p *mixture) learnBest(i int, v *vessel, floor int64) (gains int) {
	s := &p.search
	var order []int32
	for at := range s.states {
		if s.states[at].value > floor {
			order = append(order, int32(at))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.states[b].value, s.states[a].value) })
	seen := model.NewBits(len(v.classes))
	for _, at := range order {
		if gains == mostNewFillings {
			break
		}
		counts := s.filling(at)
		old, all := 0, 0
		for k, n := range counts {
			if n > 0 && p.single(v.classes[k]) {
				if all++; seen.Has(k) {
					old++
				}
			}
		}
		if gains > 0 && 2*old > all {
			continue
		}
		for k, n := range counts {
			if n > 0 {
				seen.Set(k)
			}
		}
		if p.learn(i, v, counts) {
			gains++
		}
	}
	return gains
}
