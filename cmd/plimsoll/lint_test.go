package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
)

// findings are those that lint prints of a file, by code.
func findings(t *testing.T, file string, args ...string) (map[lint.Code][]lint.Finding, int) {
	t.Helper()
	r := run(t, append([]string{"lint", "-f", file, "-o", "json"}, args...)...)
	var list struct{ Findings []lint.Finding }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list), r.stderr)
	out := map[lint.Code][]lint.Finding{}
	for _, f := range list.Findings {
		require.NotEmpty(t, f.Object)
		require.NotEmpty(t, f.Message)
		require.NotEmpty(t, f.Advice)
		out[f.Code] = append(out[f.Code], f)
	}
	return out, r.code
}

// Each kind is found, and gone once the advice is followed.
func TestLintFindsAndForgets(t *testing.T) {
	text, err := os.ReadFile("testdata/lint.yaml")
	require.NoError(t, err)
	market := []string{"--catalog", "testdata/market.json"}
	found, code := findings(t, "testdata/lint.yaml", market...)
	require.Equal(t, exitFound, code)
	for _, code := range lint.Codes() {
		require.NotEmpty(t, found[code], code)
		skipped, _ := findings(t, "testdata/lint.yaml", append(market, "--skip", string(code))...)
		require.Empty(t, skipped[code])
		require.Len(t, skipped, len(found)-1)
	}
	size := found[lint.RequestSize][0]
	require.Equal(t, "1050m", size.Value)
	require.Contains(t, size.Advice, "if 1 will do")

	mended := strings.NewReplacer(
		"1050m", "990m", "maxUnavailable: 0", "maxUnavailable: 1", "minAvailable: 50%", "maxUnavailable: 1", "app: gone", "app: web",
		"s390x", "amd64", "spec: {template: {spec: {requirements: [{key: kubernetes.io/arch", "spec: {weight: 5, template: {spec: {requirements: [{key: kubernetes.io/arch",
		"{cpu: 10m}}}, {name: sidecar}", "{cpu: 10m, memory: 1Mi}}}, {name: sidecar, resources: {limits: {cpu: 1m, memory: 1Mi}}}",
	).Replace(string(text))
	left, code := findings(t, temp(t, "mended.yaml", mended), market...)
	delete(left, lint.SpotNarrow)   // of two types there are not fifteen
	delete(left, lint.NoDaemonSets) // there is still none
	require.Empty(t, left)
	require.Equal(t, exitFound, code)
}

// What could cost less is no failure.
func TestLintOfTheQuickstart(t *testing.T) {
	t.Parallel()
	r := run(t, "lint", "-f", shop)
	require.Equal(t, exitOK, r.code, r.stdout)
}
