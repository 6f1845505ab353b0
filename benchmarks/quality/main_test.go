package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
)

// checkout is one with an instance in each set: items of 6, 6, 4 and 4 in bins of 10.
func checkout(t *testing.T) string {
	dir := t.TempDir()
	for _, sub := range []string{"data", "results_data"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	for _, set := range []string{"New", "Panigrahy", "Triplet"} {
		const text = "2\n10 10\n2\n6 4 2\n4 6 2\n"
		var file bytes.Buffer
		zipped := gzip.NewWriter(&file)
		archive := tar.NewWriter(zipped)
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: set + "/class1_4_2_0.vbp", Size: int64(len(text)), Mode: 0o644}))
		_, err := archive.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, archive.Close())
		require.NoError(t, zipped.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "data", set+"_instances.tar.gz"), file.Bytes(), 0o600))
		const results = "instance_name\tLB\tOPT\tbest_overall\nclass1_4_2_0\t2\t2\t3\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "results_data", set+"_summary_known.csv"), []byte(results), 0o600))
	}
	return dir
}

func TestVectorpack(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-effort", "fast", "vectorpack", checkout(t)}, &out, &out))
	for _, row := range []string{"| New class1 | 1 | 1 | 1 | 1 | 0 | 0 | 2 | 3 | 0.00 % |", "| Triplet class1 | 1 |", "| all | 3 | 3 | 3 | 3 | 0 | 0 | 6 | 9 | 0.00 % |"} {
		assert.Contains(t, out.String(), row)
	}
	assert.ErrorIs(t, run(t.Context(), []string{"vectorpack", t.TempDir()}, &out, &out), os.ErrNotExist)
}

func TestMixes(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-effort", "fast", "-count", "4", "mixes"}, &out, &out))
	for seed := range 4 {
		assert.Contains(t, out.String(), "\n| "+string(rune('1'+seed))+" | ")
	}
	assert.Equal(t, 1, strings.Count(out.String(), "| yes |"))
}

// Round sizes are bought in both regions, on demand and spot, and none has topology terms.
func TestRoundSizes(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-effort", "fast", "-count", "3", "rounds"}, &out, &out))
	for _, row := range []string{"us-east-1 on-demand", "eu-west-1 spot", "Without topology terms, from 0 pods on: 3 mixes"} {
		assert.Contains(t, out.String(), row)
	}
	assert.NotContains(t, out.String(), "With topology terms")
}

func TestClusters(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-effort", "fast", "-count", "1", "-nodes", "4", "clusters"}, &out, &out))
	assert.Contains(t, out.String(), "\n| 1 | Pinned | ")
	assert.Contains(t, out.String(), "\n| 1 | Free | ")
}

// The bill of a plan under commitments is at least its bound.
func TestCommitments(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-effort", "fast", "-count", "1", "commitments"}, &out, &out))
	assert.Contains(t, out.String(), "\n| azure/eastus on-demand 1 | ")
	assert.Contains(t, out.String(), "gap of the lower bill: median ")
	assert.NotContains(t, out.String(), "| -")
}

// More effort is never dearer, on one problem of each kind; -count 100 is the whole check.
func TestEfforts(t *testing.T) {
	if race.Enabled {
		t.Skip("the searches of one effort show as much")
	}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-count", "1", "-nodes", "4", "efforts"}, &out, &out))
	for _, row := range []string{"| mixes | 1 | ", "| rounds | 1 | ", "| clusters | 1 | "} {
		assert.Contains(t, out.String(), row)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"vectorpack"}, {"mixes", "x"}, {"-effort", "some", "mixes"}, {"-every", "0", "mixes"}, {"-nodes", "0", "clusters"}} {
		assert.Error(t, run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}), args)
	}
}
