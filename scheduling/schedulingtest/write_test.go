package schedulingtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// A problem that is written as a scenario and read again is the same problem: the
// plan of both costs the same and places the same pods.
func TestScenarioReadsBack(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		p := Random(seed, Size{})
		if !expressible(p) {
			continue
		}
		want, err := scheduling.Solver{Effort: 5}.Solve(t.Context(), p)
		require.NoError(t, err)

		script, err := parseScript(Scenario(p))
		require.NoError(t, err, "seed %d", seed)
		s := newSession()
		for _, part := range script.parts {
			if b := part.block; b != nil && b.lines[0] != "solve" {
				out := s.run(t.Context(), b)
				require.NotContains(t, out, "error", "seed %d\n%s", seed, strings.Join(b.lines, "\n"))
			}
		}
		got, err := scheduling.Solver{Effort: 5}.Solve(t.Context(), s.problem)
		require.NoError(t, err, "seed %d\n%s", seed, Scenario(p))
		assert.Equal(t, want.Summary.PricePerHour, got.Summary.PricePerHour, "seed %d", seed)
		assert.Equal(t, want.Summary.Placed, got.Summary.Placed, "seed %d", seed)
		compared++
	}
	assert.Greater(t, compared, 60)
}

// expressible reports whether the language has words for everything in p.
func expressible(p scheduling.Problem) bool {
	if p.Unavailable != nil || len(p.NodePools) == 0 {
		return false
	}
	for t := range p.Catalog.All() {
		for _, o := range t.Offerings {
			if o.Labels != nil {
				return false
			}
		}
	}
	return true
}

func TestMinimise(t *testing.T) {
	p := Random(11, Size{})
	// What fails is any problem with a pod that asks for a certain amount of memory
	// and a type of at least two cores.
	asks := func(q scheduling.Problem) bool {
		for _, pod := range q.Pods {
			if pod.Name == p.Pods[0].Name && q.Catalog != nil && q.Catalog.Len() > 0 {
				return true
			}
		}
		return false
	}
	before := text(t, p)
	q := Minimise(p, asks)
	assert.Equal(t, before, text(t, p), "the problem itself stays")
	assert.Len(t, q.Pods, 1)
	assert.Equal(t, 1, q.Catalog.Len())
	assert.Empty(t, q.NodePools)
	assert.Empty(t, q.Nodes)
	assert.Empty(t, q.Running)
	assert.Empty(t, q.DaemonSets)
	for typ := range q.Catalog.All() {
		assert.Empty(t, typ.Offerings)
	}
	assert.Nil(t, q.Pods[0].Spec.Affinity)
	assert.True(t, asks(q))
}

func TestDropEach(t *testing.T) {
	list := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	tried := 0
	got := dropEach(list, func(l []int) bool {
		tried++
		sum := 0
		for _, x := range l {
			if x == 3 || x == 8 {
				sum += x
			}
		}
		return sum == 11
	})
	assert.Equal(t, []int{3, 8}, got)
	assert.Less(t, tried, 20)
	assert.Empty(t, dropEach([]int{1}, func([]int) bool { return true }))
	assert.Empty(t, dropEach(nil, func([]int) bool { return true }))
}
