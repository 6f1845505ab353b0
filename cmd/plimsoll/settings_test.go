package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plan is verified and explained with the settings that it was made with, and at its time, unless flags name others.
func TestSettingsOfPlans(t *testing.T) {
	const input, dump = "testdata/shop.yaml", "../../examples/consolidate"
	plan := temp(t, "plan.json", run(t, "plan", "-f", input, "--catalog", "testdata/market.json", "--node-overhead", "0.5/hour", "--filter", "cpu>=2", "--filter", "cpu<64", "-o", "json").stdout)
	r := run(t, "verify", "-f", input, "--plan", plan)
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.NotContains(t, r.stdout, "other settings")
	r = run(t, "explain", "pod/shop/web-0", "-f", input, "--plan", plan)
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(t, "verify", "-f", input, "--plan", plan, "--node-overhead", "0", "--filter", "cpu>=2")
	require.Equal(t, exitBadInput, r.code)
	assert.Contains(t, r.stderr, "error: verified with other settings than the plan's: --filter cpu>=2 (plan: cpu>=2 cpu<64), --node-overhead 0 (plan: 0.5/hour)\n")

	moves := temp(t, "moves.json", run(t, waste("-o", "json", "--steps", "1")...).stdout)
	r = run(t, "verify", "-f", dump, "--plan", moves)
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(t, "verify", "-f", dump, "--plan", moves, "--strategy", "lowest-price", "--steps", "3")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Contains(t, r.stdout, "\nVerified with other settings than the plan's: --steps 3 (plan: 1).\n")
}

// Settings that the command does not have are faults of the plan.
func TestSettingsThatAreNone(t *testing.T) {
	plan := run(t, "plan", "-f", "testdata/shop.yaml", "--catalog", "testdata/market.json", "-o", "yaml").stdout
	for _, settings := range []string{"output: [json]", "colour: [red]", "max-options: [few]", "max-options: 3"} {
		bad := regexp.MustCompile("settings:(\n  .*)*").ReplaceAllString(plan, "settings:\n  "+settings)
		r := run(t, "verify", "-f", "testdata/shop.yaml", "--plan", temp(t, "bad.yaml", bad))
		assert.Equal(t, exitBadInput, r.code)
		name, _, _ := strings.Cut(settings, ":")
		assert.Contains(t, r.stderr, "settings."+name+": ", settings)
	}
}
