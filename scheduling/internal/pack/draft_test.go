package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model/modeltest"
)

// A draft is an answer, and a search that goes on from it ends where it would have ended
// without.
func TestRestEndsAsSearchDoes(t *testing.T) {
	t.Parallel()
	problems := []*model.Problem{
		mix(600, proportional(40, 3, 1), 3), thirtySizes(400), logNormal(600, 120),
		running(mix(600, proportional(40, 3, 1), 3), 200), scarce(mix(600, proportional(40, 3, 1), 3), 60),
	}
	for seed := range uint64(200) {
		problems = append(problems, modeltest.Random(seed))
	}
	drafts := 0
	for i, p := range problems {
		want := Search(p, Params{Work: 300_000})
		got := Search(p, Params{Work: 300_000, Draft: true})
		require.NoError(t, check(p, got.Solution), "problem %d", i)
		require.Nil(t, want.Rest)
		if got.Rest == nil {
			require.Equal(t, want, got, "problem %d", i)
			continue
		}
		drafts++
		assert.Equal(t, got.Milestones.Best, p.Cost(got.Solution.Nodes))
		before := Outcome{Solution: model.Solution{Nodes: cloneNodes(got.Solution.Nodes)}}
		require.Equal(t, want, got.Rest.Search(), "problem %d", i)
		require.Equal(t, before.Solution.Nodes, got.Solution.Nodes, "the draft stays as it was")
	}
	assert.Positive(t, drafts)
}
