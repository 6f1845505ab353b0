package document

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb\n<!-- begin: y -->\n<!-- end: y -->\nc\n")
	for range 2 { // the same again changes nothing
		require.NoError(t, Put(file, "x", "\nnew\n"))
		require.NoError(t, Put(file, "y", "more"))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "a\n<!-- begin: x -->\n\nnew\n\n<!-- end: x -->\nb\n<!-- begin: y -->\n\nmore\n\n<!-- end: y -->\nc\n", string(text))
	}
	require.ErrorContains(t, Put(file, "z", ""), "lacks the line <!-- begin: z -->")
	write("<!-- end: x -->\n<!-- begin: x -->\n")
	require.ErrorContains(t, Put(file, "x", ""), "lacks the line <!-- end: x --> after its beginning")
	require.ErrorIs(t, Put(file+".not", "x", ""), os.ErrNotExist)
}
