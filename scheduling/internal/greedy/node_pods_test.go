package greedy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// The counters of a fill answer as the rule does that looks at all items.
func TestOccupantsCountAsJoiningDoes(t *testing.T) {
	for seed := range uint64(3000) {
		p := modeltest.Random(seed)
		r := rand.New(rand.NewPCG(seed, 7))
		k := newNodePods(p)
		var items []model.Item
		for range 6 {
			for c := range p.Classes {
				id := model.ClassID(c)
				require.Equal(t, p.Joining(items, nil, id), k.joining(id), "seed %d: class %d and %+v", seed, c, items)
			}
			c := model.ClassID(r.IntN(len(p.Classes)))
			if n := min(k.joining(c), 1+r.Int64N(2)); n > 0 {
				k.join(c, n)
				items = model.Add(items, c, n)
			}
		}
		k.leave(items)
		assert.Equal(t, newNodePods(p), k, "seed %d: nobody is left", seed)
	}
}
