package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/week"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Plimsoll never places fewer pods than another planner, and never pays more where both place the same pods.
func TestPlimsollIsNeverBeaten(t *testing.T) {
	for name, args := range map[string][]string{
		"every planner": {"-corpora", "karpenter-mix,thirty-sizes,microservices,big-memory,gpu,ci", "-buy", "on-demand", "-pods", "100", "-peers", "karpenter,plimsoll,first-fit all types,best-fit all types,autoscaler least-waste,autoscaler price"},
		"efforts":       {"-corpora", "thirty-sizes", "-buy", "on-demand", "-pods", "100"},
		"spot":          {"-corpora", "thirty-sizes,microservices,big-memory,gpu,ci", "-buy", "spot", "-pods", "100", "-peers", "karpenter,plimsoll,first-fit all types,best-fit all types,autoscaler price"},
		"mixed":         {"-corpora", "thirty-sizes,gpu", "-buy", "mixed", "-pods", "300", "-peers", "karpenter,plimsoll,best-fit all types"},
		"many pools":    {"-corpora", "many-pools", "-buy", "on-demand", "-pods", "50", "-peers", "karpenter,plimsoll,first-fit all types"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.NoError(t, run(t.Context(), append(args, "-strict"), &stdout, &stderr), stderr.String())
			assert.Empty(t, stderr.String(), "no planner is left out")
			assert.Contains(t, stdout.String(), "| karpenter |")
			assert.Contains(t, stdout.String(), "| plimsoll |")
		})
	}
}

// A planner is left out of problems that it cannot express, and the report says so.
func TestHeuristicsLeaveOutTopologyTerms(t *testing.T) {
	args := []string{"-corpora", "karpenter-topology", "-markets", "karpenter", "-buy", "on-demand", "-pods", "40", "-peers", "karpenter,plimsoll,first-fit all types", "-strict"}
	var stdout, stderr bytes.Buffer
	require.NoError(t, run(t.Context(), args, &stdout, &stderr), stderr.String())
	assert.Contains(t, stdout.String(), "| karpenter/karpenter-topology/on-demand/40 | karpenter | 40 |")
	assert.Contains(t, stdout.String(), "| plimsoll | 40 |")
	assert.Contains(t, stderr.String(), "left out: first-fit all types: load karpenter/karpenter-topology/on-demand/40: ")
	assert.NotContains(t, stdout.String(), "first-fit")
}

func TestRandom(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := strings.Fields("-random 8 -seed 100 -strict")
	file := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(file, []byte("<!-- begin: random -->\n<!-- end: random -->\n"), 0o600))
	require.NoError(t, run(t.Context(), append(args, "-readme", file), &stdout, &stderr))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| verdict on 8 problems | number |")
	assert.Contains(t, string(text), "| pods placed, of ")
	assert.Contains(t, stdout.String(), "| verdict on 8 problems | number |")
	assert.Contains(t, stdout.String(), "| of all problems | plimsoll | karpenter |")
	stdout.Reset()
	require.NoError(t, run(t.Context(), append(args, "-preferences"), &stdout, &stderr))
	assert.Contains(t, stdout.String(), "| more expensive | 0 |")
}

func TestKWOK(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"-corpora", "thirty-sizes", "-markets", "kwok", "-buy", "mixed", "-pods", "30", "-strict"}
	require.NoError(t, run(t.Context(), args, &stdout, &stderr), stderr.String())
	assert.Contains(t, stdout.String(), "| kwok/thirty-sizes/mixed/30 | karpenter | 30 |")
}

// Manifests take the place of corpora, and the decisions of planners are written as plans.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 900m, memory: 2Gi}}}]}
`), 0o600))
	var stdout, stderr bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-f", file, "-markets", "ec2", "-peers", "karpenter,plimsoll free", "-plans", dir}, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "| ec2/shop | karpenter | 5 |")
	for _, name := range []string{"karpenter", "plimsoll-free"} {
		text, err := os.Open(filepath.Join(dir, "ec2", "shop", name+".json"))
		require.NoError(t, err)
		plan, err := manifest.ReadPlan(text)
		require.NoError(t, err)
		assert.Equal(t, 5, plan.Summary.Placed)
		assert.Len(t, plan.Launches, plan.Summary.Nodes)
		assert.Equal(t, "default", plan.Launches[0].NodePool)
	}
}

// A run that is in the file of runs is not repeated.
func TestWeekGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	require.NoError(t, addRun(file, week.Result{Name: "Karpenter", Seed: 7, Length: 24 * time.Hour, Cost: 12, Bound: 8, Waits: []time.Duration{time.Minute}}))
	var stdout, stderr bytes.Buffer
	args := []string{"-week", "1", "-seed", "7", "-days", "1", "-autoscalers", "Karpenter", "-runs", file}
	require.NoError(t, run(t.Context(), args, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "| Karpenter | 12.00 | 50.0 % | 0 | 0 | 1 | 1.0 min | 1.0 min |")
	require.NoError(t, os.WriteFile(file, []byte("{}\nnone\n"), 0o600))
	require.ErrorContains(t, run(t.Context(), args, &stdout, &stderr), "runs.jsonl: line 2: ")
}

func TestFlags(t *testing.T) {
	for text, want := range map[string]string{
		"-corpora nope":       `-corpora: no "nope"; there are karpenter-mix, `,
		"-peers nope":         `-peers: no "nope"; there are karpenter, plimsoll fast, plimsoll, `,
		"-pods 0":             `-pods: "0" is no number of pods`,
		"-pods 1,x":           `-pods: "x" is no number of pods`,
		"-buy gold":           `-buy: no "gold"; there are on-demand, spot, mixed`,
		"-region mars":        "-region: ",
		"-report rumours":     `-report: no "rumours"; there are gaps, speed, growth, consolidation`,
		"-autoscalers none":   `-autoscalers: no "none"; there are Cluster Autoscaler with least-waste, `,
		"-nodes 40,none":      `-nodes: "none" is no number of nodes`,
		"-f main.go":          "-f: want one of -markets",
		"-unknown":            "flag provided but not defined",
		"surplus":             `unexpected argument "surplus"`,
		"-pods x -buy silver": `-buy: no "silver"`,
	} {
		var stdout, stderr bytes.Buffer
		assert.ErrorContains(t, run(t.Context(), strings.Fields(text), &stdout, &stderr), want, text)
		assert.Empty(t, stdout.String())
	}
	var stdout, stderr bytes.Buffer
	assert.ErrorIs(t, run(t.Context(), []string{"-help"}, &stdout, &stderr), flag.ErrHelp)
	assert.Contains(t, stderr.String(), "-corpora")
}
