package search

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Progress is for terminals. /dev/null counts as one, and takes what is written.
func TestProgress(t *testing.T) {
	var text strings.Builder
	_, done := progress(&text, "planning")
	done()
	require.Empty(t, text.String())

	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	_, done = progress(file, "planning")
	done()
	written, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Empty(t, written, "a file is no terminal")

	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	observer, done := progress(terminal, "planning")
	observer(scheduling.Progress{Phase: scheduling.PhaseImprove, PricePerHour: offerings.MustPrice("0.2")})
	time.Sleep(1100 * time.Millisecond)
	done()
}

func TestProgressText(t *testing.T) {
	require.Equal(t, "planning: 2 s", progressText("planning", 2, nil))
	require.Equal(t, "planning: 3 s, search", progressText("planning", 3, &scheduling.Progress{Phase: scheduling.PhaseSearch}))
	require.Equal(t, "planning: 4 s, prove, 0.2 USD/h so far",
		progressText("planning", 4, &scheduling.Progress{Phase: scheduling.PhaseProve, PricePerHour: offerings.MustPrice("0.2")}))
}
