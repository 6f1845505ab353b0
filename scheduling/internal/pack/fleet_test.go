package pack

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A fleet that is asked for again is the same, and counts as the same work, whatever was
// asked in between.
func TestFleetsAreRemembered(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := shop(r, 1+r.IntN(3))
		s := newSearch(p, Params{})
		m := s.markets[0]
		groups := model.NewBits(p.Groups)
		type question struct {
			places []int
			asked  []int64
			slots  int64
			terms  terms
		}
		var questions []question
		for range 12 {
			q := question{places: m.all, asked: make([]int64, p.Dims), slots: r.Int64N(3), terms: terms{1 << 40, fleetSlack(r), 2_000}}
			if r.IntN(2) == 0 {
				q.places = m.byCost[:1+r.IntN(len(m.byCost))]
			}
			for d := range q.asked {
				q.asked[d] = 1 + r.Int64N(9)
			}
			questions = append(questions, q)
		}
		for range 40 {
			q := questions[r.IntN(len(questions))]
			fresh := newSearch(p, Params{})
			want := fresh.fleet(fresh.markets[0], sameIn(q.places, m, fresh.markets[0]), groups, q.asked, q.slots, q.terms)
			before := s.fill.work
			require.Equal(t, want, s.fleet(m, q.places, groups, q.asked, q.slots, q.terms), "seed %d", seed)
			require.Equal(t, fresh.fill.work, s.fill.work-before, "seed %d", seed)
		}
		assert.LessOrEqual(t, len(s.fleetsFound), len(questions))
	}
	assert.Nil(t, (&search{}).fleet(nil, nil, nil, nil, 0, terms{}), "nothing is for sale")
}

// sameIn are the places of another market that stand where some do.
func sameIn(places []int, m, other *market) []int {
	if &places[0] == &m.byCost[0] {
		return other.byCost[:len(places)]
	}
	return other.all
}
