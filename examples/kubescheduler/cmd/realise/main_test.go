package main

import (
	"bytes"
	"encoding/json"
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
		assert.Equal(t, "Free", r.PlannedFor)
		assert.Equal(t, uint64(i), r.Order)
		assert.GreaterOrEqual(t, r.Realised, r.Planned)
		assert.GreaterOrEqual(t, r.Planned, r.Bound)
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
		`-f and -mix: want one of them`:               {"-f", "-", "-mix", "site"},
		`argument "x": want flags only`:               {"x"},
	} {
		_, err := realise(t, args...)
		require.ErrorContains(t, err, text)
	}
}
