package lagrangian

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// mostRounds bounds how often worths are sought, closeEnough is the share of the bound
// at which to stop, and newShare how much what is sought counts for at first.
const (
	// mostRounds bounds the rounds that add class duals. closeEnough is the relative gap at which to stop, and
	// newShare the first weight of new class duals in the convex combination.
	mostRounds  = 5
	closeEnough = 1e-3
	newShare    = 0.1
)

// lagrangian is the search for a bound of a [Problem]. For given numbers of pods by class and domain the
// assignment bound gives class duals; for given class duals [subgradient] gives numbers by which the pods have
// the least value. The search moves part of the way from the best class duals to those for the new numbers.
type lagrangian struct {
	s      *subgradient
	parts  []*bound.Search
	start  []*big.Int
	effort bound.Effort
}

// domainDuals are feasible class duals of each domain.
type domainDuals struct {
	parts []bound.Duals
	// classDuals are by domain and class, in nano-USD per hour. Where no machine of a domain admits a class,
	// its dual is the largest of any domain; see assignUnsellableDuals.
	classDuals [][]float64
}

// Solve searches for a bound. start are resource duals to begin with, and known is a bound for all domains
// together. ok is false where the problem is malformed, a rule group is too large, or no bound is proven.
func Solve(b *Problem, start []*big.Int, known *bound.Assigned, e bound.Effort) (proof Proof, ok bool) {
	if !b.sound() || len(known.Duals) != len(b.Domains[0].Classes) || len(known.Vectors) == 0 {
		return Proof{}, false
	}
	ruleGroups := b.ruleGroups()
	if ruleGroups == nil {
		return Proof{}, false
	}
	l := &lagrangian{s: newSubgradient(b, ruleGroups), start: start, effort: e}
	for d := range b.Domains {
		s := bound.NewSearch(&b.Domains[d], e.Late)
		if s == nil {
			return Proof{}, false
		}
		l.parts = append(l.parts, s)
	}
	l.s.addDuals(l.fromGlobal(known), 1)
	l.s.search(1)
	l.improve()
	return l.certify()
}

func (l *lagrangian) late() bool { return l.effort.Late != nil && l.effort.Late() }

// improve adds class duals and optimizes the multipliers, in turn.
func (l *lagrangian) improve() {
	x, _ := l.bestDuals(l.evenNumbers())
	l.s.addDuals(x, newShare)
	for range mostRounds {
		l.s.search(mostSteps)
		if l.late() {
			break
		}
		aim, limit := l.bestDuals(l.recentNumbers())
		if limit < l.s.best.value*(1+closeEnough) {
			break
		}
		l.s.addDuals(aim, newShare)
	}
	l.s.search(mostSteps)
}

// evenNumbers returns the pods that rules concern, evenly divided among domains.
func (l *lagrangian) evenNumbers() [][]float64 {
	out := grid(len(l.parts), len(l.s.b.Domains[0].Classes))
	for i := range l.s.b.Pods {
		if f := &l.s.b.Pods[i]; f.Asks >= 0 || len(f.Counted) > 0 {
			for d := range out {
				out[d][f.Class] += float64(f.Count) / float64(len(out))
			}
		}
	}
	return out
}

// fromGlobal returns the duals that hold for all domains together, raised as far as the machines of each domain
// allow.
func (l *lagrangian) fromGlobal(known *bound.Assigned) *domainDuals {
	parts := make([]bound.Duals, len(l.parts))
	for d, s := range l.parts {
		parts[d] = s.Raised(known)
	}
	return l.domainDuals(parts)
}

// bestDuals returns the best class duals for numbers of pods, and their value. The domains are independent and
// are solved in parallel.
func (l *lagrangian) bestDuals(numbers [][]float64) (*domainDuals, float64) {
	parts := make([]bound.Duals, len(l.parts))
	var searches sync.WaitGroup
	for d, s := range l.parts {
		searches.Go(func() { parts[d] = s.Best(numbers[d], l.start, l.effort.Work) })
	}
	searches.Wait()
	value := 0.0
	for d := range parts {
		value += parts[d].Value
	}
	return l.domainDuals(parts), value
}

