package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestLeastSquares(t *testing.T) {
	for name, tt := range map[string]struct {
		products [][]float64
		sums     []float64
		want     []float64
	}{
		"nothing":              {nil, nil, []float64{}},
		"one":                  {[][]float64{{4}}, []float64{2}, []float64{0.5}},
		"what nobody asks for": {[][]float64{{4, 0}, {0, 0}}, []float64{2, 0}, []float64{0.5, 0}},
		"two":                  {[][]float64{{2, 1}, {1, 2}}, []float64{4, 5}, []float64{1, 2}},
		"none below nothing":   {[][]float64{{2, 1}, {1, 2}}, []float64{4, 0}, []float64{2, 0}},
	} {
		t.Run(name, func(t *testing.T) { assert.InDeltaSlice(t, tt.want, leastSquares(tt.products, tt.sums), 1e-9) })
	}
}

// Of nodes that cost the same for their room, those stay that have the most pods; a node that
// costs more for it goes, unless what it has is worth more than that.
func TestSurplus(t *testing.T) {
	node := func(name string) *corev1.Node { return machine(t, name, "m.xlarge", offerings.OnDemand) }
	c := world(t, pool(), []*corev1.Node{node("n1"), node("n2"), node("n3"), node("n4")},
		pod("a", "n1", "1"), pod("b", "n1", "500m"), pod("c", "n2", "500m"), pod("d", "n3", "500m"), pod("e", "n3", "500m"), pod("f", "n4", "500m"))
	f := newFrame(Planner{Now: noon()}, &c)
	s, err := newState(t.Context(), Planner{Now: noon()}, &c)
	require.NoError(t, err)
	anew, err := f.solveAnew(t.Context(), f.planner.Solver.Effort, f.loose)
	require.NoError(t, err)
	x := &search{frame: f, state: s, target: anew, settled: map[string]bool{}}
	gone := x.surplus(0.6)
	assert.Contains(t, gone, "n2")
	assert.Contains(t, gone, "n4")
	assert.NotContains(t, gone, "n1")
	assert.IsIncreasing(t, gone)
	assert.Equal(t, gone, x.surplus(0.6), "the same each time")
	x.settled["n2"] = true
	assert.NotContains(t, x.surplus(0.6), "n2", "what has to stay stays")
	x.target = &target{}
	assert.Len(t, x.surplus(0.6), 3, "where nothing is worth anything, nothing is kept")
}
