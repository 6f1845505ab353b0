package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitWords(t *testing.T) {
	tests := map[string][]word{
		"":                   nil,
		"  web \t cpu=500m ": {{key: "web"}, {key: "cpu", value: "500m", hasValue: true}},
		"where=(zone in a, x > 4) y": {
			{key: "where", value: "zone in a, x > 4", hasValue: true}, {key: "y"},
		},
		"tolerate=k=v:NoSchedule":  {{key: "tolerate", value: "k=v:NoSchedule", hasValue: true}},
		"label=(a=1 b=2) init=()":  {{key: "label", value: "a=1 b=2", hasValue: true}, {key: "init", hasValue: true}},
		"spot@a=0.03x1#cr-1~5%!":   {{key: "spot@a", value: "0.03x1#cr-1~5%!", hasValue: true}},
		"tolerate=k>5:NoSchedule ": {{key: "tolerate", value: "k>5:NoSchedule", hasValue: true}},
	}
	for line, want := range tests {
		got, err := splitWords(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	_, err := splitWords("where=(zone in a")
	assert.EqualError(t, err, "where=(zone in a: the parenthesis is not closed")
}

func FuzzSplitWords(f *testing.F) {
	f.Add("3 x web cpu=1 where=(zone in a b)")
	f.Add("a=((b) c) )")
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitWords(line)
		if err != nil {
			return
		}
		for _, w := range words {
			assert.False(t, w.key == "" && !w.hasValue, "no word is empty")
		}
	})
}
