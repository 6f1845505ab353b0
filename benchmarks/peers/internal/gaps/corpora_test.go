package gaps

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

func corpusFindings() []*Finding {
	on := func(name string, others []peer.Result, ours ...peer.Result) *Finding {
		return &Finding{Instance: corpus.Instance{Corpus: name}, Ours: ours, Others: others}
	}
	return []*Finding{
		on("a", []peer.Result{result("x", 9, "3", "0", 0)}, result("plimsoll", 9, "2", "1.6", 0), result("plimsoll thorough", 9, "2", "2", 0)),
		on("a", []peer.Result{result("x", 8, "1", "0", 0)}, result("plimsoll", 9, "2.2", "2", 0)),
		on("b", []peer.Result{result("x", 8, "1", "0", 0), result("y", 9, "4", "0", 0)}, result("plimsoll", 9, "2", "2", 0)),
	}
}

// The median is over those instances on which a planner places everything, and the bound
// is the best one.
func TestCorpora(t *testing.T) {
	var b strings.Builder
	Corpora(&b, corpusFindings())
	assert.Equal(t, `| corpus | plimsoll | plimsoll thorough | x | y |
|---|--:|--:|--:|--:|
| a | 1.050 | 1.000 | 1.500 (on 1 of 2) | – |
| b | 1.000 | – | fewer pods | 2.000 |
`, b.String())
}

func TestPlot(t *testing.T) {
	d := Plot(corpusFindings())
	assert.Equal(t, []string{"a", "b"}, d.Categories)
	require.Len(t, d.Series, 4)
	assert.Len(t, d.Series[0].Points, 2)
	assert.InDelta(t, 1.05, d.Series[0].Points[0].X, 1e-9)
	assert.Len(t, d.Series[2].Points, 1, "nothing to draw where fewer pods are placed")
	files, err := d.Draw(t.TempDir())
	require.NoError(t, err)
	assert.Len(t, files, 2)
	_, err = Plot(nil).Draw(t.TempDir())
	assert.ErrorContains(t, err, "gap: nothing to draw")
}
