package greedy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// A pod is worth the least that its largest share of a machine that may hold it costs.
func TestShareValues(t *testing.T) {
	worthless := 0
	for seed := range uint64(2000) {
		p := modeltest.Random(seed)
		values := NewFiller(p).ShareValues()
		for c, class := range p.Classes {
			want := 0.0
			for _, o := range p.Options {
				if !o.Admits.Has(int(class.Group)) || !model.Fits(o.Room, class.Request) || p.Joining(nil, nil, model.ClassID(c)) == 0 {
					continue
				}
				share := 0.0
				for d, q := range class.Request {
					if q > 0 {
						share = max(share, float64(q)/float64(o.Room[d]))
					}
				}
				if v := share * float64(max(o.Cost, 1)); want == 0 || v < want {
					want = v
				}
			}
			require.InDelta(t, want, values[c], 1e-9*(1+want), "seed %d: class %d", seed, c)
			if want == 0 {
				worthless++
			}
		}
	}
	assert.Greater(t, worthless, 100)
}
