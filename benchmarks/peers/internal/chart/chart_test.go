package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// svgText reads the file as XML and returns its text.
func svgText(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	var text strings.Builder
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		require.NoError(t, err)
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

func TestLines(t *testing.T) {
	l := Lines{Name: "growth", Title: "title", X: "pods", Y: "ms", Series: []Series{
		{Name: "plimsoll", Points: []Point{{100, 3}, {10, 1}, {1, 0}}},
		{Name: "nothing"},
		{Name: "karpenter", Points: []Point{{10, 5}}},
	}}
	file, err := l.Draw(filepath.Join(t.TempDir(), "new"))
	require.NoError(t, err)
	text := svgText(t, file)
	for _, want := range []string{"title", "pods", "ms", "plimsoll", "karpenter", "100"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "nothing")

	_, err = Lines{Name: "empty", Series: l.Series[1:2]}.Draw(t.TempDir())
	assert.ErrorContains(t, err, "empty: nothing to draw")
	single := Lines{Name: "dot", Series: []Series{{Name: "plimsoll", Points: []Point{{10, 5}}}}}
	_, err = single.Draw(t.TempDir())
	require.NoError(t, err, "one value has no length on a logarithmic axis")
}

func TestDots(t *testing.T) {
	d := Dots{Name: "gap", Title: "title", X: "price", From: 1, To: 1.5, Categories: []string{"top", "bottom"}, Series: []Series{
		{Name: "plimsoll", Points: []Point{{1.1, 0}, {9, 1}}}, {Name: "nothing"},
	}}
	file, err := d.Draw(t.TempDir())
	require.NoError(t, err)
	text := svgText(t, file)
	for _, want := range []string{"title", "price", "top", "bottom", "plimsoll"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "nothing")
	assert.NotContains(t, text, "9", "what is beyond the end stands at the end")
	_, err = Dots{Name: "gap"}.Draw(t.TempDir())
	assert.ErrorContains(t, err, "gap: nothing to draw")
}
