package topology

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
)

// shapes are the sizes at which properties are tested.
func shapes() []shape {
	return []shape{
		{pods: 6, classes: 4, places: 3, rules: 3, bins: 2, preferences: true},
		{pods: 30, classes: 6, places: 4, rules: 5, bins: 4, preferences: true},
		{pods: 200, classes: 30, places: 6, rules: 8, bins: 6, preferences: true},
	}
}

// eachRandom runs a test on random problems of all shapes.
func eachRandom(seed uint64, rounds int, test func(round int, p *Problem)) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, b := range shapes() {
		for round := range race.Fewer(rounds, rounds/3) {
			test(round, randomProblem(rng, b))
		}
	}
}

// TestPlanKeepsItsPromises checks that every pod is accounted for, within limits, and that
// all of them bind.
func TestPlanKeepsItsPromises(t *testing.T) {
	eachRandom(1, 1200, func(round int, p *Problem) {
		p.Proofs = 50 * (round % 2)
		got := Plan(p)
		require.Len(t, got.Counts, len(p.Classes))
		for c := range p.Classes {
			class := &p.Classes[c]
			require.Len(t, got.Counts[c], len(class.Sites))
			placed := int64(0)
			for s, n := range got.Counts[c] {
				require.GreaterOrEqual(t, n, int64(0))
				if limit := class.Sites[s].Limit; limit >= 0 {
					require.LessOrEqual(t, n, limit)
				}
				if !class.Sites[s].usable() {
					require.Zero(t, n)
				}
				placed += n
			}
			require.Equal(t, class.Count, placed+got.Unplaced[c], "round %d: class %d", round, c)
		}
		require.Equal(t, got.Counts, Replay(p, got.Counts, nil), "round %d", round)
		require.Equal(t, got.Counts, Replay(p, got.Counts, reachable(p)), "round %d", round)
	})
}

// TestPlanHasRoom checks that what goes to sites at which nothing can be bought fits on
// the machines that run. Only small problems can be checked in full.
func TestPlanHasRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 4000 {
		p := randomProblem(rng, shape{pods: 8, classes: 4, places: 3, rules: 2, bins: 4})
		require.True(t, roomy(p, Plan(p).Counts), "round %d", round)
	}
}

// TestPlanLeavesItsInputAlone checks that neither function changes the problem, and
// that both say the same when asked twice.
func TestPlanLeavesItsInputAlone(t *testing.T) {
	eachRandom(4, 150, func(round int, p *Problem) {
		before, err := json.Marshal(p)
		require.NoError(t, err)
		first := Plan(p)
		given := clone(first.Counts)
		bound := Replay(p, given, nil)
		after, err := json.Marshal(p)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "round %d", round)
		require.Equal(t, first.Counts, given, "round %d", round)
		require.Equal(t, first, Plan(p), "round %d", round)
		require.Equal(t, bound, Replay(p, given, nil), "round %d", round)
	})
}

// lostInOrder binds the pods of a plan one by one in a random order, and returns how
// many do not bind.
func lostInOrder(p *Problem, counts [][]int64, rng *rand.Rand) (lost int64) {
	single := &Problem{Dims: p.Dims, Rules: p.Rules}
	for c := range counts {
		for s, n := range counts[c] {
			for range n {
				class := p.Classes[c]
				class.Count, class.Priority = 1, 0
				class.Sites = class.Sites[s : s+1]
				single.Classes = append(single.Classes, class)
			}
		}
	}
	rng.Shuffle(len(single.Classes), func(i, j int) {
		single.Classes[i], single.Classes[j] = single.Classes[j], single.Classes[i]
	})
	given := make([][]int64, len(single.Classes))
	for i := range given {
		given[i] = []int64{1}
	}
	for _, row := range Replay(single, given, reachable(p)) {
		lost += 1 - row[0]
	}
	return lost
}

// TestCrowdBindsInAnyOrder is about the many classes of the benchmark, which hold one
// spread and are counted by another: given a anchor, they do not wait for each other.
func TestCrowdBindsInAnyOrder(t *testing.T) {
	p := crowd(6_000, 3_000, 3, 0)
	got := Plan(p)
	for c := range got.Unplaced {
		require.Zero(t, got.Unplaced[c], "class %d", c)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	for range 5 {
		assert.Zero(t, lostInOrder(p, got.Counts, rng))
	}
}

// TestMorePodsOfNobodyElse checks that a class without links changes nothing for the
// others, as long as they do not share machines.
func TestMorePodsOfNobodyElse(t *testing.T) {
	eachRandom(5, 300, func(round int, p *Problem) {
		p.Bins = nil
		for c := range p.Classes {
			for s := range p.Classes[c].Sites {
				p.Classes[c].Sites[s].Bins = nil
			}
		}
		before := Plan(p)
		p.Classes = append(p.Classes, class(7, 2).priority(9))
		after := Plan(p)
		last := len(p.Classes) - 1
		require.Equal(t, before.Counts, after.Counts[:last], "round %d", round)
		require.Equal(t, []int64{7, 0}, after.Counts[last])
	})
}

// FuzzPlan reads a problem from bytes, with links, domains and machines that may not
// exist, and checks that pods are accounted for and bind.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 3, 0, 1, 2, 1, 0, 3, 1, 1, 0, 1, 1, 1, 2, 0, 10, 0, 255, 1, 1, 12, 0, 255})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := problemFrom(data)
		got := Plan(p)
		for c := range p.Classes {
			placed := got.Unplaced[c]
			for s, n := range got.Counts[c] {
				placed += n
				assert.False(t, n < 0 || p.Classes[c].Sites[s].Limit >= 0 && n > p.Classes[c].Sites[s].Limit)
			}
			assert.Equal(t, max(0, p.Classes[c].Count), placed)
		}
		assert.Equal(t, got.Counts, Replay(p, got.Counts, nil))
	})
}

// problemFrom makes a problem of bytes; what is missing is 0.
func problemFrom(data []byte) *Problem {
	next := func() int64 {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int64(int8(b))
	}
	small := func(n int64) int64 { return (next()%n + n) % n }
	p := &Problem{Dims: 1, Priced: small(2) == 1, Bins: [][]int64{{small(9)}, {small(9)}}}
	for range small(5) {
		rule := Rule{Kind: Kind(small(3)), Max: next(), MinDomains: next(), Weight: max(0, next()-100)}
		for range small(4) {
			rule.Domains = append(rule.Domains, Domain{Count: small(4), Holders: small(2), Eligible: small(2) == 1})
		}
		p.Rules = append(p.Rules, rule)
	}
	for range small(6) {
		class := Class{Count: next(), Priority: int32(small(3)), Request: []int64{next()}}
		for r := range p.Rules {
			if small(2) == 1 {
				class.Links = append(class.Links, Link{Rule: int32(r), Holds: small(2) == 1, Counts: small(3)})
			}
		}
		if small(4) == 1 {
			class.Links = append(class.Links, Link{Rule: 99, Holds: true})
		}
		for range small(5) {
			s := Site{Cost: max(Nowhere, next()), Penalty: small(5), Limit: next()}
			for range small(5) {
				s.Domains = append(s.Domains, int32(small(6)-1))
				s.Counted = append(s.Counted, small(2) == 1)
			}
			if small(3) == 1 {
				s.Bins = []int32{int32(small(2))}
			}
			class.Sites = append(class.Sites, s)
		}
		p.Classes = append(p.Classes, class)
	}
	return p
}
