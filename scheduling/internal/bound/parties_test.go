package bound

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Where parties of pods may use different machines, hardly any work tells what each of
// them costs: worths of resources alone would go by the cheapest machine of all.
func TestPartiesAreToldApart(t *testing.T) {
	users := func(classes ...int) model.Bits {
		b := model.NewBits(3)
		for _, c := range classes {
			b.Set(c)
		}
		return b
	}
	m := Market{
		Dims: 2,
		Classes: []Class{
			{Size: []int64{1, 1}, Count: 100},
			{Size: []int64{1, 2}, Count: 50},
			{Size: []int64{2, 1}, Count: 50},
		},
		Options: []Choice{
			{Cap: []int64{100, 100}, Price: 1000, Users: users(0)},
			{Cap: []int64{100, 200}, Price: 9000, Users: users(0, 1)},
			{Cap: []int64{200, 100}, Price: 7000, Users: users(0, 2)},
		},
	}
	alone := func(c int) int64 {
		one := m
		one.Classes = append([]Class(nil), m.Classes...)
		for i := range one.Classes {
			if i != c {
				one.Classes[i].Count = 0
			}
		}
		return Assignment(one, nil, 1_000_000, nil).Bound
	}
	assert.Equal(t, []int64{1000, 9000, 7000}, []int64{alone(0), alone(1), alone(2)})
	assert.Equal(t, int64(16000), Assignment(m, nil, 0, nil).Bound)
	// A node has room for a fifth of the second party.
	m.Supplies = []Supply{{Count: 1, Members: []Choice{{Cap: []int64{10, 20}, Users: users(1)}}}}
	assert.Equal(t, int64(14200), Assignment(m, nil, 0, nil).Bound)
}

// One party is none, and too many are not told apart.
func TestPartiesThatDoNotMatter(t *testing.T) {
	for _, parties := range []int{1, 2, mostParties, mostParties + 1} {
		m := Market{Dims: 1}
		for range parties {
			m.Classes = append(m.Classes, Class{Size: []int64{1}, Count: 10})
		}
		for c := range parties {
			own := model.NewBits(parties)
			own.Set(c)
			m.Options = append(m.Options, Choice{Cap: []int64{10}, Price: int64(100 + c), Users: own})
		}
		a := prepare(&m, nil)
		p := a.parties()
		assert.Equal(t, parties > 1 && parties <= mostParties, p != nil, "%d parties", parties)
		if p != nil {
			want := 0.0
			for c := range parties {
				want += float64(100+c) / a.price
			}
			assert.InDelta(t, want, p.value, 1e-9)
		}
	}
}
