package bound

import (
	"math"
	"math/big"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// balanceRounds bounds how often worths are sought, balanceGap is the share of the bound
// at which to stop, and newShare how much what is sought counts for at first.
const (
	balanceRounds = 5
	balanceGap    = 1e-3
	newShare      = 0.1
)

// lagrangian is the search for a bound of a [Balance]. For any numbers of pods by class and
// domain the assignment bound gives worths; for any worths [balancing] gives numbers by
// which the pods are worth least. It goes part of the way from the best worths to those for
// the numbers that these lead to.
type lagrangian struct {
	*balancing
	parts  []*assignment
	start  []*big.Int
	effort Effort
}

// domainDuals is what machines bear, by domain.
type domainDuals struct {
	worths  [][]float64 // by class, in nano-USD
	vectors [][]vector
	// surplus is what limited machines hold beyond their price.
	surplus []float64
}

// Level searches for a bound, from values of resources. known is a bound for all domains
// taken together.
func (b *Balance) Level(start []*big.Int, known Assigned, e Effort) (Balanced, bool) {
	if !b.sound() || len(known.Duals) != len(b.Domains[0].Classes) || len(known.Vectors) == 0 {
		return Balanced{}, false
	}
	ruleGroups := b.ruleGroups()
	if ruleGroups == nil {
		return Balanced{}, false
	}
	l := &lagrangian{balancing: newBalancing(b, ruleGroups), start: start, effort: e}
	for d := range b.Domains {
		a := prepare(&b.Domains[d], e.Late)
		if a == nil {
			return Balanced{}, false
		}
		l.parts = append(l.parts, a)
	}
	l.learn(l.first(known), 1)
	l.search(1)
	l.climb()
	return l.certify()
}

func (l *lagrangian) late() bool { return l.effort.Late != nil && l.effort.Late() }

// climb improves what machines bear.
func (l *lagrangian) climb() {
	x, _ := l.answer(l.ruled())
	l.learn(x, newShare)
	for range balanceRounds {
		l.search(balanceSteps)
		if l.late() {
			break
		}
		aim, limit := l.answer(l.recent())
		if limit < l.best.value*(1+balanceGap) {
			break
		}
		l.learn(aim, newShare)
	}
	l.search(balanceSteps)
}

// ruled are the pods that rules concern, evenly dealt out.
func (l *lagrangian) ruled() [][]float64 {
	out := grid(len(l.parts), len(l.Domains[0].Classes))
	for i := range l.Flocks {
		if f := &l.Flocks[i]; f.Asks >= 0 || len(f.Counted) > 0 {
			for d := range out {
				out[d][f.Class] += float64(f.Count) / float64(len(out))
			}
		}
	}
	return out
}

// first is what holds for all domains together, raised as far as the machines of each bear
// that.
func (l *lagrangian) first(known Assigned) *domainDuals {
	var proposals []*proposal
	for _, a := range l.parts {
		a.state(nil)
		worths := make([]float64, len(known.Duals))
		for c, w := range known.Duals {
			if a.demand[c] > 0 {
				worths[c] = fixed.Float64(w) / a.price
			}
		}
		var vectors []vector
		for _, whole := range known.Vectors {
			values := make([]float64, len(a.dims))
			for e, d := range a.dims {
				values[e] = fixed.Float64(whole[d]) * a.unit[e] / a.price
			}
			vectors = append(vectors, a.vector(values))
		}
		proposals = append(proposals, a.polish(a.makeFeasible(worths, vectors)))
	}
	return l.domainDuals(proposals)
}

// state sets the demand: numbers of pods by class, or all of them.
func (a *assignment) state(numbers []float64) {
	usable := model.NewBits(len(a.demand))
	for i := range a.machines {
		usable.Or(a.machines[i].users)
	}
	for c := range a.demand {
		if a.demand[c] = 0; usable.Has(c) && a.market.Classes[c].Count > 0 {
			a.demand[c] = float64(a.market.Classes[c].Count)
			if numbers != nil {
				a.demand[c] = max(trace, numbers[c])
			}
		}
	}
}

// answer is the worths that are best for some numbers, and what they come to. Domains have
// nothing to do with each other and are looked at side by side.
func (l *lagrangian) answer(numbers [][]float64) (*domainDuals, float64) {
	var searches sync.WaitGroup
	for d, a := range l.parts {
		searches.Go(func() {
			a.state(numbers[d])
			a.best = nil
			a.search(l.start, Effort{Work: l.effort.Work})
		})
	}
	searches.Wait()
	proposals, value := make([]*proposal, len(l.parts)), 0.0
	for d, a := range l.parts {
		proposals[d] = a.best
		value += a.best.value * a.price
	}
	return l.domainDuals(proposals), value
}

// domainDuals is proposals for the demands that they are for.
func (l *lagrangian) domainDuals(proposals []*proposal) *domainDuals {
	out := &domainDuals{}
	for d, a := range l.parts {
		p := proposals[d]
		over := -p.value
		worths := make([]float64, len(p.worths))
		for c, w := range p.worths {
			over += a.demand[c] * w
			worths[c] = w * a.price
		}
		out.worths, out.vectors = append(out.worths, worths), append(out.vectors, p.vectors)
		out.surplus = append(out.surplus, max(0, over)*a.price)
	}
	l.evade(out.worths)
	return out
}

// evade makes what no machine of a domain lets in worth most there, so that it stays away.
func (l *lagrangian) evade(worths [][]float64) {
	for c := range worths[0] {
		most := 0.0
		for d, a := range l.parts {
			if a.demand[c] > 0 {
				most = max(most, worths[d][c])
			}
		}
		for d, a := range l.parts {
			if a.demand[c] == 0 {
				worths[d][c] = most
			}
		}
	}
}

// recent are the numbers of pods that domains took of late.
func (l *lagrangian) recent() [][]float64 {
	out := grid(len(l.parts), len(l.Domains[0].Classes))
	for f := range l.Flocks {
		sum := 0.0
		for d := range l.taken {
			sum += l.taken[d][f]
		}
		for d := range l.taken {
			share := 1 / float64(len(l.taken))
			if sum > 0 {
				share = l.taken[d][f] / sum
			}
			out[d][l.Flocks[f].Class] += share * float64(l.Flocks[f].Count)
		}
	}
	return out
}

// certify settles worths in every domain, goes on from the duals, and proves it all in whole
// numbers.
func (l *lagrangian) certify() (Balanced, bool) {
	l.duals = l.best.copied()
	l.mix()
	out, surplus := Balanced{}, new(big.Int)
	for d, a := range l.parts {
		a.state(nil)
		worths := make([]float64, len(l.worths[d]))
		for c, w := range l.worths[d] {
			if a.demand[c] > 0 {
				worths[c] = w / a.price
			}
		}
		a.best = a.makeFeasible(worths, l.vectors(d))
		part, over, ok := a.certifyPart()
		if !ok {
			return Balanced{}, false
		}
		out.Parts = append(out.Parts, part)
		surplus.Add(surplus, over)
	}
	l.evadeWhole(out.Parts)
	settled := grid(len(l.parts), len(l.Domains[0].Classes))
	for d := range settled {
		for c, w := range out.Parts[d].Duals {
			settled[d][c] = fixed.Float64(w)
		}
	}
	best := l.settled(settled)
	for f := range l.Flocks {
		out.Duals = append(out.Duals, fixed.Of(best.pays[f]).Big())
	}
	for r := range l.Rules {
		var raised, taken []*big.Int
		for d := range l.Domains {
			raised, taken = append(raised, fixed.Of(best.raised[r][d]).Big()), append(taken, fixed.Of(best.stake[r][d]).Big())
		}
		out.Raised, out.Taken = append(out.Raised, raised), append(out.Taken, taken)
	}
	out.normalize(l.Balance)
	out.prove(l.Balance, l.ruleGroups, surplus)
	return out, true
}

// evadeWhole is evade in whole numbers.
func (l *lagrangian) evadeWhole(parts []Assigned) {
	for c := range l.Domains[0].Classes {
		most := new(big.Int)
		for d := range parts {
			if w := parts[d].Duals[c]; w.Cmp(most) > 0 {
				most = w
			}
		}
		for d, a := range l.parts {
			if a.demand[c] == 0 {
				parts[d].Duals[c] = most
			}
		}
	}
}

// certifyPart proves in whole numbers what machines bear, and says what limited ones hold
// beyond their price.
func (a *assignment) certifyPart() (out Assigned, surplus *big.Int, ok bool) {
	a.best.used()
	for _, margin := range margins {
		c := a.rounded(1 - margin)
		if _, ok := c.prove(); !ok {
			continue
		}
		out = Assigned{}
		for _, w := range c.worths {
			out.Duals = append(out.Duals, w.Big())
		}
		for _, v := range c.vectors {
			whole := make([]*big.Int, len(v))
			for d, w := range v {
				whole[d] = w.Big()
			}
			out.Vectors = append(out.Vectors, whole)
		}
		return out, c.lost, true
	}
	return Assigned{}, nil, false
}

// vectors are those of the worths that are mixed.
func (l *lagrangian) vectors(d int) (out []vector) {
	for k, share := range l.shares[d] {
		if share > 2*leastPart {
			out = append(out, l.known[k].vectors[d]...)
		}
	}
	return out
}

// settled goes on from the best duals with worths that are settled.
func (l *lagrangian) settled(worths [][]float64) *duals {
	x := &domainDuals{worths: worths, surplus: make([]float64, len(worths))}
	l.known = []*domainDuals{x}
	l.best.value = math.Inf(-1)
	for d := range l.best.shares {
		l.best.shares[d] = []float64{1}
	}
	l.search(balanceSteps)
	return &l.best
}
