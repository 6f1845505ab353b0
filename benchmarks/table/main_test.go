package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const output = `goos: linux
BenchmarkWorkloads/pods=1000/classes=300-2 	 5	 100299576 ns/op	 150000000 cpu-ns/op	 2.913 USD/h	 2.516 gap-%	 12.00 nodes	 9970 pods/s	 0 unplaced	 3.26 reads	 4.04 cpu-reads	10795368 B/op	 23440 allocs/op
BenchmarkRead/step=read-2 	 5	 2000000 ns/op
PASS
`

const table = `| benchmark | time | CPU | pods/s | nodes | USD/h | over the bound | memory | allocations | ÷ reading |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| Workloads: pods=1000, classes=300 | 100.3 ms | 150 ms | 9970 | 12 | 2.913 | 2.52 % | 10.8 MB | 23440 | 3.3 (CPU 4.0) |
| Read: step=read | 2 ms | – | 0 | – | – | – | – | – | – |
`

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(file, []byte("# Title\n\n"+begin+"\nold\n"+end+"\n\nAfter.\n"), 0o600))
	require.NoError(t, run([]string{file}, strings.NewReader(output)))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "# Title\n\n"+begin+"\n"+table+end+"\n\nAfter.\n", string(text))
}

// Benchmarks that consolidate have a table of their own.
func TestConsolidation(t *testing.T) {
	const line = "BenchmarkConsolidate/nodes=100/effort=fast-2 	 5	 250000000 ns/op	 400000000 cpu-ns/op	 30000000 first-ns	 2000 pods	 812 moved	 17 steps	 61 nodes	 40.5 USD/h-before	 21.25 USD/h	 1.5 gap-%	 64000000 peak-B	 128000000 B/op	 9 allocs/op\n"
	const want = `| benchmark | time | CPU | first step | pods | moved | steps | nodes after | USD/h before | after | over the bound | allocated | heap at most |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| Consolidate: nodes=100, effort=fast | 250 ms | 400 ms | 30 ms | 2000 | 812 | 17 | 61 | 40.500 | 21.250 | 1.50 % | 128.0 MB | 64 MB |
`
	assert.Equal(t, want, markdown(parse(line)))
	assert.Equal(t, table+"\n"+want, markdown(parse(output+line)))
	assert.Equal(t, table+"\n"+want, markdown(parse(line+output)))
}

func TestRunErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(file, []byte("# Title\n"), 0o600))
	require.EqualError(t, run(nil, strings.NewReader(output)), "want the name of one file")
	require.EqualError(t, run([]string{file}, strings.NewReader("PASS\n")), "the input has no benchmark")
	require.ErrorContains(t, run([]string{file}, strings.NewReader(output)), "lacks the line "+begin)
	require.ErrorIs(t, run([]string{file + ".not"}, strings.NewReader(output)), os.ErrNotExist)
	_, err := replace(begin+"\n", table)
	require.EqualError(t, err, "lacks the line "+end)
}
