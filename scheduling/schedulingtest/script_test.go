package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseScript(t *testing.T) {
	const text = `# A comment.

catalog
# about the type
m.large cpu=2
----
1 type, 0 offerings

# Between.
solve show=(options)
----
a
b
`
	s, err := parseScript(text)
	require.NoError(t, err)
	assert.Equal(t, text, s.String(), "a script is written as it was read")

	var blocks []*block
	for _, p := range s.parts {
		if p.block != nil {
			blocks = append(blocks, p.block)
		}
	}
	require.Len(t, blocks, 2)
	assert.Equal(t, 3, blocks[0].line)
	assert.Equal(t, []string{"catalog", "m.large cpu=2"}, blocks[0].lines)
	assert.Equal(t, "1 type, 0 offerings", blocks[0].want)
	assert.Equal(t, "a\nb", blocks[1].want)
}

func TestParseScriptErrors(t *testing.T) {
	for text, want := range map[string]string{
		"solve":                  "line 1: the command lacks its ----",
		"# x\n\nsolve\n\n----\n": "line 4: the command of line 3 lacks its ----",
	} {
		_, err := parseScript(text)
		assert.EqualError(t, err, want, "%q", text)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add("catalog\nm cpu=2\n----\n1 type\n\n# end\n")
	f.Add("solve\n----\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScript(text)
		if err != nil {
			return
		}
		again, err := parseScript(s.String())
		require.NoError(t, err)
		assert.Equal(t, s.String(), again.String())
	})
}
