package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// crowded draws a few classes with per-node limits and conflicts, and the pods that are on a machine already.
func crowded(r *rand.Rand) (*model.Problem, []model.Presence) {
	p := &model.Problem{Classes: make([]model.Class, 1+r.IntN(5)), PerNodeLimits: make([]model.PerNodeLimit, r.IntN(4))}
	for c := range p.Classes {
		if r.IntN(3) == 0 {
			p.Classes[c].PerNode = 1 + r.Int64N(3)
		}
		for other := range c {
			if r.IntN(6) == 0 {
				p.Classes[c].Conflicts = append(p.Classes[c].Conflicts, model.ClassID(other))
			}
		}
	}
	for c := range p.Classes { // conflicts are mutual
		for _, other := range p.Classes[c].Conflicts {
			if int(other) < c {
				p.Classes[other].Conflicts = append(p.Classes[other].Conflicts, model.ClassID(c))
			}
		}
	}
	var present []model.Presence
	for k := range p.PerNodeLimits {
		p.PerNodeLimits[k].Max = r.Int64N(6)
		for c := range p.Classes {
			if r.IntN(3) > 0 {
				m := model.Membership{Limit: int32(k), Weight: r.Int64N(4), Holds: r.IntN(2) == 0}
				p.Classes[c].PerNodeLimits = append(p.Classes[c].PerNodeLimits, m)
			}
		}
		if r.IntN(2) == 0 {
			present = append(present, model.Presence{Limit: int32(k), N: r.Int64N(4)})
		}
	}
	return p, present
}

// together is a naive reading of all that says who may share a machine.
func together(p *model.Problem, items []model.Item, present []model.Presence) bool {
	for _, a := range items {
		if per := p.Classes[a.Class].PerNode; per > 0 && a.N > per {
			return false
		}
		for _, b := range items {
			for _, other := range p.Classes[a.Class].Conflicts {
				if b.Class == other && a.N > 0 && b.N > 0 {
					return false
				}
			}
		}
	}
	return p.WithinPerNodeLimits(items, present)
}

// Filling a machine class by class with as many as may join gives machines on which
// the rules hold, and on which one more of the class would have broken them.
func TestJoiningIsExact(t *testing.T) {
	const most = 40
	refused, bounded, free := 0, 0, 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		p, present := crowded(r)
		var items []model.Item
		for _, c := range r.Perm(len(p.Classes)) {
			n := p.Joining(items, present, model.ClassID(c))
			require.GreaterOrEqual(t, n, int64(0))
			with := func(n int64) []model.Item {
				return append(items[:len(items):len(items)], model.Item{Class: model.ClassID(c), N: n})
			}
			switch {
			case n == 0:
				refused++
			case n < most:
				bounded++
				require.True(t, together(p, with(n), present), "seed %d: %d of class %d", seed, n, c)
			default:
				free++
				require.True(t, together(p, with(most), present), "seed %d: %d of class %d", seed, most, c)
			}
			if n < most {
				require.False(t, together(p, with(n+1), present), "seed %d: %d of class %d", seed, n+1, c)
			}
			if n > 0 && r.IntN(3) > 0 {
				items = with(1 + r.Int64N(min(n, 4)))
				left := p.Joining(items, present, model.ClassID(c))
				if n < most {
					assert.Equal(t, n-items[len(items)-1].N, left, "seed %d: once some of class %d are there", seed, c)
				}
			}
		}
	}
	assert.Greater(t, min(refused, bounded, free), 3000, "every kind of answer")
}

// Classes that may share a machine may also share it with fewer pods.
func TestFewerMayAlsoSitTogether(t *testing.T) {
	held := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 6))
		p, present := crowded(r)
		var items []model.Item
		for c := range p.Classes {
			items = append(items, model.Item{Class: model.ClassID(c), N: 1 + r.Int64N(3)})
		}
		if !p.WithinPerNodeLimits(items, present) {
			continue
		}
		held++
		at := r.IntN(len(items))
		if items[at].N--; items[at].N == 0 {
			items = append(items[:at], items[at+1:]...)
		}
		require.True(t, p.WithinPerNodeLimits(items, present), "seed %d", seed)
	}
	assert.Greater(t, held, 1000)
}

func TestCrowdsHold(t *testing.T) {
	const holder, counted, guard = 0, 1, 2
	p := &model.Problem{
		PerNodeLimits: []model.PerNodeLimit{{Max: 2}},
		Classes: []model.Class{
			holder:  {PerNodeLimits: []model.Membership{{Weight: 1, Holds: true}}},
			counted: {PerNodeLimits: []model.Membership{{Weight: 1}}},
			guard:   {PerNodeLimits: []model.Membership{{Holds: true}}},
		},
	}
	two := []model.Presence{{N: 2}}
	for _, tt := range []struct {
		name    string
		items   []model.Item
		present []model.Presence
		want    bool
	}{
		{"nobody", nil, two, true},
		{"as many as may be", []model.Item{{Class: holder, N: 2}}, nil, true},
		{"one too many", []model.Item{{Class: holder, N: 3}}, nil, false},
		{"nobody minds", []model.Item{{Class: counted, N: 9}}, two, true},
		{"one minds the others", []model.Item{{Class: counted, N: 2}, {Class: holder, N: 1}}, nil, false},
		{"one minds those who run there", []model.Item{{Class: holder, N: 1}}, two, false},
		{"one that does not count minds too", []model.Item{{Class: guard, N: 1}, {Class: counted, N: 3}}, nil, false},
		{"and may come any number of times", []model.Item{{Class: guard, N: 50}}, two, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, p.WithinPerNodeLimits(tt.items, tt.present))
		})
	}
}
