package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What READMEs show of the command's output is what it prints. With -update they are
// written anew.
func TestReadmesShowWhatIsPrinted(t *testing.T) {
	quickstart := "../../examples/quickstart"
	for name, e := range map[string]excerpt{
		"plan":         {"../../README.md", "<!-- output of the first command;", []string{"plan", "-f", quickstart}, firstLines},
		"consolidate":  {"../../README.md", "<!-- output of this command;", waste("--effort", "default"), firstLines},
		"alternatives": {"README.md", "plan -f examples/quickstart --alternatives --effort fast", []string{"plan", "-f", quickstart, "--alternatives", "--effort", "fast"}, everything},
		"lint":         {"README.md", "lint -f examples/consolidate", []string{"lint", "-f", "../../examples/consolidate"}, everything},
		"whatif": {"README.md", "whatif -f examples/consolidate --effort fast", asksOf("--case", "spot: --allow karpenter.sh/capacity-type=spot",
			"--case", "large: --smallest-node cpu=8", "--case", "Stockholm: --catalog ec2/eu-north-1"), everything},
	} {
		t.Run(name, func(t *testing.T) {
			if !*update { // which writes files anew one by one
				t.Parallel()
			}
			file, err := os.ReadFile(e.file)
			require.NoError(t, err)
			before, rest, found := strings.Cut(string(file), e.after)
			require.True(t, found)
			between, rest, found := strings.Cut(rest, "```text\n")
			require.True(t, found)
			shown, rest, found := strings.Cut(rest, "```")
			require.True(t, found)
			r := run(t, e.args...)
			require.Contains(t, []int{exitOK, exitFound}, r.code, r.stderr)
			want := e.of(r.stdout, shown)
			if *update {
				text := before + e.after + between + "```text\n" + want + "```" + rest
				require.NoError(t, os.WriteFile(e.file, []byte(text), 0o644))
				return
			}
			require.Equal(t, want, shown, "run the tests with -update if this is meant to change")
		})
	}
}

// excerpt is output that a README shows, in its first block of text after some words.
type excerpt struct {
	file, after string
	args        []string
	// of takes from what was printed the part that is shown.
	of func(printed, shown string) string
}

// firstLines takes as many lines as are shown before the ellipsis.
func firstLines(printed, shown string) string {
	lines := strings.SplitAfter(printed, "\n")
	return strings.Join(lines[:strings.Count(shown, "\n")-1], "") + "…\n"
}

// everything takes all.
func everything(printed, _ string) string { return printed }
