package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

func TestReadPlan(t *testing.T) {
	plan, err := manifest.ReadPlan(strings.NewReader("launches: []\nsummary: {pods: 3}\n"))
	require.NoError(t, err)
	assert.Equal(t, 3, plan.Summary.Pods)
	for in, want := range map[string]string{
		"":                               "is no plan",
		"[1":                             "neither JSON nor YAML",
		`{"launch":[]}`:                  "is no plan: launch: is not known (did you mean launches?)",
		`{"launches":[]} {}`:             "is no plan: there is more text after the end of the document",
		`{"launches":[]}`:                "",
		"launches: []\nextra: 1":         "is no plan: extra: is not known",
		`{"launches":5, "summary": [1]}`: "is no plan: launches: 5 is not a list\nsummary: [1] is not an object",
		`{"launches":[{"requests":{"cpu":"1e19988888889"}}]}`: "launches[0].requests.cpu",
	} {
		_, err := manifest.ReadPlan(strings.NewReader(in))
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, want, in)
	}
}

func TestReadAnyPlan(t *testing.T) {
	plan, moves, err := manifest.ReadAnyPlan(strings.NewReader("launches: []\nsummary: {pods: 3}"))
	require.NoError(t, err)
	require.Nil(t, moves)
	require.Equal(t, 3, plan.Summary.Pods)

	plan, moves, err = manifest.ReadAnyPlan(strings.NewReader(`{"steps": [{"reason": "empty", "drain": ["a"]}], "summary": {"podsMoved": 2}}`))
	require.NoError(t, err)
	require.Nil(t, plan)
	require.Equal(t, 2, moves.Summary.PodsMoved)
	require.Equal(t, []string{"a"}, moves.Steps[0].Drain)

	for _, text := range []string{"", "null", "[]", "launches: {", "steps: 3", "steps: []\nlaunches: []", `{"steps": []} {}`, "stairs: []"} {
		plan, moves, err = manifest.ReadAnyPlan(strings.NewReader(text))
		require.Error(t, err, text)
		require.Nil(t, plan)
		require.Nil(t, moves)
	}
}
