package prove_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
)

// tinySpread is a spread, or an anti-affinity term, over three domains at most with so few pods that every order of binding
// can be tried.
type tinySpread struct {
	prove.DomainSpread
	held    int64 // pods of the rule that need not be placed
	strange int64 // pods that the rule counts and that do not have it, so that they may bind in any domain
}

func randomSpread(r *rand.Rand) tinySpread {
	domains := 1 + r.IntN(3)
	s := tinySpread{DomainSpread: prove.DomainSpread{Skew: 1 + r.Int64N(2), Apart: r.IntN(5) == 0, Placed: 1 + r.Int64N(5), Counts: make([]bool, domains)}}
	if r.IntN(3) == 0 {
		s.held = r.Int64N(3)
	}
	if r.IntN(3) == 0 {
		s.strange = r.Int64N(4)
	}
	s.Pending = s.Placed + s.held + s.strange
	for z := range domains {
		s.Running = append(s.Running, max(0, r.Int64N(6)-3))
		s.Counts[z] = r.IntN(5) > 0
	}
	return s
}

// spreadScene is a state while pods bind: pods of the rule, and all pods that it counts, by domain.
type spreadScene struct {
	own, all [3]int64
	strange  int64
}

// outcomes are the numbers of the rule's pods by domain in every plan that places at least Placed of them and up to held
// more. Only domains with Counts are in the minimum of a spread. With Apart a pod binds only in a domain without counted
// pods, and keeps further counted pods off.
func (s *tinySpread) outcomes() map[[3]int64]bool {
	found, seen := map[[3]int64]bool{}, map[spreadScene]bool{}
	var visit func(x spreadScene)
	visit = func(x spreadScene) {
		if seen[x] {
			return
		}
		seen[x] = true
		bound := x.own[0] + x.own[1] + x.own[2]
		if bound >= s.Placed {
			found[x.own] = true
		}
		low := int64(1 << 40)
		for z := range s.Running {
			if s.Counts[z] {
				low = min(low, x.all[z])
			}
		}
		for z := range s.Running {
			joins := low == 1<<40 || x.all[z]+1-low <= s.Skew
			if s.Apart {
				joins = x.all[z] == 0
			}
			if bound < s.Placed+s.held && joins {
				next := x
				next.own[z]++
				next.all[z]++
				visit(next)
			}
			if x.strange < s.strange && (!s.Apart || x.own[z] == 0) {
				next := x
				next.strange++
				next.all[z]++
				visit(next)
			}
		}
	}
	var first spreadScene
	copy(first.all[:], s.Running)
	visit(first)
	return found
}

// TestDomainSpreadBounds tries every order of binding: no plan has more or fewer pods of a rule in a domain than Bounds
// states, and where the rule counts no other pods, some plan has as many.
func TestDomainSpreadBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 4))
	exact, compared := 0, 0
	for round := range 4000 {
		s := randomSpread(r)
		least, most := s.Bounds()
		name := fmt.Sprintf("round %d: %+v: %v to %v", round, s, least, most)
		low, high := []int64{99, 99, 99}, make([]int64, 3)
		for own := range s.outcomes() {
			total := own[0] + own[1] + own[2]
			for z := range s.Running {
				// Any of the pods in a domain may be the ones that need not be placed.
				low[z] = min(low[z], max(0, own[z]-(total-s.Placed)))
				high[z] = max(high[z], min(own[z], s.Placed))
			}
		}
		for z := range s.Running {
			require.LessOrEqual(t, least[z], low[z], name)
			require.GreaterOrEqual(t, most[z], high[z], name)
		}
		if s.held > 0 || s.strange > 0 || low[0] == 99 {
			continue
		}
		compared++
		tight := true
		for z := range s.Running {
			tight = tight && low[z] == least[z] && high[z] == most[z]
		}
		if tight {
			exact++
		}
	}
	t.Logf("%d of %d are exact", exact, compared)
	assert.Greater(t, exact, compared*9/10)
}
