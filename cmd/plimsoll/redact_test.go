package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan of a redacted dump is that of the dump, but for the names.
func TestRedactedDumpsPlanAlike(t *testing.T) {
	t.Parallel()
	red := run(t, "redact", "-f", "../../examples/consolidate")
	require.Equal(t, exitOK, red.code, red.stderr)
	require.NotContains(t, red.stdout, "ledger")
	want := moveset(t, run(t, waste("-o", "json")...).stdout)
	file := temp(t, "red.json", red.stdout)
	got := moveset(t, run(t, "consolidate", "-f", file, "--now", "2026-11-21T09:00:00Z", "--effort", "fast", "-o", "json").stdout)
	require.Equal(t, want.Summary.Frontier, got.Summary.Frontier)
	require.Len(t, got.Summary.Blocked, len(want.Summary.Blocked))
	require.Equal(t, want.Summary.ExpectedPerHourAfter, got.Summary.ExpectedPerHourAfter)
	require.Equal(t, want.Summary.LowerBoundPerHour, got.Summary.LowerBoundPerHour)
	require.Len(t, got.Steps, len(want.Steps))
	for i := range want.Steps {
		require.Equal(t, want.Steps[i].Reason, got.Steps[i].Reason)
		require.Equal(t, want.Steps[i].SavingPerHour, got.Steps[i].SavingPerHour)
	}
	again := run(t, "redact", "-f", file)
	require.Equal(t, exitOK, again.code)
	require.Equal(t, red.stdout, again.stdout, "redacting twice changes nothing")
}

func TestRedactLeavesOutWhatIsNotRead(t *testing.T) {
	dump := "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: cGFzcw==}\n---\n" + deployed("web", "")
	r := run(t, "redact", "--keep-names", "-f", temp(t, "dump.yaml", dump))
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, "left out: 1 Secret\n", r.stderr)
	require.NotContains(t, r.stdout, "password")
	require.Contains(t, r.stdout, `"name": "web"`)
	require.Equal(t, exitUsage, run(t, "redact").code)
	require.Equal(t, exitBadInput, runWith(t, strings.NewReader("{"), "redact", "-f", "-").code)
}
