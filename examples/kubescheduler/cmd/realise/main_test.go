package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 12
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
        resources: {requests: {cpu: 400m, memory: 900Mi}}
`

func realise(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, warnings bytes.Buffer
	err = run(t.Context(), args, strings.NewReader(deployment), &out, &warnings)
	return out.String(), err
}

func TestTable(t *testing.T) {
	out, err := realise(t, "-f", "-", "-orders", "1", "-effort", "fast", "-placement", "pinned", "-placement", "free")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 1+4+2, "a line for each way, those in which pods are nominated for pinned plans alone")
	assert.Contains(t, lines[1], "pinned")
	assert.Contains(t, lines[4], "at once, nominated in turn")
	assert.Contains(t, lines[6], "in 6 batches")
}

func TestJSON(t *testing.T) {
	out, err := realise(t, "-f", "-", "-orders", "2", "-batches", "1", "-json")
	require.NoError(t, err)
	var results []realised.Result
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	require.Len(t, results, 2)
	for i := range results {
		r := &results[i]
		assert.Equal(t, 12, r.Pods)
		assert.Equal(t, "free", r.Plan)
		assert.Equal(t, uint64(i), r.Order)
		assert.GreaterOrEqual(t, r.Realised, r.Planned)
		assert.GreaterOrEqual(t, r.Planned, r.Bound)
		assert.Zero(t, r.Waiting)
	}
}

// A plan of another planner is carried out beside our own, and nodes for the pods that it leaves out are bought.
func TestPlan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "theirs.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"launches": [{"name": "one", "nodePool": "default", "pods": ["default/web-0"],
		"options": [{"instanceType": "m5.large", "zone": "us-east-1a", "capacityType": "on-demand"}]}]}`), 0o600))
	out, err := realise(t, "-f", "-", "-plan", file, "-orders", "1", "-batches", "1", "-json")
	require.NoError(t, err)
	var results []realised.Result
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	require.Len(t, results, 2)
	ours, theirs := results[0], results[1]
	assert.Equal(t, []string{"free", "theirs"}, []string{ours.Plan, theirs.Plan})
	assert.Equal(t, ours.Bound, theirs.Bound)
	assert.Equal(t, 1, theirs.Pods)
	assert.Equal(t, "0.096", theirs.Planned.String())
	assert.Greater(t, theirs.Realised, theirs.Planned)
	assert.Greater(t, theirs.Rounds, 1)
	assert.Zero(t, theirs.Waiting)
}

// A mix that was written down is the same problem.
func TestManifests(t *testing.T) {
	out, err := realise(t, "-mix", "site", "-manifests")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "site.json")
	require.NoError(t, os.WriteFile(file, []byte(out), 0o600))
	var prices [2][]string
	for i, args := range [][]string{{"-mix", "site"}, {"-f", file}} {
		out, err := realise(t, append(args, "-effort", "fast", "-orders", "2", "-json")...)
		require.NoError(t, err)
		var results []realised.Result
		require.NoError(t, json.Unmarshal([]byte(out), &results))
		for k := range results {
			prices[i] = append(prices[i], results[k].Planned.String()+" "+results[k].Realised.String())
		}
	}
	assert.Equal(t, prices[0], prices[1])
}

// Steps are carried out on anybody's cluster.
func TestConsolidate(t *testing.T) {
	args := []string{"-consolidate", "-f", "../../../consolidate", "-placement", "free", "-placement", "pinned", "-effort", "fast", "-orders", "2"}
	out, err := realise(t, args...)
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 1+2)
	out, err = realise(t, append(args, "-json")...)
	require.NoError(t, err)
	var results []realised.StepsResult
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	require.Len(t, results, 4)
	for i := range results {
		r := &results[i]
		assert.Equal(t, []string{"free", "free", "pinned", "pinned"}[i], r.Plan)
		assert.Less(t, r.Planned, r.Before)
		assert.GreaterOrEqual(t, r.Realised, r.Planned)
		assert.Positive(t, r.Moved)
		assert.Zero(t, r.Waiting)
	}
}

func TestBadFlags(t *testing.T) {
	for text, args := range map[string][]string{
		`-orders 0: want a number from 1`:             {"-orders", "0"},
		`effort "hard": want fast, default, thorough`: {"-effort", "hard"},
		`want one of services`:                        {"-mix", "nothing"},
		`want pinned, free or nominated`:              {"-placement", "anywhere"},
		`-catalog "gcp/x": want ec2/REGION`:           {"-f", "-", "-catalog", "gcp/x"},
		`-catalog "kwok:none": open none`:             {"-catalog", "kwok:none"},
		`-manifests: want one -mix`:                   {"-manifests"},
		`-plan: want -f, or one -mix`:                 {"-plan", "none.json"},
		`open none.json`:                              {"-f", "-", "-plan", "none.json", "-orders", "1", "-batches", "1"},
		`-f and -mix: want one of them`:               {"-f", "-", "-mix", "site"},
		`-mix site: want one of plain, budgets`:       {"-consolidate", "-mix", "site"},
		`-consolidate: goes neither with`:             {"-consolidate", "-manifests"},
		`argument "x": want flags only`:               {"x"},
	} {
		_, err := realise(t, args...)
		require.ErrorContains(t, err, text)
	}
}
