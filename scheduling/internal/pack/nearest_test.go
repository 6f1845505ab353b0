package pack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// What is known of bins after some have changed is what would be found anew.
func TestNearestRenewedIsFoundAnew(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 30))
		old := cluster(r, 65+r.IntN(200))
		request := []int64{1 + r.Int64N(50), 1 + r.Int64N(50)}
		takesIn := func(p *model.Problem) func(bin int) (takes, soft bool) {
			return func(bin int) (takes, soft bool) { return p.Bins[bin].Admits.Has(0), p.Bins[bin].Soft.Has(0) }
		}
		x := FindNearest(old, request, 1+r.Int64N(40), takesIn(old))

		// Some go, others come, here and there.
		now, number, fresh := *old, []int32(nil), []int(nil)
		now.Bins = nil
		other := cluster(r, 30)
		for _, bin := range old.Bins {
			for r.IntN(12) == 0 {
				fresh = append(fresh, len(now.Bins))
				now.Bins = append(now.Bins, other.Bins[r.IntN(30)])
			}
			if r.IntN(8) == 0 {
				number = append(number, -1)
				continue
			}
			number = append(number, int32(len(now.Bins)))
			now.Bins = append(now.Bins, bin)
		}
		y := x.Renewed(&now, number, fresh, takesIn(&now))
		if y == nil {
			require.False(t, slices.ContainsFunc(x.Bins(model.Unbounded), func(i int32) bool { return number[i] >= 0 }), "seed %d", seed)
			continue
		}
		n := int64(y.Len())
		if x.Knows(model.Unbounded) {
			n = model.Unbounded
		}
		require.True(t, y.Knows(n), "seed %d", seed)
		require.Equal(t, Fullest(&now, request, n, takesIn(&now)), y.Bins(n), "seed %d", seed)
	}
}
