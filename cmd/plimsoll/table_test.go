package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// tablesOf returns the lines of the tables in an output, below their heads in capitals.
func tablesOf(text string) []string {
	head := regexp.MustCompile(`^ *[A-Z$][A-Z$/ :-]*$`)
	var out []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			inside = false
		case strings.Contains(line, "  ") && head.MatchString(line):
			inside = true
		}
		if inside {
			out = append(out, line)
		}
	}
	return out
}

// longNames is the example of consolidate with nodes named as EC2 does.
func longNames(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	files, err := filepath.Glob("../../examples/consolidate/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		b.WriteString(regexp.MustCompile(`\bip-10-0-\d+-\d+\b`).ReplaceAllString(string(text), "$0.eu-central-1.compute.internal") + "\n---\n")
	}
	return temp(t, "cluster.yaml", b.String())
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	cell := regexp.MustCompile(`\S+(?: \S+)*`)
	figure := regexp.MustCompile(`^[$+-]?\d[\d,.]*%?$`)
	for _, args := range [][]string{
		{"plan", "-f", "testdata/dump.json", "--catalog", "testdata/market.json"},
		{"plan", "-f", quickstart, "--effort", "fast"},
		{"plan", "-f", "../../examples/gke", "--effort", "fast", "--alternatives"},
		{"consolidate", "-f", longNames(t), "--effort", "fast", "--now", "2026-11-21T09:00:00Z", "--details"},
		{"catalog", "--filter", "family in (c6i g5 p4d)"},
		{"catalog", "--offerings", "--filter", "family in (g5 p4d)"},
	} {
		wide := run(t, append(args, "-o", "wide")...)
		require.Equal(t, exitOK, wide.code, wide.stderr)
		require.NotContains(t, wide.stdout, "…")
		require.NotContains(t, wide.stdout, "-o wide")
		for _, line := range tablesOf(wide.stdout) {
			require.NotRegexp(t, `\band \d+ more`, line)
		}
		figures := map[string]bool{}
		for _, line := range tablesOf(wide.stdout) {
			for _, c := range cell.FindAllString(line, -1) {
				figures[c] = true
			}
		}
		r := run(t, args...)
		lines := tablesOf(r.stdout)
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%s", line)
			for _, c := range cell.FindAllString(line, -1) {
				if figure.MatchString(c) {
					require.True(t, figures[c], "%s in %s", c, line)
				}
			}
		}
		rows := slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "(-o wide adds ") })
		require.GreaterOrEqual(t, len(rows), len(tablesOf(wide.stdout)), "no row is left out")
		if args[1] != "-f" || args[2] != "testdata/dump.json" {
			require.Contains(t, r.stdout, "(-o wide adds ")
		}
	}
}

// Programs and files read tables as a whole, e.g. each change that lifts a cause.
func TestWithoutATerminalNothingIsCut(t *testing.T) {
	for _, text := range []string{
		run(t, waste("--effort", "default")...).stdout, run(t, "consolidate", "-f", longNames(t), "--effort", "fast", "--now", "2026-11-21T09:00:00Z").stdout,
		run(t, "plan", "-f", services, "--effort", "fast").stdout,
	} {
		require.NotContains(t, text, "…")
		require.NotContains(t, text, "(-o wide adds ")
	}
}
