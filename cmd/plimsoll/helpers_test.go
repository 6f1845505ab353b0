package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what a run of the command left behind.
type result struct {
	code           int
	stdout, stderr string
}

// runs remembers what was planned for the example cluster, as that takes its time and is the
// same each time.
var runs sync.Map

// run runs the command with nothing on stdin.
func run(t *testing.T, args ...string) result {
	t.Helper()
	key := strings.Join(append(args, os.Getenv("COLUMNS")), " ")
	if known, ok := runs.Load(key); ok {
		return known.(result)
	}
	r := runWith(t, strings.NewReader(""), args...)
	if slices.Contains(args, "../../examples/consolidate") || slices.Contains(args, shop) {
		runs.Store(key, r)
	}
	return r
}

// runWith runs the command, and checks what holds for every run.
func runWith(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), args, stdin, &stdout, &stderr)
	r := result{code, stdout.String(), stderr.String()}
	switch code {
	case exitOK, exitUnschedulable, exitAbove, exitFound:
		require.NotContains(t, r.stderr, "error: ")
	case exitBadInput, exitUsage:
		if args[0] != "explain" { // which answers what it can
			require.Empty(t, r.stdout, "nothing is printed with an error")
		}
		require.True(t, strings.HasPrefix(r.stderr, "error: "), "stderr: %s", r.stderr)
	default:
		require.Fail(t, "unknown exit code", "%d", code)
	}
	return r
}

// golden compares output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run the tests with -update if this is meant to change")
}

// temp writes a file for one test.
func temp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// decodePlan reads a plan that was printed as JSON.
func decodePlan(t *testing.T, text string) *scheduling.Plan {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	plan := &scheduling.Plan{}
	require.NoError(t, dec.Decode(plan))
	return plan
}
