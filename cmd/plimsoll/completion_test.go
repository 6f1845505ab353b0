package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompletion(t *testing.T) {
	for words, want := range map[string][]string{
		"":                              {"plan\t", "whatif\t", "lint\t", "completion\t"},
		"plan --str":                    {"--strategy\t"},
		"plan --strategy=":              {"lowest-price", "prioritized"},
		"consolidate --output ":         {"table", "wide", "json", "yaml"},
		"catalog --catalog ec2/eu-west": {"ec2/eu-west-1"},
		"catalog --compare ec2/eu-west-1 gcp/europe-west4": {"gcp/europe-west4"},
		"whatif --placement ":                              {"free", "nominated", "pinned"},
	} {
		at := strings.LastIndexByte(words, ' ') + 1
		args := append([]string{"__complete"}, strings.Fields(words[:at])...)
		var stdout, stderr strings.Builder
		require.Equal(t, exitOK, Run(t.Context(), append(args, words[at:]), nil, &stdout, &stderr))
		for _, w := range want {
			require.Contains(t, "\n"+stdout.String(), "\n"+w, words)
		}
	}
}

// The scripts are such that the shells read them; those that are not installed are left out.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := run(t, "completion", shell)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, "plimsoll")
		if path, err := exec.LookPath(shell); err == nil {
			text, err := exec.Command(path, "-n", temp(t, "completion", r.stdout)).CombinedOutput()
			require.NoError(t, err, "%s: %s", shell, text)
		}
	}
}
