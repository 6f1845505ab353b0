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
	mostRounds  = 5
	closeEnough = 1e-3
	newShare    = 0.1
)

// lagrangian is the search for a bound of a [Problem]. For any numbers of pods by class and
// domain the assignment bound gives worths; for any worths [subgradient] gives numbers by
// which the pods are worth least. It goes part of the way from the best worths to those for
// the numbers that these lead to.
type lagrangian struct {
	*subgradient
	parts  []*bound.Search
	start  []*big.Int
	effort bound.Effort
}

// domainDuals is what machines bear, by domain.
type domainDuals struct {
	parts []bound.Duals
	// worths are by class, in nano-USD. What no machine of a domain lets in is worth most there.
	worths [][]float64
}

// Solve searches for a bound, from values of resources. known is a bound for all domains
// taken together. ok is false where the problem is malformed, too much is tied together, or
// nothing is proven.
func Solve(b *Problem, start []*big.Int, known *bound.Assigned, e bound.Effort) (proof Proof, ok bool) {
	if !b.sound() || len(known.Duals) != len(b.Domains[0].Classes) || len(known.Vectors) == 0 {
		return Proof{}, false
	}
	ruleGroups := b.ruleGroups()
	if ruleGroups == nil {
		return Proof{}, false
	}
	l := &lagrangian{subgradient: newSubgradient(b, ruleGroups), start: start, effort: e}
	for d := range b.Domains {
		s := bound.NewSearch(&b.Domains[d], e.Late)
		if s == nil {
			return Proof{}, false
		}
		l.parts = append(l.parts, s)
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
	for range mostRounds {
		l.search(mostSteps)
		if l.late() {
			break
		}
		aim, limit := l.answer(l.recent())
		if limit < l.best.value*(1+closeEnough) {
			break
		}
		l.learn(aim, newShare)
	}
	l.search(mostSteps)
}

// ruled are the pods that rules concern, evenly dealt out.
func (l *lagrangian) ruled() [][]float64 {
	out := grid(len(l.parts), len(l.Domains[0].Classes))
	for i := range l.Pods {
		if f := &l.Pods[i]; f.Asks >= 0 || len(f.Counted) > 0 {
			for d := range out {
				out[d][f.Class] += float64(f.Count) / float64(len(out))
			}
		}
	}
	return out
}

// first is what holds for all domains together, raised as far as the machines of each bear
// that.
func (l *lagrangian) first(known *bound.Assigned) *domainDuals {
	parts := make([]bound.Duals, len(l.parts))
	for d, s := range l.parts {
		parts[d] = s.Raised(known)
	}
	return l.domainDuals(parts)
}

// answer is the worths that are best for some numbers, and what they come to. Domains have
// nothing to do with each other and are looked at side by side.
func (l *lagrangian) answer(numbers [][]float64) (*domainDuals, float64) {
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

// domainDuals makes what no machine of a domain lets in worth most there, so that it stays away.
func (l *lagrangian) domainDuals(parts []bound.Duals) *domainDuals {
	out := &domainDuals{parts: parts}
	for d := range parts {
		out.worths = append(out.worths, slices.Clone(parts[d].Worths))
	}
	for c := range out.worths[0] {
		most := 0.0
		for d, s := range l.parts {
			if s.Takes(c) {
				most = max(most, out.worths[d][c])
			}
		}
		for d, s := range l.parts {
			if !s.Takes(c) {
				out.worths[d][c] = most
			}
		}
	}
	return out
}

// recent are the numbers of pods that domains took of late.
func (l *lagrangian) recent() [][]float64 {
	out := grid(len(l.parts), len(l.Domains[0].Classes))
	for f := range l.Pods {
		sum := 0.0
		for d := range l.taken {
			sum += l.taken[d][f]
		}
		for d := range l.taken {
			share := 1 / float64(len(l.taken))
			if sum > 0 {
				share = l.taken[d][f] / sum
			}
			out[d][l.Pods[f].Class] += share * float64(l.Pods[f].Count)
		}
	}
	return out
}

// certify settles worths in every domain, goes on from the duals, and proves it all in whole
// numbers.
func (l *lagrangian) certify() (Proof, bool) {
	l.duals = l.best.copied()
	l.mix()
	out, surplus := Proof{}, new(big.Int)
	for d, s := range l.parts {
		part, over, ok := s.Prove(l.worths[d], l.mixed(d))
		if !ok {
			return Proof{}, false
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
	for f := range l.Pods {
		out.Duals = append(out.Duals, fixed.Of(best.pays[f]).Big())
	}
	for r := range l.Rules {
		var raised, taken []*big.Int
		for d := range l.Domains {
			raised, taken = append(raised, fixed.Of(best.raised[r][d]).Big()), append(taken, fixed.Of(best.stake[r][d]).Big())
		}
		out.Raised, out.Taken = append(out.Raised, raised), append(out.Taken, taken)
	}
	out.normalize(l.Problem)
	out.prove(l.Problem, l.ruleGroups, surplus)
	return out, true
}

// evadeWhole makes what no machine of a domain lets in worth most there, in whole numbers.
func (l *lagrangian) evadeWhole(parts []bound.Assigned) {
	for c := range l.Domains[0].Classes {
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

// mixed are the duals of a domain that are part of the mixture.
func (l *lagrangian) mixed(d int) (out []bound.Duals) {
	for k, share := range l.shares[d] {
		if share > 2*leastPart {
			out = append(out, l.known[k].parts[d])
		}
	}
	return out
}

// settled goes on from the best duals with worths that are settled.
func (l *lagrangian) settled(worths [][]float64) *duals {
	x := &domainDuals{worths: worths, parts: make([]bound.Duals, len(worths))}
	l.known = []*domainDuals{x}
	l.best.value = math.Inf(-1)
	for d := range l.best.shares {
		l.best.shares[d] = []float64{1}
	}
	l.search(mostSteps)
	return &l.best
}
