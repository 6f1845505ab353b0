package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/table"
)

func rows() []table.Row {
	var out []table.Row
	for _, name := range []string{"m/c/spot", "m/c/on-demand"} {
		for _, n := range []int{1000, 100} {
			for i, who := range []string{"karpenter", "plimsoll"} {
				out = append(out, table.Row{
					Result:    peer.Result{Instance: fmt.Sprintf("%s/%d", name, n), Peer: who, Pods: n, Elapsed: time.Duration(n*(i+1)) * time.Millisecond},
					OverBound: 1 + float64(i)/10,
				})
			}
		}
	}
	return append(out, table.Row{Result: peer.Result{Instance: "m/alone/spot/5", Peer: "plimsoll", Pods: 5, Elapsed: time.Second}})
}

func TestDraw(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	files, err := Draw(dir, rows())
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	assert.Equal(t, []string{
		"cost.svg", "cost.png", "time-m-c-spot.svg", "time-m-c-spot.png", "time-m-c-on-demand.svg", "time-m-c-on-demand.png",
	}, names, "a series needs two sizes")
	for _, f := range files {
		if strings.HasSuffix(f, ".png") {
			checkPNG(t, f)
			continue
		}
		text := svgText(t, f)
		assert.Contains(t, text, "karpenter")
		assert.Contains(t, text, "plimsoll")
		if strings.HasPrefix(filepath.Base(f), "cost") {
			assert.Contains(t, text, "m/c/spot/1000")
			assert.NotContains(t, text, "m/alone", "what has no bound is not drawn")
		}
	}
}

func checkPNG(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	picture, err := png.Decode(f)
	require.NoError(t, err)
	assert.Greater(t, picture.Bounds().Dx(), 300)
}

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

func TestDrawNothing(t *testing.T) {
	files, err := Draw(t.TempDir(), nil)
	require.NoError(t, err)
	assert.Len(t, files, 2)
}

func TestDrawFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Draw(filepath.Join(file, "below"), rows())
	assert.Error(t, err)

	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "cost.svg"), 0o700))
	_, err = Draw(dir, rows())
	assert.ErrorContains(t, err, "cost.svg")
}

func TestSeries(t *testing.T) {
	assert.Equal(t, "a/b", series(table.Row{Result: peer.Result{Instance: "a/b/7"}}))
	assert.Equal(t, "a", series(table.Row{Result: peer.Result{Instance: "a"}}))
}

func TestColoursDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range 10 {
		seen[fmt.Sprint(colour(i))] = true
	}
	assert.Len(t, seen, 10)
	assert.Equal(t, colour(1), colour(11))
}
