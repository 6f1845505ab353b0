package corpus

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSome(t *testing.T) {
	for i, m := range allMarkets(t)[:2] {
		n := m.Types()
		assert.Equal(t, i == 0, n == m.Catalog.Len(), "an ordinary pool of Karpenter's benchmark may buy everything")
		assert.Equal(t, n, m.Some(n+5).Len())
		for _, k := range []int{1, 10, 100} {
			assert.Equal(t, k, m.Some(k).Len())
		}
		names := m.general()
		some := m.Some(4).Names()
		for j, name := range some {
			assert.InDelta(t, (j+1)*n/4, slices.Index(names, name)+1, 1)
		}
	}
}
