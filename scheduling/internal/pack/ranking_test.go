package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Machines stay in the order of what they hold for their price while some are
// exchanged for others, as if all had been sorted anew.
func TestRankingStaysInOrder(t *testing.T) {
	p := &model.Problem{
		Classes: []model.Class{{}, {}},
		Options: []model.Option{{Cost: 1}, {Cost: 2}, {Cost: 3}},
	}
	values := []float64{1, 2}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		draw := func(n int) []model.Node {
			var out []model.Node
			for range n {
				out = append(out, model.Node{Option: model.OptionID(r.IntN(3)), N: 1, Items: []model.Item{{Class: model.ClassID(r.IntN(2)), N: 1 + r.Int64N(4)}}})
			}
			return out
		}
		x := newRanking(p, draw(r.IntN(12)), values)
		want := slices.Clone(x.nodes)
		for range 10 {
			var out []int
			for at := range want {
				if r.IntN(4) == 0 {
					out = append(out, at)
				}
			}
			in := draw(r.IntN(4))
			x.exchange(out, slices.Clone(in))
			for _, at := range slices.Backward(out) {
				want = slices.Delete(want, at, at+1)
			}
			want = append(want, in...)
			slices.SortStableFunc(want, func(a, b model.Node) int { return cmp.Compare(x.rate(&a), x.rate(&b)) })
			require.Equal(t, want, slices.Clip(x.nodes), "seed %d", seed)
		}
	}
}