// domainDuals sets the dual of a class that no machine of a domain admits to the largest dual in any domain, so
// that the relaxation has no reason to place it there.
func (l *lagrangian) domainDuals(parts []bound.Duals) *domainDuals {
	out := &domainDuals{parts: parts}
	for d := range parts {
		out.classDuals = append(out.classDuals, slices.Clone(parts[d].ByClass))
	}
	for c := range out.classDuals[0] {
		most := 0.0
		for d, s := range l.parts {
			if s.Takes(c) {
				most = max(most, out.classDuals[d][c])
			}
		}
		for d, s := range l.parts {
			if !s.Takes(c) {
				out.classDuals[d][c] = most
			}
		}
	}
	return out
}

// recentNumbers returns the numbers of pods in a moving average of the recent steps.
func (l *lagrangian) recentNumbers() [][]float64 {
	out := grid(len(l.parts), len(l.s.b.Domains[0].Classes))
	for f := range l.s.b.Pods {
		sum := 0.0
		for d := range l.s.taken {
			sum += l.s.taken[d][f]
		}
		for d := range l.s.taken {
			share := 1 / float64(len(l.s.taken))
			if sum > 0 {
				share = l.s.taken[d][f] / sum
			}
			out[d][l.s.b.Pods[f].Class] += share * float64(l.s.b.Pods[f].Count)
		}
	}
	return out
}

// certify makes class duals feasible in whole numbers, optimizes the multipliers for them, and proves the
// bound.
func (l *lagrangian) certify() (Proof, bool) {
	l.s.duals = l.s.best.copied()
	l.s.mixDuals()
	out, surplus := Proof{}, new(big.Int)
	for d, s := range l.parts {
		part, over, ok := s.Prove(l.s.classDuals[d], l.mixtureParts(d))
		if !ok {
			return Proof{}, false
		}
		out.Parts = append(out.Parts, part)
		surplus.Add(surplus, over)
	}
	l.assignUnsellableDuals(out.Parts)
	settled := grid(len(l.parts), len(l.s.b.Domains[0].Classes))
	for d := range settled {
		for c, w := range out.Parts[d].Duals {
			settled[d][c] = fixed.Float64(w)
		}
	}
	best := l.optimized(settled)
	for f := range l.s.b.Pods {
		out.Duals = append(out.Duals, fixed.Of(best.podDuals[f]).Big())
	}
	for r := range l.s.b.Rules {
		var raised, taken []*big.Int
		for d := range l.s.b.Domains {
			raised, taken = append(raised, fixed.Of(best.raised[r][d]).Big()), append(taken, fixed.Of(best.lowered[r][d]).Big())
		}
		out.Raised, out.Taken = append(out.Raised, raised), append(out.Taken, taken)
	}
	out.normalize(l.s.b)
	out.prove(l.s.b, l.s.ruleGroups, surplus)
	return out, true
}

// assignUnsellableDuals is domainDuals in whole numbers.
func (l *lagrangian) assignUnsellableDuals(parts []bound.Assigned) {
	for c := range l.s.b.Domains[0].Classes {
		most := new(big.Int)
		for d := range parts {
			if w := parts[d].Duals[c]; w.Cmp(most) > 0 {
				most = w
			}
		}
		for d, s := range l.parts {
			if !s.Takes(c) {
				parts[d].Duals[c] = most
			}
		}
	}
}

// mixtureParts returns the duals of a domain that have a weight in the convex combination.
func (l *lagrangian) mixtureParts(d int) (out []bound.Duals) {
	for k, share := range l.s.shares[d] {
		if share > 2*leastPart {
			out = append(out, l.s.known[k].parts[d])
		}
	}
	return out
}

// optimized returns the best multipliers for final class duals.
func (l *lagrangian) optimized(classDuals [][]float64) *duals {
	x := &domainDuals{classDuals: classDuals, parts: make([]bound.Duals, len(classDuals))}
	l.s.known = []*domainDuals{x}
	l.s.best.value = math.Inf(-1)
	for d := range l.s.best.shares {
		l.s.best.shares[d] = []float64{1}
	}
	l.s.search(mostSteps)
	return &l.s.best
}
