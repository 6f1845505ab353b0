package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/plimsoll-go/plimsoll/internal/soak" // collects less garbage
	"github.com/plimsoll-go/plimsoll/scheduling"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what a run of the command left behind.
type result struct {
	code           int
	stdout, stderr string
}

// runs remembers what was printed for files of the repository, which is the same each time.
var runs sync.Map

// run runs the command with nothing on stdin, and checks what holds for every run.
func run(t *testing.T, args ...string) result {
	t.Helper()
	execute := sync.OnceValue(func() result { return execute(t, strings.NewReader(""), args) })
	if key := strings.Join(append(args, os.Getenv("COLUMNS")), " "); !strings.Contains(key, os.TempDir()) {
		known, _ := runs.LoadOrStore(key, execute)
		execute = known.(func() result)
	}
	return checked(t, execute(), args)
}

// runWith is the same with something on stdin.
func runWith(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	return checked(t, execute(t, stdin, args), args)
}

func execute(t *testing.T, stdin io.Reader, args []string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), args, stdin, &stdout, &stderr)
	return result{code, withoutAges(stdout.String()), withoutAges(stderr.String())}
}

// withoutAges leaves out the warnings of old prices, because they depend on the day.
func withoutAges(text string) string {
	return regexp.MustCompile(`warning: .*: prices are old: .*\n|WARNING: prices are old: .*\n(?:  .*\n)+\n|\{\s*"object": "[^"]*",\s*"message": "prices are old: [^"]*"\s*\}(?:,\s*)?|\n\*\*Warning:\*\* prices are old: .*\n|\n  "oldPrices": ".*",`).ReplaceAllString(text, "")
}

func checked(t *testing.T, r result, args []string) result {
	t.Helper()
	switch r.code {
	case exitOK, exitUnschedulable, exitAbove, exitFound:
		require.NotContains(t, r.stderr, "error: ")
	case exitBadInput, exitUsage:
		if args[0] != "explain" { // which answers what it can
			require.Empty(t, r.stdout, "nothing is printed with an error")
		}
		require.True(t, strings.HasPrefix(r.stderr, "error: "), "stderr: %s", r.stderr)
	default:
		require.Fail(t, "unknown exit code", "%d", r.code)
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
