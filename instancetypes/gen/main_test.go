package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

// The committed tables are those that the sources give. Texts are compared and not compressed bytes, which another Go
// release may write otherwise.
func TestCommittedDataIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 120 MB of sources, and downloads them if they are not in the module cache")
	}
	made := clouds()
	if os.Getenv("PLIMSOLL_CHECKOUTS") == "" {
		t.Log("PLIMSOLL_CHECKOUTS names no directory of clones: azure and gcp are not compared")
		made = made[:1]
	}
	out := t.TempDir()
	for _, pkg := range made {
		require.NoError(t, os.Mkdir(filepath.Join(out, pkg), 0o755))
	}
	var log bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-out", out, "-verbose", "-clouds", strings.Join(made, ",")}, &log))
	assert.Contains(t, log.String(), "left out: g7e.2xlarge: ")
	if len(made) > 1 {
		assert.Contains(t, log.String(), "left out: Standard_B1s: ")
		assert.Contains(t, log.String(), "of 25182 prices that github.com/cloudpilot-ai/karpenter-provider-gcp@417f047b1175 (pkg/providers/pricing/initial-prices.json) has, too, 0 differ by more than 1 %")
		for _, pkg := range made[1:] {
			want, err := os.ReadFile(filepath.Join(out, pkg, "crosscheck.md"))
			require.NoError(t, err)
			committed, err := os.ReadFile(filepath.Join("..", pkg, "crosscheck.md"))
			require.NoError(t, err)
			assert.Equal(t, string(want), string(committed), "run the command in instancetypes/gen")
		}
	}
	for _, pkg := range made {
		want, err := filepath.Glob(filepath.Join(out, pkg, "data", "*"))
		require.NoError(t, err)
		require.NotEmpty(t, want)
		committed, err := filepath.Glob(filepath.Join("..", pkg, "data", "*"))
		require.NoError(t, err)
		assert.Len(t, committed, len(want))
		for _, path := range want {
			assert.Equal(t, text(t, path), text(t, filepath.Join("..", pkg, "data", filepath.Base(path))),
				"%s/%s: run the command in instancetypes/gen", pkg, filepath.Base(path))
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err, path)
	b, err := io.ReadAll(z)
	require.NoError(t, err, path)
	return string(b)
}

func TestFilesAreWrittenAndStaleOnesRemoved(t *testing.T) {
	root := t.TempDir()
	data := filepath.Join(root, "ec2", "data")
	require.NoError(t, os.MkdirAll(data, 0o755))
	for _, name := range []string{"region-old.gz", "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(data, name), nil, 0o644))
	}
	f := files{"shapes": &facts.Shapes{}}
	n, err := f.write(root, "ec2")
	require.NoError(t, err)
	first, err := os.ReadFile(filepath.Join(data, "shapes.gz"))
	require.NoError(t, err)
	assert.Len(t, first, n)
	assert.NoFileExists(t, filepath.Join(data, "region-old.gz"))
	assert.FileExists(t, filepath.Join(data, "notes.txt"))

	_, err = f.write(root, "ec2")
	require.NoError(t, err)
	second, err := os.ReadFile(filepath.Join(data, "shapes.gz"))
	require.NoError(t, err)
	assert.Equal(t, first, second)

	_, err = f.write(root, "azure")
	require.ErrorContains(t, err, "no package azure in "+root)
	f["bad"] = &facts.Region{}
	_, err = f.write(root, "ec2")
	require.ErrorContains(t, err, "bad: region : the name is empty")
}

func TestArgumentsAreChecked(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), []string{"x"}, io.Discard), `unexpected argument "x"`)
	require.Error(t, run(t.Context(), []string{"-nonsense"}, io.Discard))
	require.ErrorContains(t, run(t.Context(), []string{"-clouds", "mars"}, io.Discard), `cloud "mars": want one of ec2, azure, gcp`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, run(ctx, nil, io.Discard))
}

// A reporter stops at the first failure and remembers it.
func TestReporterKeepsTheFirstError(t *testing.T) {
	r := reporter{w: failingWriter{}}
	r.printf("x")
	r.printf("y")
	require.ErrorIs(t, r.err, io.ErrClosedPipe)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
